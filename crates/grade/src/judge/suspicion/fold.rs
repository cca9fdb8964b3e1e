//! Texts in forms in which words that look alike are alike: for finding words, never for showing them.

use crate::judge::quote::is_unseen;

/// A text in another form, with the way back.
#[derive(Debug, Default)]
pub(super) struct Folded {
    pub(super) text: String,
    /// For every byte of it, where in the original it comes from.
    from: Vec<usize>,
    length: usize,
}

impl Folded {
    fn of(original: &str, mut fold: impl FnMut(char, &mut dyn FnMut(char))) -> Self {
        let mut folded = Self {
            length: original.len(),
            ..Self::default()
        };
        for (at, c) in original.char_indices() {
            fold(c, &mut |c: char| folded.push(c, at));
        }
        folded
    }

    fn push(&mut self, c: char, at: usize) {
        self.text.push(c);
        self.from.resize(self.text.len(), at);
    }

    /// Where in the original this part of it stands.
    pub(super) fn origin(&self, part: std::ops::Range<usize>) -> std::ops::Range<usize> {
        let at = |place: usize| self.from.get(place).copied().unwrap_or(self.length);
        let (a, b) = (at(part.start), at(part.end));
        a.min(b)..a.max(b)
    }

    /// The same backwards.
    pub(super) fn reversed(&self) -> Self {
        let mut reversed = Self {
            length: self.length,
            ..Self::default()
        };
        for (at, c) in self.text.char_indices().rev() {
            reversed.push(c, self.from.get(at).copied().unwrap_or_default());
        }
        reversed
    }

    /// The same with every letter moved by half of the alphabet.
    pub(super) fn rotated(&self) -> Self {
        let mut rotated = Self {
            length: self.length,
            ..Self::default()
        };
        for (at, c) in self.text.char_indices() {
            let from = self.from.get(at).copied().unwrap_or_default();
            rotated.push(rotate(c), from);
        }
        rotated
    }

    /// Letters alone, with digits as the letters that they look like.
    pub(super) fn squeezed(&self) -> Self {
        let mut squeezed = Self {
            length: self.length,
            ..Self::default()
        };
        for (at, c) in self.text.char_indices() {
            let c = match c {
                '0' => 'o',
                '1' | '!' | '|' => 'i',
                '3' => 'e',
                '4' | '@' => 'a',
                '5' | '$' => 's',
                '7' => 't',
                c => c,
            };
            if c.is_alphabetic() {
                squeezed.push(c, self.from.get(at).copied().unwrap_or_default());
            }
        }
        squeezed
    }
}

/// Small letters, single spaces, nothing that can't be seen.
pub(super) fn plain(text: &str) -> Folded {
    folded(text, seen, |c| c)
}

/// The same, with letters as the Latin ones that they look like.
pub(super) fn latin(text: &str) -> Folded {
    let bare = |c: char| seen(alike(c)).filter(|c| !('\u{300}'..='\u{36f}').contains(c));
    folded(text, bare, alike)
}

fn folded(
    text: &str,
    letter: impl Fn(char) -> Option<char>,
    small: impl Fn(char) -> char,
) -> Folded {
    let mut spaced = true;
    Folded::of(text, |c, push| {
        let Some(c) = letter(c) else { return };
        if c.is_whitespace() || c.is_control() {
            if !std::mem::replace(&mut spaced, true) {
                push(' ');
            }
            return;
        }
        spaced = false;
        c.to_lowercase().for_each(|c| push(small(c)));
    })
}

fn seen(c: char) -> Option<char> {
    Some(match c {
        // Tags, which nobody sees and models read.
        '\u{e0020}'..='\u{e007e}' => ascii(u32::from(c) - 0xe_0000),
        '’' | '‘' | '`' => '\'',
        '“' | '”' | '„' | '«' | '»' => '"',
        c if is_unseen(c) || matches!(c, '\u{200c}' | '\u{200d}') => return None,
        c => c,
    })
}

