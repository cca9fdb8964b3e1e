//! How text looks. A style says something about some properties and nothing about others, until it is
//! laid over the one that it builds on.

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    Left,
    Centre,
    Right,
    Justified,
}

/// A colour, or none of its own: letters are then black and what is behind them is white.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    Auto,
    Colour([u8; 3]),
}

impl Paint {
    /// `#rrggbb` or `rrggbb`.
    pub(crate) fn hex(text: &str) -> Option<Self> {
        let digits = text.strip_prefix('#').unwrap_or(text);
        let known = digits.len() == 6 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
        let number = u32::from_str_radix(digits, 16).ok().filter(|_| known)?;
        let [_, red, green, blue] = number.to_be_bytes();
        Some(Self::Colour([red, green, blue]))
    }
}

/// `None`: not said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Style {
    pub bold: Option<bool>,
    pub italic: Option<bool>,
    pub underline: Option<bool>,
    pub strike: Option<bool>,
    /// In points.
    pub size: Option<f64>,
    pub font: Option<String>,
    pub colour: Option<Paint>,
    pub background: Option<Paint>,
    pub align: Option<Align>,
}

impl Style {
    /// What this one says, and for the rest what `below` says.
    pub(crate) fn over(self, below: &Self) -> Self {
        Self {
            bold: self.bold.or(below.bold),
            italic: self.italic.or(below.italic),
            underline: self.underline.or(below.underline),
            strike: self.strike.or(below.strike),
            size: self.size.or(below.size),
            font: self.font.or_else(|| below.font.clone()),
            colour: self.colour.or(below.colour),
            background: self.background.or(below.background),
            align: self.align.or(below.align),
        }
    }
}

/// Letters that look the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub text: String,
    pub style: Style,
}

impl Run {
    /// Adds letters to what is there, as part of the last run where they look like it.
    pub(crate) fn push(runs: &mut Vec<Self>, text: &str, style: &Style) {
        match runs.last_mut() {
            _ if text.is_empty() => {}
            Some(last) if last.style == *style => last.text.push_str(text),
            _ => runs.push(Self {
                text: text.to_owned(),
                style: style.clone(),
            }),
        }
    }

    pub(crate) fn text_of(runs: &[Self]) -> String {
        runs.iter().map(|run| run.text.as_str()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours() {
        assert_eq!(Paint::hex("#fF8000"), Some(Paint::Colour([255, 128, 0])));
        for text in ["transparent", "#fff", "+12345", ""] {
            assert_eq!(Paint::hex(text), None, "{text}");
        }
    }

    #[test]
    fn runs_that_look_the_same_are_one() {
        let bold = Style {
            bold: Some(true),
            ..Style::default()
        };
        let mut runs = Vec::new();
        for (text, style) in [
            ("a", &bold),
            ("", &Style::default()),
            ("b", &bold),
            ("c", &Style::default()),
        ] {
            Run::push(&mut runs, text, style);
        }
        assert_eq!(runs.len(), 2);
        assert_eq!(Run::text_of(&runs), "abc");
    }
}
