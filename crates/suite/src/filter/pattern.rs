//! One predicate: a field of a task and what its text must look like.

use std::fmt;

use agon_core::{Level, Task};
use globset::{Glob, GlobMatcher};
use regex::Regex;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    Category,
    Level,
    Tag,
    Name,
    Id,
}

impl Field {
    pub const ALL: [Self; 5] = [Self::Category, Self::Level, Self::Tag, Self::Name, Self::Id];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Category => "category",
            Self::Level => "level",
            Self::Tag => "tag",
            Self::Name => "name",
            Self::Id => "id",
        }
    }
}

#[derive(Clone)]
pub enum Pattern {
    Glob(GlobMatcher),
    Exact(String),
    Substring(String),
    Regex(Regex),
    /// Levels only.
    Compare(Comparison, Level),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Less,
    AtMost,
    More,
    AtLeast,
}

impl Comparison {
    /// Longer signs first, so that `>=` is not read as `>`.
    pub(super) const ALL: [Self; 4] = [Self::AtMost, Self::AtLeast, Self::Less, Self::More];

    pub(super) const fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::More => ">",
            Self::AtLeast => ">=",
        }
    }

    fn holds(self, a: Level, b: Level) -> bool {
        match self {
            Self::Less => a < b,
            Self::AtMost => a <= b,
            Self::More => a > b,
            Self::AtLeast => a >= b,
        }
    }
}

impl Pattern {
    pub fn glob(text: &str) -> Result<Self, globset::Error> {
        Ok(Self::Glob(Glob::new(text)?.compile_matcher()))
    }

    fn matches(&self, text: &str) -> bool {
        match self {
            Self::Glob(glob) => glob.is_match(text),
            Self::Exact(exact) => text == exact,
            Self::Substring(part) => text.contains(part.as_str()),
            Self::Regex(regex) => regex.is_match(text),
            Self::Compare(comparison, level) => text
                .parse()
                .is_ok_and(|text| comparison.holds(text, *level)),
        }
    }
}

/// The text between the parentheses, escaped so that it reads back the same.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let escaped = |text: &str| text.replace('\\', "\\\\").replace(')', "\\)");
        match self {
            Self::Glob(glob) => f.write_str(&escaped(glob.glob().glob())),
            Self::Exact(text) => write!(f, "={}", escaped(text)),
            Self::Substring(text) => write!(f, "~{}", escaped(text)),
            Self::Regex(regex) => write!(f, "/{}/", escape_slashes(regex.as_str())),
            Self::Compare(comparison, level) => write!(f, "{}{level}", comparison.sign()),
        }
    }
}

/// As it was written: the compiled machines are of no use to a reader.
impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Pattern({self})")
    }
}

/// Slashes that are not yet escaped get a backslash; everything else of the expression stays.
fn escape_slashes(regex: &str) -> String {
    let mut escaped = String::with_capacity(regex.len());
    let mut after_backslash = false;
    for c in regex.chars() {
        if c == '/' && !after_backslash {
            escaped.push('\\');
        }
        after_backslash = c == '\\' && !after_backslash;
        escaped.push(c);
    }
    escaped
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        std::mem::discriminant(self) == std::mem::discriminant(other)
            && self.to_string() == other.to_string()
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Predicate {
    pub field: Field,
    pub pattern: Pattern,
}

impl Predicate {
    pub fn holds(&self, task: &Task) -> bool {
        match self.field {
            Field::Category => self.pattern.matches(task.id.category()),
            // Without a level, a task's level is called `none`.
            Field::Level => self
                .pattern
                .matches(task.level.map_or("none", |l| l.name())),
            Field::Tag => task.tags.iter().any(|tag| self.pattern.matches(tag)),
            Field::Name => self.pattern.matches(&task.name),
            Field::Id => self.pattern.matches(task.id.id()),
        }
    }
}

impl fmt::Display for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({})", self.field.name(), self.pattern)
    }
}