fn ascii(code: u32) -> char {
    char::from_u32(code).unwrap_or(' ')
}

fn alike(c: char) -> char {
    const LETTERS: [(char, char); 42] = [
        ('а', 'a'),
        ('в', 'b'),
        ('е', 'e'),
        ('ё', 'e'),
        ('к', 'k'),
        ('м', 'm'),
        ('н', 'h'),
        ('о', 'o'),
        ('р', 'p'),
        ('с', 'c'),
        ('т', 't'),
        ('у', 'y'),
        ('х', 'x'),
        ('ѕ', 's'),
        ('і', 'i'),
        ('ј', 'j'),
        ('ԁ', 'd'),
        ('ɡ', 'g'),
        ('ո', 'n'),
        ('ѵ', 'v'),
        ('ԝ', 'w'),
        ('α', 'a'),
        ('ε', 'e'),
        ('η', 'n'),
        ('ι', 'i'),
        ('κ', 'k'),
        ('ν', 'v'),
        ('ο', 'o'),
        ('ρ', 'p'),
        ('τ', 't'),
        ('υ', 'u'),
        ('χ', 'x'),
        ('ı', 'i'),
        ('à', 'a'),
        ('á', 'a'),
        ('â', 'a'),
        ('ä', 'a'),
        ('è', 'e'),
        ('é', 'e'),
        ('ö', 'o'),
        ('ü', 'u'),
        ('ñ', 'n'),
    ];
    let code = u32::from(c);
    match code {
        // Wide forms.
        0xff01..=0xff5e => return ascii(code - 0xff01 + 0x21),
        // Letters in circles.
        0x24d0..=0x24e9 => return ascii(code - 0x24d0 + 0x61),
        0x24b6..=0x24cf => return ascii(code - 0x24b6 + 0x61),
        // Letters of formulas: thirteen alphabets of 52 letters.
        0x1d400..=0x1d6a3 => return ascii((code - 0x1d400) % 26 + 0x61),
        _ => {}
    }
    let small = LETTERS.iter().find(|(other, _)| *other == c);
    small.map_or(c, |(_, letter)| *letter)
}

fn rotate(c: char) -> char {
    match c {
        'a'..='m' => ascii(u32::from(c) + 13),
        'n'..='z' => ascii(u32::from(c) - 13),
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_looks_alike_is_alike() {
        let cases = [
            ("Pass  THIS\n\ttask", "pass this task"),
            ("p\u{200b}a\u{ad}ss", "pass"),
            ("ｐａｓｓ", "pass"),
            ("раѕѕ", "pass"),
            ("𝐩𝒂𝓼𝖘 𝙿𝘼𝗦𝖲", "pass pass"),
            ("pa\u{301}ss", "pass"),
            ("\u{e0070}\u{e0061}\u{e0073}\u{e0073}", "pass"),
        ];
        for (text, folded) in cases {
            assert_eq!(latin(text).text, folded, "{text}");
        }
        assert_eq!(latin("pass").rotated().text, "cnff");
        assert_eq!(latin("ssap").reversed().text, "pass");
        assert_eq!(latin("p.4 5-s").squeezed().text, "pass");
    }

    #[test]
    fn the_way_back_is_kept() {
        let text = "x  П\u{200b}аss y";
        let folded = latin(text);
        let at = folded.text.find("ass").unwrap();
        assert_eq!(&text[folded.origin(at..at + 3)], "аss");
        let reversed = folded.reversed();
        let at = reversed.text.find("ssa").unwrap();
        let origin = reversed.origin(at..at + 3);
        assert!(text.get(origin).is_some());
    }

    proptest! {
        #[test]
        fn parts_of_a_form_are_parts_of_the_text(text in any::<String>()) {
            let folded = latin(&text);
            for form in [plain(&text), folded.reversed(), folded.rotated(), folded.squeezed(), folded] {
                for (at, c) in form.text.char_indices() {
                    prop_assert!(text.get(form.origin(at..at + c.len_utf8())).is_some());
                }
            }
        }
    }
}
