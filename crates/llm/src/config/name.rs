//! Names of models on the command line: a section in any of its spellings, or a provider and a model.

/// What a name means before anybody looks whether it is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    /// `llm`: the base section.
    Base,
    /// `eval`, `llm.eval`, `[llm.eval]`.
    Section(String),
}

impl Name {
    pub(super) fn parse(text: &str) -> Self {
        let text = text.trim();
        let bare = text.strip_prefix('[').unwrap_or(text);
        let bare = bare.strip_suffix(']').unwrap_or(bare).trim();
        let name = match bare.strip_prefix("llm.") {
            Some(name) => name,
            None if bare == "llm" => return Self::Base,
            None => bare,
        };
        // `[llm."gpt-4.1"]` is how TOML writes a name with a dot.
        let quoted = |quote| name.strip_prefix(quote)?.strip_suffix(quote);
        let name = quoted('"').or_else(|| quoted('\'')).unwrap_or(name);
        Self::Section(name.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_spellings_of_a_section_are_one() {
        for text in [
            "eval",
            "llm.eval",
            "[llm.eval]",
            " [ llm.eval ] ",
            "llm.\"eval\"",
            "[eval]",
        ] {
            assert_eq!(
                Name::parse(text),
                Name::Section("eval".to_owned()),
                "{text}"
            );
        }
        for text in ["llm", "[llm]"] {
            assert_eq!(Name::parse(text), Name::Base, "{text}");
        }
        assert_eq!(Name::parse("llm.llm"), Name::Section("llm".to_owned()));
        assert_eq!(
            Name::parse("openai/o1"),
            Name::Section("openai/o1".to_owned())
        );
    }

    proptest::proptest! {
        #[test]
        fn every_name_of_a_section_comes_back(name in "[A-Za-z0-9_/:-][A-Za-z0-9_./:-]{0,20}") {
            proptest::prop_assume!(!name.starts_with("llm.") && name != "llm");
            for text in [name.clone(), format!("llm.{name}"), format!("[llm.{name}]"), format!("[llm.\"{name}\"]")] {
                proptest::prop_assert_eq!(Name::parse(&text), Name::Section(name.clone()), "{}", text);
            }
        }

        #[test]
        fn no_name_is_too_much(text in "\\PC*") {
            Name::parse(&text);
        }
    }
}
