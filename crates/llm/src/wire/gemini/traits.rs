//! What Gemini models can do, by the version in their names. A name without one is taken for the newest.

type Version = (u32, u32);

const NEWEST: Version = (u32::MAX, 0);

/// How a model is given a screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Computer {
    /// `computerUse` for a whole desktop.
    Desktop,
    /// `computerUse` for a browser, without which the model refuses to work.
    Browser,
    /// A function, since it has no tool of its own for a desktop.
    Function,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Traits {
    version: Version,
    flash: bool,
    for_computers: bool,
}

impl Traits {
    pub(super) fn of(model: &str) -> Self {
        let name = model.to_ascii_lowercase();
        let words = name.split('-');
        let version = words.filter_map(version).next().unwrap_or(NEWEST);
        Self {
            version,
            flash: name.contains("flash"),
            for_computers: name.contains("computer-use"),
        }
    }

    /// Whether it thinks at all.
    pub(super) fn thinks(self) -> bool {
        self.version >= (2, 5)
    }

    /// Whether it is told a level instead of a number of tokens.
    pub(super) fn thinks_by_level(self) -> bool {
        self.version >= (3, 0)
    }

    /// Whether it can do without thinking, or nearly so.
    pub(super) fn can_stop_thinking(self) -> bool {
        self.flash
    }

    /// Whether calls that it did not make itself need a word instead of its signature.
    pub(super) fn wants_signatures(self) -> bool {
        self.version >= (3, 0)
    }

    /// Whether results of tools may hold pictures.
    pub(super) fn sees_results(self) -> bool {
        self.version >= (3, 0) || self.for_computers
    }

    /// Whether tools and a schema of the answer go together.
    pub(super) fn obeys_schemas_with_tools(self) -> bool {
        self.version >= (3, 0)
    }

    pub(super) fn computer(self) -> Computer {
        if self.version >= (3, 5) {
            Computer::Desktop
        } else if self.for_computers {
            Computer::Browser
        } else {
            Computer::Function
        }
    }
}

/// `2.5`, `3`.
fn version(word: &str) -> Option<Version> {
    let (major, minor) = word.split_once('.').unwrap_or((word, "0"));
    let small = |number: &str| number.parse::<u32>().ok().filter(|number| *number < 100);
    Some((small(major)?, small(minor)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_names() {
        for (name, version, computer) in [
            ("gemini-2.0-flash", (2, 0), Computer::Function),
            ("gemini-2.5-pro", (2, 5), Computer::Function),
            (
                "gemini-2.5-computer-use-preview-10-2025",
                (2, 5),
                Computer::Browser,
            ),
            ("gemini-3-pro-preview", (3, 0), Computer::Function),
            ("gemini-3.5-flash", (3, 5), Computer::Desktop),
            ("gemini-flash-latest", NEWEST, Computer::Desktop),
        ] {
            let traits = Traits::of(name);
            assert_eq!(
                (traits.version, traits.computer()),
                (version, computer),
                "{name}"
            );
        }
    }
}
