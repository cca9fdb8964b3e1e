//! What a plain scalar means where no type is asked for. Only what prints back exactly as it was
//! written becomes a number; `yes`, `on`, `0755`, `1.10` and `12:34` stay texts.

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Plain<'a> {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    Text(&'a str),
}

pub(crate) fn resolve(text: &str) -> Plain<'_> {
    match text {
        "" | "~" | "null" => return Plain::Null,
        "true" => return Plain::Bool(true),
        "false" => return Plain::Bool(false),
        _ => {}
    }
    if let Ok(number) = text.parse::<u64>()
        && number.to_string() == text
    {
        return Plain::Unsigned(number);
    }
    if let Ok(number) = text.parse::<i64>()
        && number.to_string() == text
    {
        return Plain::Signed(number);
    }
    if let Ok(number) = text.parse::<f64>()
        && number.is_finite()
        && format!("{number:?}") == text
    {
        return Plain::Float(number);
    }
    Plain::Text(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_prints_back_is_a_number() {
        assert_eq!(resolve("42"), Plain::Unsigned(42));
        assert_eq!(resolve("-7"), Plain::Signed(-7));
        assert_eq!(resolve("18446744073709551615"), Plain::Unsigned(u64::MAX));
        assert_eq!(resolve("0.5"), Plain::Float(0.5));
        assert_eq!(resolve("1.0"), Plain::Float(1.0));
        assert_eq!(resolve("true"), Plain::Bool(true));
        assert_eq!(resolve("~"), Plain::Null);
        for text in [
            "yes",
            "no",
            "on",
            "off",
            "True",
            "NULL",
            "0755",
            "0x1f",
            "+5",
            "-0",
            "1.10",
            "1e3",
            "12:34",
            "1_000",
            ".5",
            "inf",
            "NaN",
            ".inf",
            "2024-01-01",
            "99999999999999999999999",
        ] {
            assert_eq!(resolve(text), Plain::Text(text), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn nothing_is_lost(text in "[-+]?[0-9]{0,4}[.eE_:]?[0-9]{0,4}") {
            let back = match resolve(&text) {
                Plain::Null => return Ok(()),
                Plain::Bool(b) => b.to_string(),
                Plain::Unsigned(n) => n.to_string(),
                Plain::Signed(n) => n.to_string(),
                Plain::Float(n) => format!("{n:?}"),
                Plain::Text(t) => t.to_owned(),
            };
            proptest::prop_assert_eq!(back, text);
        }
    }
}
