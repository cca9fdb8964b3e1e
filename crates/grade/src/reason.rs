//! Texts for reasons: bounded, and with nothing in them that could play tricks on a terminal or hide
//! a difference. What is shown here was often written by an agent.

/// Most bytes of a reason.
const REASON: usize = 2048;
/// Most bytes shown of one text inside of a reason.
const SHOWN: usize = 480;

/// Bytes as a quoted text: white space and control characters are visible, the middle of a long one
/// is left out.
pub(crate) fn shown(bytes: &[u8]) -> String {
    if bytes.len() <= SHOWN {
        return format!("{:?}", String::from_utf8_lossy(bytes));
    }
    let (head, tail) = (&bytes[..SHOWN * 3 / 4], &bytes[bytes.len() - SHOWN / 4..]);
    format!(
        "{:?}...{:?} ({} bytes)",
        String::from_utf8_lossy(head),
        String::from_utf8_lossy(tail),
        bytes.len()
    )
}

/// A reason as it is kept: no control characters but line ends, and bounded.
pub(crate) fn bounded(text: &str) -> String {
    let mut kept = String::with_capacity(text.len().min(REASON));
    for c in text.chars() {
        let c = match c {
            '\n' => c,
            _ if c.is_control() => char::REPLACEMENT_CHARACTER,
            _ => c,
        };
        if kept.len() + c.len_utf8() > REASON - '…'.len_utf8() {
            kept.push('…');
            break;
        }
        kept.push(c);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn differences_in_white_space_can_be_seen() {
        assert_eq!(shown(b"a \t\n"), r#""a \t\n""#);
        assert_eq!(shown(b"\x1b[2J"), r#""\u{1b}[2J""#);
    }

    proptest! {
        #[test]
        fn reasons_are_bounded_and_tame(text in "\\PC{0,1500}[\\x00-\\x7f]{0,1500}", bytes: Vec<u8>) {
            let reason = bounded(&text);
            prop_assert!(reason.len() <= REASON);
            prop_assert!(!reason.chars().any(|c| c.is_control() && c != '\n'));
            prop_assert!(!shown(&bytes).chars().any(char::is_control));
        }
    }
}
