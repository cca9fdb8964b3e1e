//! How large pictures may be, as the providers document it. What is larger they refuse, or scale down
//! themselves without telling: then points would be off.

use crate::spec::{Provider, Wire};
use crate::wire::Traits;

/// A mebibyte.
const MIB: u64 = 1024 * 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Pixels of the longer and of the shorter side.
    pub long: u32,
    pub short: u32,
    /// The side of a tile and how many there may be; tiles at the edges count as whole ones.
    pub tiles: Option<(u32, u64)>,
    /// Of the file, before it is written as text.
    pub bytes: u64,
    /// From how many pictures in one request on no side may be longer than this.
    pub crowd: Option<(usize, u32)>,
}

impl Limits {
    /// Anything that can be read.
    pub const NONE: Self = Self {
        long: u32::MAX,
        short: u32::MAX,
        tiles: None,
        bytes: u64::MAX,
        crowd: None,
    };

    pub fn of(provider: Provider, wire: Wire, model: &str) -> Self {
        let name = model.to_ascii_lowercase();
        match provider {
            Provider::Mock | Provider::Local => Self::NONE,
            _ if wire == Wire::Messages => anthropic(&name),
            _ if wire == Wire::Gemini => GEMINI,
            Provider::OpenAi => openai(&name),
            // Servers that hand requests on to the others.
            _ if name.contains("claude") => anthropic(&name),
            _ if name.contains("gemini") => GEMINI,
            _ => Self {
                bytes: 20 * MIB,
                ..Self::NONE
            },
        }
    }

    /// For a request with so many pictures.
    pub fn among(self, pictures: usize) -> Self {
        match self.crowd {
            Some((many, side)) if pictures >= many => Self {
                long: self.long.min(side),
                short: self.short.min(side),
                ..self
            },
            _ => self,
        }
    }

    /// The largest size within the limits with the same sides' ratio; never larger than it was.
    pub fn size(&self, width: u32, height: u32) -> (u32, u32) {
        let (width, height) = (width.max(1), height.max(1));
        let (long, short) = (width.max(height), width.min(height));
        let ratio = |most: u32, side: u32| f64::from(most) / f64::from(side);
        let tiles = self.tiles.map_or(1.0, |(side, most)| {
            // A little more than fits, since the edges are cut below.
            let pixels = f64::from(side).powi(2) * most as f64;
            (pixels / (f64::from(width) * f64::from(height))).sqrt()
        });
        let scale = 1f64
            .min(ratio(self.long, long))
            .min(ratio(self.short, short))
            .min(tiles);
        let mut length = ((f64::from(long) * scale).floor() as u32).max(1);
        loop {
            let size = scaled(width, height, length);
            if self.holds(size.0, size.1) || length <= 1 {
                return size;
            }
            length -= 1;
        }
    }

    pub fn holds(&self, width: u32, height: u32) -> bool {
        let tiles = self.tiles.is_none_or(|(side, most)| {
            u64::from(width.div_ceil(side)) * u64::from(height.div_ceil(side)) <= most
        });
        tiles && width.max(height) <= self.long && width.min(height) <= self.short
    }
}

/// With a longer side of `length`.
pub(super) fn scaled(width: u32, height: u32, length: u32) -> (u32, u32) {
    let long = width.max(height).max(1);
    if length >= long {
        return (width, height);
    }
    let side = |side: u32| {
        let exact = f64::from(side) * f64::from(length) / f64::from(long);
        (exact.round() as u32).clamp(1, length)
    };
    (side(width), side(height))
}

/// What is larger is scaled down, to 3072 pixels at most.
const GEMINI: Limits = Limits {
    long: 3072,
    short: 3072,
    tiles: None,
    bytes: 7 * MIB,
    crowd: None,
};

/// What is larger is scaled down: to 1568 pixels and as many tiles of 28 x 28 pixels (about 1.15
/// megapixels), from version 4.7 on to 2576 pixels and 4784 tiles. A picture may have 5 MB as text, and
/// a side of 2000 pixels where there are more than 20.
fn anthropic(model: &str) -> Limits {
    let (side, tiles) = if Traits::of(model).sees_sharply() {
        (2576, 4784)
    } else {
        (1568, 1568)
    };
    Limits {
        long: side,
        short: side,
        tiles: Some((28, tiles)),
        bytes: 5 * MIB / 4 * 3,
        crowd: Some((21, 2000)),
    }
}

/// Three ways, by model: tiles of 512 pixels after the shorter side was brought to 768; or patches of
/// 32 x 32 pixels, 1536 of them, and 2500 from gpt-5.4 on.
fn openai(model: &str) -> Limits {
    let patches = |most| Limits {
        long: 2048,
        short: 2048,
        tiles: Some((32, most)),
        bytes: 20 * MIB,
        crowd: None,
    };
    let newer = ["gpt-5.4", "gpt-5.5", "gpt-5.6", "gpt-6"];
    let small = [
        "gpt-4.1-mini",
        "gpt-4.1-nano",
        "gpt-5-mini",
        "gpt-5-nano",
        "o4-mini",
    ];
    let begins = |names: &[&str]| names.iter().any(|name| model.starts_with(name));
    if begins(&newer) {
        patches(2500)
    } else if begins(&small) {
        patches(1536)
    } else {
        Limits {
            long: 2048,
            short: 768,
            tiles: None,
            bytes: 20 * MIB,
            crowd: None,
        }
    }
}
