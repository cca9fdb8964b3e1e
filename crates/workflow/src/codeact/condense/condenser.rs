//! Which part of a history is forgotten, and when. Lengths are in events, as the settings count them: an
//! action is one and what it led to another, the system prompt and the task are one each.

use std::sync::Arc;

use agon_core::{Condensation, Purpose};
use agon_llm::config::{self, Config};
use agon_llm::{Account, LlmError, Model, Session};

use super::summary;
use crate::codeact::history::{History, joined};
use crate::codeact::messages::Look;

/// A condenser of the configuration, with the models that it asks.
#[derive(Debug, Clone)]
pub enum Condenser {
    Noop,
    /// Old results are masked.
    Masking {
        window: usize,
    },
    /// Old pages of the browser are masked.
    PageMasking {
        window: usize,
    },
    /// The first and the last events stay.
    Recent {
        keep_first: usize,
        most: usize,
    },
    /// The middle is forgotten as soon as there are too many.
    Amortized {
        keep_first: usize,
        most: usize,
    },
    /// The same, and a model writes down what was in it. `None`: the agent's own model.
    Llm {
        model: Option<Model>,
        keep_first: usize,
        most: usize,
        longest: usize,
    },
    /// The older half is forgotten, when there is need.
    Window,
    Pipeline(Vec<Self>),
}

/// Why a history is to become shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::codeact) enum Need {
    /// It may have grown over the condenser's own measure.
    Size,
    /// It must, whatever its size.
    Now,
}

impl Condenser {
    pub fn open(
        settings: &config::Condenser,
        config: Option<&Config>,
        session: Option<&Arc<Session>>,
    ) -> Result<Self, String> {
        use config::Condenser as Settings;
        Ok(match settings {
            Settings::Noop => Self::Noop,
            Settings::ObservationMasking { attention_window } => Self::Masking {
                window: size(*attention_window),
            },
            Settings::BrowserOutputMasking { attention_window } => Self::PageMasking {
                window: size(*attention_window),
            },
            Settings::Recent {
                keep_first,
                max_events,
            } => Self::Recent {
                keep_first: size(*keep_first),
                most: size(*max_events),
            },
            Settings::Amortized {
                keep_first,
                max_size,
            } => Self::Amortized {
                keep_first: size(*keep_first),
                most: size(*max_size),
            },
            Settings::Llm {
                llm_config,
                keep_first,
                max_size,
                max_event_length,
            } => Self::Llm {
                model: llm_config
                    .as_deref()
                    .map(|name| model(name, config, session))
                    .transpose()?,
                keep_first: size(*keep_first),
                most: size(*max_size),
                longest: size(*max_event_length),
            },
            Settings::Pipeline { condensers } => Self::Pipeline(
                condensers
                    .iter()
                    .map(|inner| Self::open(inner, config, session))
                    .collect::<Result<_, _>>()?,
            ),
            Settings::ConversationWindow => Self::Window,
            Settings::LlmAttention { .. } => return Err(not_built("llm_attention")),
            Settings::Structured { .. } => return Err(not_built("structured")),
        })
    }

    /// The same, paid for and recorded by a trial.
    #[must_use]
    pub(in crate::codeact) fn on(&self, account: &Arc<Account>) -> Self {
        match self {
            Self::Llm {
                model: Some(model),
                keep_first,
                most,
                longest,
            } => Self::Llm {
                model: Some(model.on(account, Purpose::Agent)),
                keep_first: *keep_first,
                most: *most,
                longest: *longest,
            },
            Self::Pipeline(all) => Self::Pipeline(all.iter().map(|one| one.on(account)).collect()),
            other => other.clone(),
        }
    }

    /// What is not shown of what is not forgotten.
    pub(in crate::codeact) fn masks(&self, look: &mut Look) {
        let least = |old: Option<usize>, new: usize| Some(old.map_or(new, |old| old.min(new)));
        match self {
            Self::Masking { window } => look.results = least(look.results, *window),
            Self::PageMasking { window } => look.pages = least(look.pages, *window),
            Self::Pipeline(all) => {
                for one in all {
                    one.masks(look);
                }
            }
            _ => {}
        }
    }

    /// Forgets what is over its measure; or as much as helps, if there is need. `own` is the agent's model.
    pub(in crate::codeact) async fn condense(
        &self,
        history: &mut History,
        need: Need,
        own: &Model,
    ) -> Result<Option<Condensation>, LlmError> {
        match self {
            Self::Noop | Self::Masking { .. } | Self::PageMasking { .. } => Ok(None),
            Self::Recent { keep_first, most } => {
                let target = match need {
                    Need::Size => *most,
                    Need::Now => half(history, *most),
                };
                if history.events() <= target {
                    return Ok(None);
                }
                let range = history.middle(*keep_first, target);
                Ok(history.forget(range, None))
            }
            Self::Amortized { keep_first, most } => {
                if need == Need::Size && history.events() <= *most {
                    return Ok(None);
                }
                let range = history.middle(*keep_first, half(history, *most));
                Ok(history.forget(range, None))
            }
            Self::Llm {
                model,
                keep_first,
                most,
                longest,
            } => {
                if need == Need::Size && history.events() <= *most {
                    return Ok(None);
                }
                // One for the summary.
                let target = half(history, *most).saturating_sub(1);
                let range = history.middle(*keep_first, target);
                if range.is_empty() {
                    return Ok(None);
                }
                let model = model.as_ref().unwrap_or(own);
                let summary = summary::of(model, history, range.clone(), *longest).await?;
                Ok(history.forget(range, summary))
            }
            Self::Window => match need {
                Need::Size => Ok(None),
                Need::Now => Ok(older_half(history)),
            },
            Self::Pipeline(all) => {
                let mut done = None;
                for one in all {
                    let more = Box::pin(one.condense(history, need, own)).await?;
                    let enough = need == Need::Now && more.is_some();
                    done = joined(done, more);
                    if enough {
                        break;
                    }
                }
                Ok(done)
            }
        }
    }
}

/// Forgets the older half, and at least one exchange unless there is only the newest.
pub(in crate::codeact) fn older_half(history: &mut History) -> Option<Condensation> {
    // The system prompt and the task are no part of what is halved.
    let range = history.middle(0, history.events() / 2 + 1);
    history.forget(0..range.end.max(1), None)
}

fn half(history: &History, most: usize) -> usize {
    most.min(history.events()) / 2
}

fn size(count: u32) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

fn not_built(kind: &str) -> String {
    format!("the condenser `{kind}` is not built: use `llm`")
}

fn model(
    name: &str,
    config: Option<&Config>,
    session: Option<&Arc<Session>>,
) -> Result<Model, String> {
    let (Some(config), Some(session)) = (config, session) else {
        return Err(format!(
            "the condenser's model `{name}` can't be asked here: leave out its llm_config"
        ));
    };
    let spec = config.model(name).map_err(|error| error.to_string())?;
    session.model(spec).map_err(|error| error.to_string())
}
