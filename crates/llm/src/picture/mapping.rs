//! Points of a picture as it was sent, and of the picture that it was made from.

/// Between the original and what was sent. Points are pixels, counted from 0; a point stands for the
/// middle of its pixel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mapping {
    /// Pixels of the original for one that was sent.
    pub scale_x: f64,
    pub scale_y: f64,
    original: (u32, u32),
    sent: (u32, u32),
}

impl Mapping {
    /// Width and height of both.
    pub fn between(original: (u32, u32), sent: (u32, u32)) -> Self {
        let scale = |from: u32, to: u32| f64::from(from.max(1)) / f64::from(to.max(1));
        Self {
            scale_x: scale(original.0, sent.0),
            scale_y: scale(original.1, sent.1),
            original,
            sent,
        }
    }

    pub const fn original(&self) -> (u32, u32) {
        self.original
    }

    pub const fn sent(&self) -> (u32, u32) {
        self.sent
    }

    /// Whether there is nothing to map.
    pub fn is_same(&self) -> bool {
        self.original == self.sent
    }

    /// From a point that a model gave, which may lie outside: the nearest one of the original.
    pub fn to_original(&self, x: f64, y: f64) -> (f64, f64) {
        (
            moved(x, self.scale_x, self.original.0),
            moved(y, self.scale_y, self.original.1),
        )
    }

    pub fn to_sent(&self, x: f64, y: f64) -> (f64, f64) {
        (
            moved(x, self.scale_x.recip(), self.sent.0),
            moved(y, self.scale_y.recip(), self.sent.1),
        )
    }
}

fn moved(at: f64, scale: f64, size: u32) -> f64 {
    let last = f64::from(size.saturating_sub(1));
    let at = (at + 0.5) * scale - 0.5;
    if at.is_nan() {
        0.0
    } else {
        at.clamp(0.0, last)
    }
}
