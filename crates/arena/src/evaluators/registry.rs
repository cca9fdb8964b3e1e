//! Built-in evaluators by name.

use super::{Hexagon, Screen, Timer};
use crate::evaluator::Evaluator;

/// An evaluator that can be named on the command line.
#[derive(Debug)]
pub struct Kind {
    pub name: &'static str,
    pub about: &'static str,
    make: fn() -> Box<dyn Evaluator>,
}

impl Kind {
    pub fn make(&self) -> Box<dyn Evaluator> {
        (self.make)()
    }
}

pub const EVALUATORS: &[Kind] = &[
    Kind {
        name: "timer",
        about: "only the time-out: a success is who played to the end",
        make: || Box::new(Timer),
    },
    Kind {
        name: "screen",
        about: "reads the window, as success_criteria says (end_text, score_after, ...)",
        make: || Box::new(Screen),
    },
    Kind {
        name: "hexagon",
        about: "PRESS SPACE TO RETRY ends it; the score stands after LAST; success is more than \
                time_survived",
        make: || Box::new(Hexagon),
    },
];

#[derive(Debug, thiserror::Error)]
#[error("`{wanted}` is no evaluator; there are: {}", names())]
pub struct NoSuchEvaluator {
    wanted: String,
}

fn names() -> String {
    let names: Vec<&str> = EVALUATORS.iter().map(|kind| kind.name).collect();
    names.join(", ")
}

pub fn find(spec: &str) -> Result<Box<dyn Evaluator>, NoSuchEvaluator> {
    let kind = EVALUATORS.iter().find(|kind| kind.name == spec.trim());
    let kind = kind.ok_or_else(|| NoSuchEvaluator {
        wanted: spec.to_owned(),
    })?;
    Ok(kind.make())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_found_by_name_and_others_are_named_instead() {
        for kind in EVALUATORS {
            assert!(find(kind.name).is_ok());
        }
        let error = find("hexagone").err().unwrap().to_string();
        assert!(error.contains("timer, screen, hexagon"), "{error}");
    }
}
