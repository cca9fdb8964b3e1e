//! Tasks that have the same answer: one leak, or one answer learnt by heart, solves them all.

use std::collections::BTreeMap;

use agon_core::check::{Check, CheckKind, ProseSubject, TextTest};
use agon_core::{Task, TaskId};

use super::{Finding, Severity};

/// Answers such as `3` or `yes` are the same by chance.
const CHANCE: usize = 4;
/// So many words are a sentence.
const SENTENCE: usize = 5;

pub(super) fn shared(tasks: &[Task]) -> Vec<Finding> {
    let mut by_answer: BTreeMap<String, Vec<&TaskId>> = BTreeMap::new();
    for task in tasks {
        let mut answers = Vec::new();
        task.checks.inspect(|checks| collect(checks, &mut answers));
        answers.sort();
        answers.dedup();
        for answer in answers {
            by_answer.entry(answer).or_default().push(&task.id);
        }
    }
    by_answer
        .values()
        .filter_map(|ids| match ids.as_slice() {
            [first, second, rest @ ..] => Some(Finding {
                task: (*first).clone(),
                severity: Severity::Warning,
                message: match rest.len() {
                    0 => format!("has the same answer as {second}"),
                    more => format!("has the same answer as {second} and {more} more"),
                },
            }),
            _ => None,
        })
        .collect()
}

fn collect(checks: &[Check], answers: &mut Vec<String>) {
    for check in checks {
        match &check.kind {
            CheckKind::ReturnedResult { tests } => {
                answers.extend(tests.iter().filter_map(|test| match test {
                    TextTest::Equals(text) if text.len() >= CHANCE => Some(text.clone()),
                    _ => None,
                }));
            }
            CheckKind::Prose {
                subject: ProseSubject::ReturnedResult,
                value,
            } if names_something(value) => answers.push(value.clone()),
            CheckKind::All { checks, .. } | CheckKind::Any { checks } => collect(checks, answers),
            _ => {}
        }
    }
}

/// Whether prose holds an answer, and not only the rule for one, which is the same for many (`The name of the first
/// listing is returned`): a few words are one, and longer texts where they quote, count or name.
fn names_something(prose: &str) -> bool {
    let words: Vec<&str> = prose.split_whitespace().collect();
    if words.len() < SENTENCE {
        return true;
    }
    let named = |word: &str, begins: bool| {
        word.contains(['\'', '"', '`', '“', '‘', '«'])
            || word.contains(|c: char| c.is_ascii_digit())
            || (!begins && word.starts_with(char::is_uppercase))
    };
    let mut begins = true;
    words.into_iter().any(|word| {
        let found = named(word, begins);
        begins = word.ends_with(['.', '!', '?', ':']);
        found
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_for_answers_are_told_from_answers() {
        for (prose, answer) in [
            ("yellow", true),
            ("The code word is Chameleon. It is enough to say it.", true),
            ("It says 'done' and nothing else at all.", true),
            ("The population is 5.6 million people by now.", true),
            (
                "The name of the first listing visible on the screenshot is returned.",
                false,
            ),
            ("The agent returns the list. Any form of it is fine.", false),
        ] {
            assert_eq!(names_something(prose), answer, "{prose}");
        }
    }
}
