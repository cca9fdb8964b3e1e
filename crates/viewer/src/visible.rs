//! Text of others as it is shown, on one line: what would hide or turn round something is made visible
//! instead of being left out, so that no name passes for another. The same as `plain` of `assets/dom.js`.

use std::fmt::Write as _;

pub(crate) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut broken = false;
    for c in text.chars() {
        let breaks = matches!(c, '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}');
        match c {
            _ if breaks && broken => {}
            _ if breaks => out.push(' '),
            '\u{7f}' => out.push('\u{2421}'),
            '\0'..='\u{1f}' => out.extend(char::from_u32(0x2400 + u32::from(c))),
            // A string takes anything.
            c if is_unseen(c) => write!(out, "<{:04X}>", u32::from(c)).unwrap_or_default(),
            c => out.push(c),
        }
        broken = breaks;
    }
    out
}

/// Control characters, and format characters that reorder or hide what is around them.
fn is_unseen(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_seen() {
        assert_eq!(plain("a\n\r\tb\u{2028}c d"), "a b c d");
        assert_eq!(plain("\0\u{1b}[2J\u{7f}\u{85}"), "␀␛[2J␡<0085>");
        assert_eq!(plain("x\u{202e}y\u{feff}\u{200b}"), "x<202E>y<FEFF><200B>");
        assert_eq!(plain("\u{e0041}"), "<E0041>");
        assert_eq!(plain("Grüße, 你好 🎉"), "Grüße, 你好 🎉");
        let once = plain("a\u{202e}\nb");
        assert_eq!(plain(&once), once);
    }
}
