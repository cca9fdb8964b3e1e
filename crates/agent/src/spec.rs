//! Agent specs as given on the command line. Parsing looks at the text only, never at the world.

use std::fmt;
use std::str::FromStr;

use crate::error::SetupError;
use crate::registry::{KINDS, Kind};

/// `noop`, `oracle`, `random`, `replay:RUN`, `cmd:PROGRAM ARGS`, `cmd-host:PROGRAM ARGS`,
/// `http://URL`, and players in real time such as `one-key:Left`. Prints as it was given.
#[derive(Clone)]
pub struct AgentSpec {
    text: String,
    kind: &'static Kind,
}

impl AgentSpec {
    pub fn parse(text: &str) -> Result<Self, SetupError> {
        Self::parse_among(text, KINDS)
    }

    /// As [`Self::parse`], with other kinds than this crate's alone: `KINDS.iter().chain(MORE)`.
    pub fn parse_among<I>(text: &str, kinds: I) -> Result<Self, SetupError>
    where
        I: IntoIterator<Item = &'static Kind>,
    {
        let kinds: Vec<&'static Kind> = kinds.into_iter().collect();
        let text = text.trim();
        if text.starts_with("https://") {
            return Err(SetupError::Spec {
                spec: text.to_owned(),
                why: "only plain http:// is spoken; put a local TLS proxy in front of the agent"
                    .to_owned(),
            });
        }
        let kind = kinds
            .iter()
            .copied()
            .find(|kind| match kind.argument {
                "" => text == kind.name,
                _ => text.starts_with(kind.name),
            })
            .ok_or_else(|| unknown(text, &kinds))?;
        let spec = Self {
            text: text.to_owned(),
            kind,
        };
        (kind.check)(spec.argument()).map_err(|why| SetupError::Spec {
            spec: text.to_owned(),
            why,
        })?;
        Ok(spec)
    }

    pub fn kind(&self) -> &'static Kind {
        self.kind
    }

    /// What follows the name of the kind.
    pub fn argument(&self) -> &str {
        self.text
            .strip_prefix(self.kind.name)
            .unwrap_or_default()
            .trim()
    }
}

fn unknown(text: &str, kinds: &[&Kind]) -> SetupError {
    let word = text.split([':', ' ']).next().unwrap_or(text);
    let nearest = kinds
        .iter()
        .map(|kind| (kind, strsim::damerau_levenshtein(word, bare(kind))))
        .filter(|(kind, distance)| *distance <= 1.max(bare(kind).len() / 3))
        .min_by_key(|(_, distance)| *distance)
        .map(|(kind, _)| kind.form());
    let known: Vec<String> = kinds.iter().map(|kind| kind.form()).collect();
    SetupError::Unknown {
        spec: text.chars().take(200).collect(),
        nearest,
        known: known.join(", "),
    }
}

/// The name without its separator.
fn bare(kind: &Kind) -> &str {
    kind.name.trim_end_matches([':', '/'])
}

impl FromStr for AgentSpec {
    type Err = SetupError;
    fn from_str(text: &str) -> Result<Self, SetupError> {
        Self::parse(text)
    }
}

impl fmt::Display for AgentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for AgentSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AgentSpec({})", self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_parses_and_prints_as_given() {
        for text in [
            "noop",
            "oracle",
            "random",
            "replay:runs/latest",
            "cmd:python3 agent.py --fast",
            "cmd-host:'my agent' x",
            "http://127.0.0.1:8080/act",
            "one-key",
            "one-key:Left",
            "random-keys",
        ] {
            assert_eq!(AgentSpec::parse(text).unwrap().to_string(), text);
        }
        let spec = AgentSpec::parse("cmd: python3 a.py").unwrap();
        assert_eq!(
            (spec.kind().name, spec.argument()),
            ("cmd:", "python3 a.py")
        );
    }

    #[test]
    fn a_slip_gets_the_nearest_name_and_all_of_them() {
        let message = |text| AgentSpec::parse(text).unwrap_err().to_string();
        let nop = message("nop");
        assert!(nop.contains("did you mean `noop`?"), "{nop}");
        assert!(
            nop.contains("cmd:PROGRAM ARGS, cmd-host:PROGRAM ARGS"),
            "{nop}"
        );
        assert!(message("comd:python3 x.py").contains("`cmd:PROGRAM ARGS`?"));
        assert!(message("replay").contains("`replay:RUN`?"));
        assert!(!message("gpt-5").contains("did you mean"));
    }

    static MORE: &[Kind] = &[Kind {
        name: "coder",
        argument: "",
        about: "",
        check: |_| Ok(()),
        open: |_, _| Err(SetupError::Client("nobody".to_owned())),
    }];

    #[test]
    fn kinds_of_others_are_named_like_our_own() {
        let among = |text| AgentSpec::parse_among(text, KINDS.iter().chain(MORE));
        assert_eq!(among("coder").unwrap().kind().name, "coder");
        assert_eq!(among("noop").unwrap().kind().name, "noop");
        let slip = among("codr").unwrap_err().to_string();
        assert!(slip.contains("did you mean `coder`?"), "{slip}");
        assert!(AgentSpec::parse("coder").is_err());
    }

    #[test]
    fn arguments_that_make_no_sense_are_refused() {
        for text in [
            "cmd:",
            "cmd:'python3 agent.py",
            "cmd-host:  ",
            "cmd:''",
            "replay:",
            "http://",
            "http://user:secret@host/",
            "https://host/",
            "noop:x",
            "one-keys",
            "one-key:",
            "one-key:Lefft",
            "one-key Left",
        ] {
            assert!(AgentSpec::parse(text).is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_parses_to_itself_or_is_refused(text in "(cmd:|replay:|http://|)\\PC{0,40}") {
            if let Ok(spec) = AgentSpec::parse(&text) {
                proptest::prop_assert_eq!(spec.to_string(), text.trim());
            }
        }
    }
}
