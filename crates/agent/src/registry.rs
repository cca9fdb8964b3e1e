//! The kinds of agent of this crate: one line each. Other crates bring kinds of their own, which
//! [`crate::AgentSpec::parse_among`] takes beside these.

use crate::error::SetupError;
use crate::factory::{Contender, Services};
use crate::play::players;
use crate::{cmd, cmd_host, http, noop, oracle, random, replay};

/// How a kind of agent is named, explained and opened.
#[derive(Debug)]
pub struct Kind {
    /// The whole spec, or what it starts with if there is an argument: `noop`, `cmd:`, `http://`.
    pub name: &'static str,
    /// What follows the name, for people; empty if nothing does.
    pub argument: &'static str,
    pub about: &'static str,
    /// Whether the argument makes sense, without looking at the world.
    pub check: fn(argument: &str) -> Result<(), String>,
    /// Once per run.
    pub open: Open,
}

pub type Open = fn(argument: &str, &Services) -> Result<Box<dyn Contender>, SetupError>;

pub static KINDS: &[Kind] = &[
    noop::KIND,
    oracle::KIND,
    random::KIND,
    replay::KIND,
    cmd::KIND,
    cmd_host::KIND,
    http::KIND,
    players::ONE_KEY,
    players::RANDOM_KEYS,
    players::HEXAGON,
];

impl Kind {
    /// `cmd:PROGRAM ARGS`
    pub fn form(&self) -> String {
        format!("{}{}", self.name, self.argument)
    }
}
