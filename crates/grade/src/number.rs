//! Reading the one number that a text consists of. Locale-free and strict: no sums, no units, no
//! thousands separators, no `inf`, so that an answer can't be several answers at once.

/// The number, if the text (without surrounding white space) is exactly one.
pub(crate) fn parse(text: &str) -> Option<f64> {
    let text = text.trim();
    is_decimal(text.as_bytes())
        .then(|| text.parse().ok())?
        .filter(|number: &f64| number.is_finite())
}

/// Whether two numbers are at most `tolerance` apart. A tolerance is meant in decimals, so a few
/// units in the last binary place don't count against it.
pub(crate) fn close(found: f64, wanted: f64, tolerance: f64) -> bool {
    if tolerance == 0.0 {
        return found == wanted;
    }
    let rounding = 4.0 * f64::EPSILON * found.abs().max(wanted.abs());
    (found - wanted).abs() <= tolerance + rounding
}

/// `[+-] digits [. digits] [e [+-] digits]`, with digits on at least one side of the point.
fn is_decimal(text: &[u8]) -> bool {
    let text = sign(text);
    let (whole, rest) = digits(text);
    let (fraction, rest) = match rest.split_first() {
        Some((b'.', after)) => digits(after),
        _ => (0, rest),
    };
    if whole + fraction == 0 {
        return false;
    }
    match rest.split_first() {
        None => true,
        Some((b'e' | b'E', exponent)) => {
            let (count, rest) = digits(sign(exponent));
            count > 0 && rest.is_empty()
        }
        Some(_) => false,
    }
}

fn sign(text: &[u8]) -> &[u8] {
    text.strip_prefix(b"-")
        .or_else(|| text.strip_prefix(b"+"))
        .unwrap_or(text)
}

/// How many digits the text starts with, and what follows them.
fn digits(text: &[u8]) -> (usize, &[u8]) {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (count, &text[count..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_are_numbers() {
        for (text, number) in [
            ("53", 53.0),
            (" -1.5e3\n", -1500.0),
            ("+.5", 0.5),
            ("7.", 7.0),
            ("0", 0.0),
        ] {
            assert_eq!(parse(text), Some(number), "{text}");
        }
    }

    #[test]
    fn other_things_are_not() {
        for text in [
            "", "45 + 8", "53 or 54", "53, 54", "1,234", "1_000", "0x35", "inf", "NaN", "1e999",
            "53 items", "٥٣", "--5", "1e", ".", "5 3", "e5", "1.2.3",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_tolerance_is_meant_in_decimals() {
        assert!(close(53.1, 53.0, 0.1));
        assert!(!close(53.11, 53.0, 0.1));
        assert!(!close(53.000_000_1, 53.0, 0.0));
    }

    proptest! {
        #[test]
        fn what_is_printed_can_be_read(number in proptest::num::f64::NORMAL | proptest::num::f64::ZERO) {
            prop_assert_eq!(parse(&format!("{number}")), Some(number));
            prop_assert_eq!(parse(&format!("{number:e}")), Some(number));
        }

        #[test]
        fn two_numbers_are_never_one(a: u32, b: u32, between in "[ ,;:+*/|_-]|( or )") {
            let text = format!("{a}{between}{b}");
            prop_assert_eq!(parse(&text), None);
        }
    }
}
