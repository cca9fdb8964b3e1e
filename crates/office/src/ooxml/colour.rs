//! Colours: written out, by number, or by their part in a theme, lighter or darker.

use crate::budget;
use crate::style::Paint;
use crate::xml::Element;

/// The colours by number, from 8 on. Those below are the first eight again.
const INDEXED: [u32; 56] = [
    0x000000, 0xffffff, 0xff0000, 0x00ff00, 0x0000ff, 0xffff00, 0xff00ff, 0x00ffff, 0x800000,
    0x008000, 0x000080, 0x808000, 0x800080, 0x008080, 0xc0c0c0, 0x808080, 0x9999ff, 0x993366,
    0xffffcc, 0xccffff, 0x660066, 0xff8080, 0x0066cc, 0xccccff, 0x000080, 0xff00ff, 0xffff00,
    0x00ffff, 0x800080, 0x800000, 0x008080, 0x0000ff, 0x00ccff, 0xccffff, 0xccffcc, 0xffff99,
    0x99ccff, 0xff99cc, 0xcc99ff, 0xffcc99, 0x3366ff, 0x33cccc, 0x99cc00, 0xffcc00, 0xff9900,
    0xff6600, 0x666699, 0x969696, 0x003366, 0x339966, 0x003300, 0x333300, 0x993300, 0x993366,
    0x333399, 0x333333,
];
/// The parts of a theme in the order of their numbers.
const PARTS: [&str; 12] = [
    "lt1", "dk1", "lt2", "dk2", "accent1", "accent2", "accent3", "accent4", "accent5", "accent6",
    "hlink", "folHlink",
];

#[derive(Debug, Default)]
pub(super) struct Theme {
    colours: [Option<[u8; 3]>; PARTS.len()],
    /// Of headings and of text.
    pub(super) major: Option<String>,
    pub(super) minor: Option<String>,
}

impl Theme {
    pub(super) fn read(part: Option<&Element>) -> Self {
        let mut theme = Self::default();
        let Some(elements) = part.and_then(|part| part.child("a:themeElements")) else {
            return theme;
        };
        for (part, colour) in PARTS.iter().zip(&mut theme.colours) {
            let name = format!("a:{part}");
            let element = elements.below(&["a:clrScheme", &name]);
            *colour = element
                .and_then(|element| element.elements().next())
                .and_then(|value| {
                    let hex = value.attribute("lastClr").or(value.attribute("val"))?;
                    match Paint::hex(hex)? {
                        Paint::Colour(colour) => Some(colour),
                        Paint::Auto => None,
                    }
                });
        }
        let font = |of| {
            let latin = elements.below(&["a:fontScheme", of, "a:latin"])?;
            latin.attribute("typeface").and_then(budget::name)
        };
        theme.major = font("a:majorFont");
        theme.minor = font("a:minorFont");
        theme
    }

    /// The colour that an element of a spreadsheet names.
    pub(super) fn paint(&self, element: &Element) -> Option<Paint> {
        let number = |key| {
            element
                .attribute(key)
                .and_then(|number| number.parse::<usize>().ok())
        };
        let colour = if let Some(hex) = element.attribute("rgb") {
            // With how opaque it is in front, which programs ignore.
            match Paint::hex(hex.get(hex.len().checked_sub(6)?..)?)? {
                Paint::Colour(colour) => colour,
                Paint::Auto => return Some(Paint::Auto),
            }
        } else if let Some(theme) = number("theme") {
            (*self.colours.get(theme)?)?
        } else if let Some(index) = number("indexed") {
            let index = if index < 8 { index } else { index - 8 };
            let Some(colour) = INDEXED.get(index) else {
                return Some(Paint::Auto);
            };
            let [_, red, green, blue] = colour.to_be_bytes();
            [red, green, blue]
        } else {
            return element.attribute("auto").map(|_| Paint::Auto);
        };
        let tint = element.attribute("tint").and_then(|tint| tint.parse().ok());
        Some(Paint::Colour(tinted(colour, tint.unwrap_or(0.0))))
    }
}

