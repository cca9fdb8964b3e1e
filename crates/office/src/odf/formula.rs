//! Formulas of OpenDocument, in the English spelling that spreadsheet programs show:
//! `of:=SUM([.A1:.A3];[$Two.B1])` is `=SUM(A1:A3,Two!B1)`.

pub(super) fn shown(written: &str) -> String {
    let formula = match written.split_once('=') {
        Some((prefix, rest)) if prefix.ends_with(':') || prefix.is_empty() => rest,
        _ => written,
    };
    let mut shown = String::from("=");
    let mut rest = formula;
    let mut arrays = 0_u32;
    while let Some(letter) = rest.chars().next() {
        let mut behind = &rest[letter.len_utf8()..];
        match letter {
            '"' | '\'' => {
                let end = behind.find(letter).map_or(behind.len(), |end| end + 1);
                shown.push(letter);
                shown.push_str(&behind[..end]);
                behind = &behind[end..];
            }
            '[' => {
                let (inside, after) = reference(behind);
                shown.push_str(&inside);
                behind = after;
            }
            '{' => {
                arrays += 1;
                shown.push(letter);
            }
            '}' => {
                arrays = arrays.saturating_sub(1);
                shown.push(letter);
            }
            ';' => shown.push(','),
            '|' if arrays > 0 => shown.push(';'),
            _ => shown.push(letter),
        }
        rest = behind;
    }
    shown
}

/// What stands in brackets, and what comes behind them.
fn reference(text: &str) -> (String, &str) {
    let mut shown = String::new();
    let mut sheet = String::new();
    let mut quoted = false;
    for (at, letter) in text.char_indices() {
        match letter {
            '\'' => {
                quoted = !quoted;
                sheet.push(letter);
            }
            _ if quoted => sheet.push(letter),
            '.' => {
                // The `$` before a sheet's name only says that it is fixed.
                let name = sheet.strip_prefix('$').unwrap_or(&sheet);
                if !name.is_empty() {
                    shown.push_str(name);
                    shown.push('!');
                }
                sheet.clear();
            }
            ':' => {
                shown.push_str(&sheet);
                shown.push(':');
                sheet.clear();
            }
            ']' => return (shown + &sheet, &text[at + 1..]),
            _ => sheet.push(letter),
        }
    }
    (shown + &sheet, "")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn formulas_are_shown_as_people_write_them() {
        for (written, expected) in [
            ("of:=SUM([.A1:.A3])", "=SUM(A1:A3)"),
            (
                "of:=IF([.$A$1]>1;\"a;b\";[$Sheet2.B1])",
                "=IF($A$1>1,\"a;b\",Sheet2!B1)",
            ),
            ("of:=[$'My Sheet'.$A$1:.B2]*2", "='My Sheet'!$A$1:B2*2"),
            ("of:=SUM({1;2|3;4})", "=SUM({1,2;3,4})"),
            ("oooc:=[.A1]+1", "=A1+1"),
            ("=A1+1", "=A1+1"),
            ("of:=[.A1]=[.B1]", "=A1=B1"),
            ("of:=[.#REF!]", "=#REF!"),
            ("of:=\"open", "=\"open"),
            ("of:=[.A", "=A"),
        ] {
            assert_eq!(shown(written), expected, "{written}");
        }
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "[\\[\\].:;|{}'\"$=aä1]{0,30}") {
            let _ = shown(&text);
        }
    }
}
