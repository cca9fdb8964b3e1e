//! Names of things: tasks, trials, runs. A task is known by category *and* id, because ids repeat
//! across categories in real suites.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A task's key inside a suite, written `category/id`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId {
    category: String,
    id: String,
}

/// Why a text is no task id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadId {
    #[error("`{0}` is no task id: expected `category/id`")]
    Shape(String),
    #[error(
        "`{0}` is no usable name: use letters, digits, `.`, `-`, `_` (at most 100, not starting with `.`)"
    )]
    Name(String),
}

impl TaskId {
    /// Both parts become folder names in the run folder, so they are checked as such.
    pub fn new(category: impl Into<String>, id: impl Into<String>) -> Result<Self, BadId> {
        let (category, id) = (category.into(), id.into());
        check_name(&category)?;
        check_name(&id)?;
        Ok(Self { category, id })
    }

    /// What is played on its own, outside of any suite.
    pub fn alone() -> Self {
        Self {
            category: "session".to_owned(),
            id: "task".to_owned(),
        }
    }

    pub fn parse(text: &str) -> Result<Self, BadId> {
        match text.split_once('/') {
            Some((category, id)) => Self::new(category, id),
            None => Err(BadId::Shape(text.to_owned())),
        }
    }

    pub fn category(&self) -> &str {
        &self.category
    }

    pub fn id(&self) -> &str {
        &self.id
    }
}

/// A name that is safe as one path component on any system.
pub fn check_name(name: &str) -> Result<(), BadId> {
    let fits = !name.is_empty()
        && name.len() <= 100
        && !name.starts_with('.')
        && name
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_'));
    if fits {
        Ok(())
    } else {
        Err(BadId::Name(name.to_owned()))
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.category, self.id)
    }
}

impl Serialize for TaskId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TaskId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for TaskId {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TaskId".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "pattern": "^[^/]+/[^/]+$" })
    }
}

/// One planned attempt at a task: the task and its epoch, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrialId {
    pub task: TaskId,
    pub epoch: u32,
}

impl fmt::Display for TrialId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.task, self.epoch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_parse_and_print() {
        let id = TaskId::parse("terminal/hello_world").unwrap();
        assert_eq!(id.category(), "terminal");
        assert_eq!(id.to_string(), "terminal/hello_world");
    }

    #[test]
    fn ids_that_could_leave_their_folder_are_refused() {
        for bad in [
            "hello",
            "../x",
            "a/..",
            "a/",
            "/b",
            "a/b/c",
            "a/b c",
            "a/.hidden",
        ] {
            assert!(TaskId::parse(bad).is_err(), "{bad}");
        }
    }
}