/// Lighter (up to 1) or darker (down to -1), with the same hue.
fn tinted(colour: [u8; 3], tint: f64) -> [u8; 3] {
    if tint == 0.0 || !tint.is_finite() {
        return colour;
    }
    let tint = tint.clamp(-1.0, 1.0);
    let [red, green, blue] = colour.map(|part| f64::from(part) / 255.0);
    let most = red.max(green).max(blue);
    let least = red.min(green).min(blue);
    let light = (most + least) / 2.0;
    let lit = if tint < 0.0 {
        light * (1.0 + tint)
    } else {
        light * (1.0 - tint) + tint
    };
    // What a colour has beyond grey grows and shrinks with how far its light is from the ends.
    let room = |light: f64| 1.0 - (2.0 * light - 1.0).abs();
    let scale = if room(light) > 0.0 {
        room(lit) / room(light)
    } else {
        0.0
    };
    [red, green, blue].map(|part| {
        (((part - light) * scale + lit) * 255.0)
            .round()
            .clamp(0.0, 255.0) as u8
    })
}

/// The colours by name that a text may be marked with.
pub(super) fn highlight(name: &str) -> Paint {
    Paint::Colour(match name {
        "black" => [0, 0, 0],
        "blue" => [0, 0, 255],
        "cyan" => [0, 255, 255],
        "green" => [0, 255, 0],
        "magenta" => [255, 0, 255],
        "red" => [255, 0, 0],
        "yellow" => [255, 255, 0],
        "white" => [255, 255, 255],
        "darkBlue" => [0, 0, 128],
        "darkCyan" => [0, 128, 128],
        "darkGreen" => [0, 128, 0],
        "darkMagenta" => [128, 0, 128],
        "darkRed" => [128, 0, 0],
        "darkYellow" => [128, 128, 0],
        "darkGray" => [128, 128, 128],
        "lightGray" => [192, 192, 192],
        _ => return Paint::Auto,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deadline::Deadline;
    use crate::xml;

    fn painted(attributes: &str) -> Option<Paint> {
        let theme = Theme {
            colours: [Some([0x44, 0x72, 0xc4]); PARTS.len()],
            ..Theme::default()
        };
        theme.paint(
            &xml::parse(
                format!("<color {attributes}/>").as_bytes(),
                Deadline::later(),
            )
            .unwrap(),
        )
    }

    #[test]
    fn each_way_to_name_a_colour() {
        for (attributes, expected) in [
            ("rgb='FFFF8000'", Some(Paint::Colour([255, 128, 0]))),
            ("rgb='FF8000'", Some(Paint::Colour([255, 128, 0]))),
            ("rgb='x'", None),
            ("rgb='ä123456'", Some(Paint::Colour([0x12, 0x34, 0x56]))),
            ("indexed='2'", Some(Paint::Colour([255, 0, 0]))),
            ("indexed='10'", Some(Paint::Colour([255, 0, 0]))),
            ("indexed='64'", Some(Paint::Auto)),
            ("theme='4'", Some(Paint::Colour([0x44, 0x72, 0xc4]))),
            ("theme='4' tint='1'", Some(Paint::Colour([255, 255, 255]))),
            ("theme='99'", None),
            ("auto='1'", Some(Paint::Auto)),
            ("", None),
        ] {
            assert_eq!(painted(attributes), expected, "{attributes}");
        }
    }

    #[test]
    fn lighter_colours_are_those_of_excel() {
        // What Excel shows for the first accent of its theme, 80 % and 40 % lighter, 25 % darker.
        let near = |tint: f64, shown: [u8; 3]| {
            let found = tinted([0x44, 0x72, 0xc4], tint);
            let apart = found.iter().zip(shown).map(|(a, b)| a.abs_diff(b)).max();
            assert!(apart <= Some(2), "{tint}: {found:?}");
        };
        near(0.799_98, [0xda, 0xe3, 0xf3]);
        near(0.399_97, [0x8f, 0xaa, 0xdc]);
        near(-0.249_97, [0x2f, 0x55, 0x97]);
    }
}
