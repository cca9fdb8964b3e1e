//! The keys of `user`: who answers the agent's messages. They stand in one flat type, so that a key
//! that belongs to another kind of user can be named as such.

use schemars::JsonSchema;
use serde::Deserialize;

/// Who answers the agent's messages.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "keys and values")]
pub(crate) struct UserFile {
    /// Without it: as the other keys say.
    pub(crate) kind: Option<UserKind>,
    /// script: the answers to the agent's messages, in order.
    #[serde(default)]
    #[schemars(schema_with = "super::text::list_schema")]
    pub(crate) replies: Option<Vec<String>>,
    /// fixed: the same words every time.
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) say: Option<String>,
    /// nudge: ask for the answer between `<solution>` and `</solution>`. Default: false.
    pub(crate) solution_tags: Option<bool>,
    /// nudge: a message in which this regular expression is found is the answer, and ends the turn.
    pub(crate) answer: Option<String>,
    /// rules: the first that fits the agent's message answers it.
    pub(crate) rules: Option<Vec<RuleFile>>,
    /// rules: what is said when none fits.
    #[serde(default)]
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) otherwise: Option<String>,
    /// persona: who they are and how they talk.
    pub(crate) character: Option<String>,
    /// persona: what they want.
    pub(crate) goal: Option<String>,
    /// persona: what they know, and tell when asked.
    #[serde(default)]
    #[schemars(schema_with = "super::text::list_schema")]
    pub(crate) facts: Option<Vec<String>>,
    /// persona: the section of the model that speaks. Without it: the run's own.
    pub(crate) model: Option<String>,
    /// persona: messages after which they leave. Default: 20.
    #[schemars(range(min = 1))]
    pub(crate) patience: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum UserKind {
    /// Nobody: messages are not answered.
    None,
    /// `replies`, in order; then nothing more.
    Script,
    /// `say`, every time.
    Fixed,
    /// Tells the agent to go on by itself.
    Nudge,
    /// The first of `rules` that fits.
    Rules,
    /// A language model in character.
    Persona,
}

impl UserKind {
    pub(crate) const ALL: [Self; 6] = [
        Self::None,
        Self::Script,
        Self::Fixed,
        Self::Nudge,
        Self::Rules,
        Self::Persona,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Script => "script",
            Self::Fixed => "fixed",
            Self::Nudge => "nudge",
            Self::Rules => "rules",
            Self::Persona => "persona",
        }
    }

    /// The keys that belong to this kind alone.
    pub(crate) const fn own_keys(self) -> &'static [&'static str] {
        match self {
            Self::None => &[],
            Self::Script => &["replies"],
            Self::Fixed => &["say"],
            Self::Nudge => &["solution_tags", "answer"],
            Self::Rules => &["rules", "otherwise"],
            Self::Persona => &["character", "goal", "facts", "model", "patience"],
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a rule: keys and values")]
pub(crate) struct RuleFile {
    /// A regular expression, found anywhere in the agent's message; letters of either case.
    pub(crate) when: String,
    /// The answer; `/exit` ends the conversation.
    #[schemars(schema_with = "super::text::schema")]
    pub(crate) say: String,
    /// Says it only once, then later rules get their turn. Default: false.
    #[serde(default)]
    pub(crate) once: bool,
}
