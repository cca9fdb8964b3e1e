//! What the models of this API can do, by the version in their names. A Claude that is newer than this
//! list, or has no version, is taken for the newest; other names are models behind a server of the same
//! form and get nothing but the plain parts of it.

/// Major and minor number.
type Version = (u32, u32);

const NEWEST: Version = (u32::MAX, 0);
/// Of a model that is no Claude.
const PLAIN: Version = (4, 0);

/// The form in which a model is given a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Computer {
    /// `computer_20250124`, with its beta header.
    First,
    /// `computer_20251124`, with its beta header.
    Second,
    /// `computer_toolset_20260801`: no name, no size, no beta header.
    Toolset,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Traits {
    version: Version,
    opus: bool,
}

impl Traits {
    pub(crate) fn of(model: &str) -> Self {
        let name = model.to_ascii_lowercase();
        let version = match name.split_once("claude") {
            Some((_, rest)) => version(rest).unwrap_or(NEWEST),
            None => PLAIN,
        };
        Self {
            version,
            opus: name.contains("opus"),
        }
    }

    /// Whether it takes `temperature`, `top_p` and `top_k` at all.
    pub(crate) fn samples(self) -> bool {
        self.version < (4, 7)
    }

    /// Whether `temperature` and `top_p` may stand beside each other.
    pub(crate) fn samples_by_both(self) -> bool {
        self.version < (4, 1)
    }

    /// Whether it decides by itself how long to think, guided by an effort instead of a budget.
    pub(crate) fn thinks_adaptively(self) -> bool {
        self.version >= (4, 6)
    }

    /// Whether it thinks unless it is told not to.
    pub(crate) fn thinks_unasked(self) -> bool {
        self.version >= (5, 0)
    }

    /// Whether it takes `thinking: disabled`.
    pub(crate) fn can_stop_thinking(self) -> bool {
        self.version < (5, 1)
    }

    /// Whether an effort between `high` and `max` is known.
    pub(crate) fn knows_xhigh(self) -> bool {
        self.version >= (4, 7)
    }

    /// Whether it can be made to use a tool.
    pub(crate) fn can_be_forced(self) -> bool {
        self.version < (5, 1)
    }

    /// Whether it takes `output_config.format` and strict tools.
    pub(crate) fn obeys_schemas(self) -> bool {
        self.version >= (4, 5)
    }

    /// Whether a conversation may end with words that the model is to go on with.
    pub(crate) fn takes_prefill(self) -> bool {
        self.version < (4, 6)
    }

    /// Whether it sees pictures of up to 2576 pixels instead of 1568.
    pub(crate) fn sees_sharply(self) -> bool {
        self.version >= (4, 7)
    }

    pub(crate) fn computer(self) -> Computer {
        match self.version {
            version if version >= (4, 8) => Computer::Toolset,
            version if version >= (4, 6) => Computer::Second,
            (4, 5) if self.opus => Computer::Second,
            _ => Computer::First,
        }
    }

    /// `max_tokens` has to be said; this is said when nobody asks for a number.
    pub(crate) fn max_tokens(self) -> u64 {
        match self.version {
            version if version < (3, 5) => 4_096,
            version if version < (4, 6) => 8_192,
            // Thinking counts as well.
            _ => 16_384,
        }
    }
}

/// The first one or two small numbers of a name; large ones are dates.
fn version(rest: &str) -> Option<Version> {
    let words: Vec<&str> = rest.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let number = |word: &&str| word.parse::<u32>().ok().filter(|number| *number < 100);
    let at = words.iter().position(|word| number(word).is_some())?;
    let major = number(words.get(at)?)?;
    let minor = words.get(at + 1).and_then(number).unwrap_or(0);
    Some((major, minor))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_names() {
        for (name, expected) in [
            ("claude-3-haiku-20240307", (3, 0)),
            ("claude-3-5-sonnet-20241022", (3, 5)),
            ("claude-3-7-sonnet-latest", (3, 7)),
            ("claude-opus-4-20250514", (4, 0)),
            ("claude-sonnet-4-5-20250929", (4, 5)),
            ("anthropic/claude-opus-4.6", (4, 6)),
            ("claude-opus-5", (5, 0)),
            ("claude-opus-5-5", (5, 5)),
            ("us.anthropic.claude-haiku-4-5-20251001-v1:0", (4, 5)),
            ("claude-mythos-preview", NEWEST),
            ("MiniMax-M2", PLAIN),
        ] {
            assert_eq!(Traits::of(name).version, expected, "{name}");
        }
    }

    #[test]
    fn screens_are_given_in_the_form_that_the_model_knows() {
        for (name, expected) in [
            ("claude-3-7-sonnet-latest", Computer::First),
            ("claude-sonnet-4-5", Computer::First),
            ("claude-haiku-4-5", Computer::First),
            ("claude-opus-4-5", Computer::Second),
            ("claude-sonnet-4-6", Computer::Second),
            ("claude-opus-4-7", Computer::Second),
            ("claude-opus-4-8", Computer::Toolset),
            ("claude-haiku-5-5", Computer::Toolset),
        ] {
            assert_eq!(Traits::of(name).computer(), expected, "{name}");
        }
    }
}
