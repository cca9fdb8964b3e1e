//! Text files as trees that remember where everything stood, so that an error can point at its
//! place. YAML and TOML both become a [`Node`]; what the keys mean is decided elsewhere.

mod deserialize;
mod error;
mod node;
mod scalar;
mod toml;
mod yaml;

pub(crate) use error::{NodeError, nearest};
pub(crate) use node::{Content, Key, Node, Span};
pub(crate) use toml::parse as parse_toml;
pub(crate) use yaml::parse as parse_yaml;

/// No task or suite file may be larger.
pub(crate) const MAX_FILE: u64 = 1 << 20;
