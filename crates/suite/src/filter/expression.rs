//! Predicates combined. Chains are flat lists, so that a long expression is not a deep one.

use std::fmt;
use std::str::FromStr;

use agon_core::Task;

use super::parse::{FilterError, parse};
use super::pattern::Predicate;

#[derive(Debug, Clone, PartialEq)]
pub enum Expression {
    All,
    None,
    Is(Predicate),
    Not(Box<Expression>),
    And(Vec<Expression>),
    Or(Vec<Expression>),
}

impl Expression {
    pub fn holds(&self, task: &Task) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Is(predicate) => predicate.holds(task),
            Self::Not(inner) => !inner.holds(task),
            Self::And(parts) => parts.iter().all(|part| part.holds(task)),
            Self::Or(parts) => parts.iter().any(|part| part.holds(task)),
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let chain = |f: &mut fmt::Formatter<'_>, parts: &[Self], operator: &str| {
            for (place, part) in parts.iter().enumerate() {
                if place > 0 {
                    write!(f, " {operator} ")?;
                }
                match part {
                    Self::And(_) | Self::Or(_) => write!(f, "({part})")?,
                    _ => write!(f, "{part}")?,
                }
            }
            Ok(())
        };
        match self {
            Self::All => f.write_str("all()"),
            Self::None => f.write_str("none()"),
            Self::Is(predicate) => predicate.fmt(f),
            Self::Not(inner) => match &**inner {
                Self::And(_) | Self::Or(_) => write!(f, "not ({inner})"),
                _ => write!(f, "not {inner}"),
            },
            Self::And(parts) => chain(f, parts, "and"),
            Self::Or(parts) => chain(f, parts, "or"),
        }
    }
}

/// A filter as given, checked and ready to use.
#[derive(Debug, Clone, PartialEq)]
pub struct Filter {
    expression: Expression,
}

impl Filter {
    pub fn holds(&self, task: &Task) -> bool {
        self.expression.holds(task)
    }

    pub fn expression(&self) -> &Expression {
        &self.expression
    }
}

impl FromStr for Filter {
    type Err = FilterError;

    fn from_str(text: &str) -> Result<Self, FilterError> {
        parse(text).map(|expression| Self { expression })
    }
}

impl fmt::Display for Filter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.expression.fmt(f)
    }
}
