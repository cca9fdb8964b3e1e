//! What is wrong with a configuration. Messages name the place and never quote a value, since any value
//! may be a key that was put in the wrong place.

use std::path::PathBuf;

use super::nearest::did_you_mean;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("can't read {}: {why}", path.display())]
    Unreadable { path: PathBuf, why: String },
    #[error("{place}: this is no TOML: {why}")]
    NotToml { place: String, why: String },
    #[error("{place}: `{section}` must be a table: begin it with [{section}]")]
    NotATable { place: String, section: String },
    #[error("{place}: [{section}] has an unknown key `{key}`{}", did_you_mean(.nearest.as_deref()))]
    UnknownKey {
        place: String,
        section: String,
        key: String,
        nearest: Option<String>,
    },
    /// A value of the wrong type, or one that can't be used.
    #[error("{place}: {key} {why}")]
    BadValue {
        place: String,
        key: String,
        why: String,
    },
    #[error("there is no [{kind}.{name}]{}{}", did_you_mean(.nearest.as_deref()), there_are(.known))]
    NoSection {
        kind: &'static str,
        name: String,
        nearest: Option<String>,
        /// What there is instead, in words.
        known: String,
    },
    /// A model that nobody here can ask.
    #[error("{model}: {why}")]
    NoModel { model: String, why: String },
}

fn there_are(known: &str) -> String {
    if known.is_empty() {
        String::new()
    } else {
        format!("; {known}")
    }
}
