//! Built-in evaluators by name.

use std::sync::Arc;

use super::{Hexagon, Models, Screen, Timer, Vision};
use crate::evaluator::Evaluator;

/// An evaluator that can be named on the command line.
#[derive(Debug)]
pub struct Kind {
    pub name: &'static str,
    pub about: &'static str,
    make: Make,
}

#[derive(Debug)]
enum Make {
    /// Judges by itself.
    Alone(fn() -> Box<dyn Evaluator>),
    /// Asks a model.
    Asking(fn(Arc<Models>) -> Box<dyn Evaluator>),
}

impl Kind {
    /// Whether it asks a model.
    pub const fn asks(&self) -> bool {
        matches!(self.make, Make::Asking(_))
    }

    pub fn make(
        &self,
        models: Option<&Arc<Models>>,
    ) -> Result<Box<dyn Evaluator>, NoSuchEvaluator> {
        match (&self.make, models) {
            (Make::Alone(make), _) => Ok(make()),
            (Make::Asking(make), Some(models)) => Ok(make(Arc::clone(models))),
            (Make::Asking(_), None) => Err(NoSuchEvaluator::Asks(self.name)),
        }
    }
}

pub const EVALUATORS: &[Kind] = &[
    Kind {
        name: "timer",
        about: "only the time-out: a success is who played to the end",
        make: Make::Alone(|| Box::new(Timer)),
    },
    Kind {
        name: "screen",
        about: "reads the window, as success_criteria says (end_text, score_after, ...)",
        make: Make::Alone(|| Box::new(Screen)),
    },
    Kind {
        name: "hexagon",
        about: "PRESS SPACE TO RETRY ends it; the score stands after LAST; success is more than \
                time_survived",
        make: Make::Alone(|| Box::new(Hexagon)),
    },
    Kind {
        name: "vision",
        about: "as hexagon, but a vision model is asked (--model); success_criteria may say which, and \
                what (model, end_question, score_question)",
        make: Make::Asking(|models| Box::new(Vision::new(models))),
    },
];

#[derive(Debug, thiserror::Error)]
pub enum NoSuchEvaluator {
    #[error("`{0}` is no evaluator; there are: {all}", all = names())]
    Unknown(String),
    #[error("the evaluator {0} asks a model, and was given none")]
    Asks(&'static str),
}

fn names() -> String {
    let names: Vec<&str> = EVALUATORS.iter().map(|kind| kind.name).collect();
    names.join(", ")
}

/// Which one a name means.
pub fn kind(spec: &str) -> Result<&'static Kind, NoSuchEvaluator> {
    let kind = EVALUATORS.iter().find(|kind| kind.name == spec.trim());
    kind.ok_or_else(|| NoSuchEvaluator::Unknown(spec.to_owned()))
}

/// By name, for those that ask no model.
pub fn find(spec: &str) -> Result<Box<dyn Evaluator>, NoSuchEvaluator> {
    kind(spec)?.make(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_found_by_name_and_others_are_named_instead() {
        for kind in EVALUATORS {
            assert_eq!(find(kind.name).is_ok(), !kind.asks());
        }
        let error = find("hexagone").err().unwrap().to_string();
        assert!(error.contains("timer, screen, hexagon, vision"), "{error}");
        let error = find("vision").err().unwrap().to_string();
        assert!(error.contains("asks a model"), "{error}");
    }
}
