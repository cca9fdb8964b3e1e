//! `cargo xtask qa`: writes the dataset of `suites/qa` anew. Questions are drawn from one seed, answers are
//! worked out here and nowhere else; the suite only compares.

mod arithmetic;
mod dice;
mod logic;

use std::fmt::Write;
use std::path::PathBuf;

use serde_json::json;

use crate::console::say;
use crate::failure::{Failure, Trying};
use crate::workspace;
use dice::Dice;

/// Another seed gives other questions, and runs that can't be compared with earlier ones.
const SEED: u64 = 2024;
/// Of every kind of question.
const EACH: usize = 5;

/// One question before it has an id.
struct Item {
    question: String,
    /// What the answer has to look like.
    form: &'static str,
    answer: String,
}

/// A kind of question, and what it is about: the category of the task.
struct Kind {
    name: &'static str,
    about: &'static str,
    level: &'static str,
    draw: fn(&mut Dice) -> Option<Item>,
}

const KINDS: [Kind; 10] = [
    kind("change", "arithmetic", "paper", arithmetic::change),
    kind("rates", "arithmetic", "wood", arithmetic::rates),
    kind("multiples", "arithmetic", "wood", arithmetic::multiples),
    kind("bases", "arithmetic", "wood", arithmetic::bases),
    kind("weekday", "arithmetic", "wood", arithmetic::weekday),
    kind("survey", "logic", "wood", logic::survey),
    kind("robot", "logic", "wood", logic::robot),
    kind("queue", "logic", "bronze", logic::queue),
    kind("drinks", "logic", "bronze", logic::drinks),
    kind("knights", "logic", "bronze", logic::knights),
];

const fn kind(
    name: &'static str,
    about: &'static str,
    level: &'static str,
    draw: fn(&mut Dice) -> Option<Item>,
) -> Kind {
    Kind {
        name,
        about,
        level,
        draw,
    }
}

pub(crate) fn run() -> Result<(), Failure> {
    let path = dataset();
    std::fs::write(&path, lines()).trying(format!("write {}", path.display()))?;
    say(format!(
        "{} questions in {}",
        KINDS.len() * EACH,
        path.display()
    ));
    Ok(())
}

fn dataset() -> PathBuf {
    workspace::root().join("suites/qa/dataset.jsonl")
}

/// The whole dataset: one JSON object per line.
fn lines() -> String {
    let mut text = String::new();
    for (at, kind) in KINDS.iter().enumerate() {
        // Dice of its own, so that a change of one kind leaves the others as they are.
        let mut dice = Dice::new(SEED + at as u64);
        let mut answers: Vec<String> = Vec::new();
        while answers.len() < EACH {
            // Some draws have no answer, or more than one; and no two of a kind have the same.
            let Some(item) = (kind.draw)(&mut dice).filter(|item| !answers.contains(&item.answer))
            else {
                continue;
            };
            answers.push(item.answer.clone());
            let row = json!({
                "instance_id": format!("{}-{}", kind.name, answers.len()),
                "about": kind.about,
                "level": kind.level,
                "question": item.question,
                "form": item.form,
                "answer": item.answer,
            });
            let _ = writeln!(text, "{row}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dataset_is_what_the_seed_gives() {
        let stored = std::fs::read_to_string(dataset()).unwrap();
        assert!(
            stored == lines(),
            "suites/qa/dataset.jsonl is not what the generator writes: run `cargo xtask qa`"
        );
    }

    /// No question tells its answer: what an answer is made of is not in the text in that form.
    #[test]
    fn no_question_tells_its_answer() {
        for line in lines().lines() {
            let row: serde_json::Value = serde_json::from_str(line).unwrap();
            let (question, answer) = (
                row["question"].as_str().unwrap(),
                row["answer"].as_str().unwrap(),
            );
            assert!(answer.len() < 6 || !question.contains(answer), "{line}");
        }
    }
}
