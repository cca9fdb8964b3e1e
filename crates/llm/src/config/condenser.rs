//! `[condenser]` and `[condenser.NAME]`: how a long history is made shorter.

use std::collections::BTreeMap;

use super::error::ConfigError;
use super::fields::{Fields, Origin, bad};
use super::nearest::{did_you_mean, nearest};
use super::raw::{FromRaw, Raw};

/// Condensers in condensers in condensers are a mistake.
const DEEPEST: usize = 4;

const TYPES: &[&str] = &[
    "noop",
    "observation_masking",
    "browser_output_masking",
    "recent",
    "llm",
    "amortized",
    "llm_attention",
    "structured",
    "pipeline",
    "conversation_window",
];

/// `llm_config` names a model's section; `None`: the agent's own model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Condenser {
    Noop,
    ObservationMasking {
        attention_window: u32,
    },
    BrowserOutputMasking {
        attention_window: u32,
    },
    Recent {
        keep_first: u32,
        max_events: u32,
    },
    Llm {
        llm_config: Option<String>,
        keep_first: u32,
        max_size: u32,
        max_event_length: u32,
    },
    Amortized {
        keep_first: u32,
        max_size: u32,
    },
    LlmAttention {
        llm_config: Option<String>,
        keep_first: u32,
        max_size: u32,
    },
    Structured {
        llm_config: Option<String>,
        keep_first: u32,
        max_size: u32,
        max_event_length: u32,
    },
    Pipeline {
        condensers: Vec<Self>,
    },
    ConversationWindow,
}

impl Condenser {
    pub(super) fn read(fields: Fields) -> Result<Self, ConfigError> {
        Reader { fields }.read(0)
    }
}

impl FromRaw for Condenser {
    const WANTED: &'static str =
        "a condenser: a table with a known `type` and the keys of that type";
    fn from_raw(raw: &Raw) -> Option<Self> {
        let Raw::Table(table) = raw else { return None };
        Reader::of("condenser", table, &Origin::Place(String::new()))
            .read(1)
            .ok()
    }
}

struct Reader {
    fields: Fields,
}

impl Reader {
    fn of(section: &str, table: &BTreeMap<String, Raw>, origin: &Origin) -> Self {
        let mut fields = Fields::new(section);
        for (key, raw) in table {
            fields.set(key.clone(), raw.clone(), origin.clone());
        }
        Self { fields }
    }

    fn read(mut self, depth: usize) -> Result<Condenser, ConfigError> {
        let section = self.fields.section.clone();
        let here = self.fields.first_origin();
        let origin = self.fields.origin("type").cloned().unwrap_or(here);
        let wrong = |why: String| bad(&section, "type", &origin, why);
        let Some(kind) = self.fields.take::<String>("type")? else {
            return Err(wrong(format!(
                "is missing; it is one of: {}",
                TYPES.join(", ")
            )));
        };
        let condenser = match kind.as_str() {
            "noop" => Condenser::Noop,
            "observation_masking" => Condenser::ObservationMasking {
                attention_window: self.number("attention_window", 100)?,
            },
            "browser_output_masking" => Condenser::BrowserOutputMasking {
                attention_window: self.number("attention_window", 1)?,
            },
            "recent" => Condenser::Recent {
                keep_first: self.number("keep_first", 1)?,
                max_events: self.number("max_events", 100)?,
            },
            "llm" => Condenser::Llm {
                llm_config: self.fields.take("llm_config")?,
                keep_first: self.number("keep_first", 1)?,
                max_size: self.number("max_size", 100)?,
                max_event_length: self.number("max_event_length", 10_000)?,
            },
            "amortized" => Condenser::Amortized {
                keep_first: self.number("keep_first", 1)?,
                max_size: self.number("max_size", 100)?,
            },
            "llm_attention" => Condenser::LlmAttention {
                llm_config: self.fields.take("llm_config")?,
                keep_first: self.number("keep_first", 1)?,
                max_size: self.number("max_size", 100)?,
            },
            "structured" => Condenser::Structured {
                llm_config: self.fields.take("llm_config")?,
                keep_first: self.number("keep_first", 1)?,
                max_size: self.number("max_size", 100)?,
                max_event_length: self.number("max_event_length", 10_000)?,
            },
            "pipeline" if depth == DEEPEST => return Err(wrong("is nested too deep".to_owned())),
            "pipeline" => self.pipeline(depth)?,
            "conversation_window" => Condenser::ConversationWindow,
            // Not quoted: a key may have slipped in here.
            _ => {
                let meant = nearest(&kind, TYPES.iter().copied());
                let meant = did_you_mean(meant.as_deref());
                return Err(wrong(format!(
                    "is unknown{meant}; it is one of: {}",
                    TYPES.join(", ")
                )));
            }
        };
        if let Some(error) = self.fields.take_unknown(&[]) {
            return Err(error);
        }
        match condenser {
            Condenser::Llm {
                keep_first,
                max_size,
                ..
            }
            | Condenser::Amortized {
                keep_first,
                max_size,
            }
            | Condenser::LlmAttention {
                keep_first,
                max_size,
                ..
            }
            | Condenser::Structured {
                keep_first,
                max_size,
                ..
            } if keep_first >= max_size / 2 => Err(wrong(
                "needs a keep_first that is less than half of max_size".to_owned(),
            )),
            condenser => Ok(condenser),
        }
    }

    fn pipeline(&mut self, depth: usize) -> Result<Condenser, ConfigError> {
        let section = self.fields.section.clone();
        let Some(given) = self.fields.take_raw("condensers") else {
            return Ok(Condenser::Pipeline {
                condensers: Vec::new(),
            });
        };
        let wrong = || {
            bad(
                &section,
                "condensers",
                &given.origin,
                "must be a list of tables".to_owned(),
            )
        };
        let Raw::List(items) = &given.raw else {
            return Err(wrong());
        };
        let read = |item: &Raw| match item {
            Raw::Table(table) => Self::of(&section, table, &given.origin).read(depth + 1),
            _ => Err(wrong()),
        };
        let condensers = items.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Condenser::Pipeline { condensers })
    }

    fn number(&mut self, key: &str, default: u32) -> Result<u32, ConfigError> {
        Ok(self.fields.take(key)?.unwrap_or(default))
    }
}
