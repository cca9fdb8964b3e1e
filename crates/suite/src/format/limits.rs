//! The keys of `limits`, and how a task's stand over a suite's.

use std::borrow::Cow;

use agon_core::{ByteSize, Limits, Money, Seconds};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "keys and values")]
pub(crate) struct LimitsFile {
    /// Actions the agent may take. Without it: by level.
    #[serde(default, deserialize_with = "at_least_one")]
    #[schemars(range(min = 1))]
    pub(crate) steps: Option<u32>,
    /// Seconds of the agent's turn, all steps together.
    pub(crate) seconds: Option<Seconds>,
    /// Seconds for starting the environment.
    pub(crate) start: Option<Seconds>,
    /// Seconds for `setup_cmd`.
    pub(crate) setup: Option<Seconds>,
    /// Seconds for the agent's answer to one observation.
    pub(crate) step: Option<Seconds>,
    /// Seconds for one command, which is then killed.
    pub(crate) command: Option<Seconds>,
    /// Seconds without output after which a command is left running and the agent gets its turn.
    pub(crate) quiet: Option<Seconds>,
    /// A command that still runs after this long is left running, with output or without. Without it: only
    /// silence does that.
    pub(crate) patience: Option<Seconds>,
    /// Seconds for one check.
    pub(crate) check: Option<Seconds>,
    /// Tokens of the agent's model.
    pub(crate) tokens: Option<u64>,
    /// Dollars for the agent's model.
    pub(crate) money: Option<Dollars>,
    /// How much of one output the agent sees.
    pub(crate) view: Option<ByteSize>,
    /// How much output of one trial is kept.
    pub(crate) output: Option<ByteSize>,
}

pub(super) fn at_least_one<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<u32>, D::Error> {
    match u32::deserialize(deserializer)? {
        0 => Err(D::Error::custom("expected at least 1")),
        count => Ok(Some(count)),
    }
}

/// Dollars with at most twelve decimals, read exactly.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dollars(pub(crate) Money);

impl<'de> Deserialize<'de> for Dollars {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Money::parse(&text).map(Self).ok_or_else(|| {
            D::Error::custom(format!(
                "`{text}` is no amount: expected dollars such as 0.25, with at most twelve decimals"
            ))
        })
    }
}

impl JsonSchema for Dollars {
    fn schema_name() -> Cow<'static, str> {
        "Dollars".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "string"], "examples": [0.25, "$1.50"] })
    }
}

impl LimitsFile {
    /// What the task says, and where it says nothing, what the suite says.
    pub(crate) fn over(self, base: &Self) -> Self {
        Self {
            steps: self.steps.or(base.steps),
            seconds: self.seconds.or(base.seconds),
            start: self.start.or(base.start),
            setup: self.setup.or(base.setup),
            step: self.step.or(base.step),
            command: self.command.or(base.command),
            quiet: self.quiet.or(base.quiet),
            patience: self.patience.or(base.patience),
            check: self.check.or(base.check),
            tokens: self.tokens.or(base.tokens),
            money: self.money.or(base.money),
            view: self.view.or(base.view),
            output: self.output.or(base.output),
        }
    }

    /// Fills in the defaults. A default never exceeds a written limit that contains it: a step and
    /// a command last no longer than the turn, silence no longer than the command.
    pub(crate) fn filled(&self, steps: u32, default: Limits) -> Limits {
        let seconds = self.seconds.unwrap_or(default.seconds);
        let command = self
            .command
            .unwrap_or_else(|| shorter(default.command, seconds));
        Limits {
            steps,
            seconds,
            start: self.start.unwrap_or(default.start),
            setup: self.setup.unwrap_or(default.setup),
            step: self.step.unwrap_or_else(|| shorter(default.step, seconds)),
            command,
            quiet: self
                .quiet
                .unwrap_or_else(|| shorter(default.quiet, command)),
            patience: self.patience,
            check: self.check.unwrap_or(default.check),
            tokens: self.tokens,
            money: self.money.map(|dollars| dollars.0),
            view: self.view.unwrap_or(default.view),
            output: self.output.unwrap_or(default.output),
        }
    }
}

fn shorter(a: Seconds, b: Seconds) -> Seconds {
    if a <= b { a } else { b }
}
