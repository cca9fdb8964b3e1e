//! Looks for the tasks' answers in an agent's own files before anything is played. What is found stops nothing:
//! it is told at once, recorded, and shown in every report.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;

use agon_agent::Bundle;
use agon_core::Task;
use agon_store::{AgentFiles, AnswerSign};
use agon_suite::AnswerSearch;

use super::failure::Failure;

/// What is looked at of one file.
const MOST_OF_A_FILE: u64 = 512 << 20;
/// Signs that the record holds.
const MOST_SIGNS: usize = 100;

/// Adds what was found to the record of the agent's files.
pub(super) fn look(bundle: &Bundle, tasks: &[Task], about: &mut AgentFiles) -> Result<(), Failure> {
    let search = AnswerSearch::of(tasks.iter());
    let mut answered = BTreeSet::new();
    for (file, path) in bundle.files() {
        let failed = |error| Failure::new(format_args!("can't read the agent's {file}: {error}"));
        let content = File::open(&path).map_err(failed)?;
        for found in search
            .look_into(content.take(MOST_OF_A_FILE))
            .map_err(failed)?
        {
            answered.insert(found.task.clone());
            if about.answers.len() < MOST_SIGNS {
                about.answers.push(AnswerSign {
                    file: file.clone(),
                    task: found.task,
                    what: found.what,
                });
            }
        }
    }
    about.answered_tasks = answered.len() as u64;
    Ok(())
}

/// What people are told before the first trial.
pub(super) fn warning(about: &AgentFiles) -> Option<String> {
    let sign = about.answers.first()?;
    let tasks = match about.answered_tasks {
        1 => sign.task.to_string(),
        many => format!("{many} tasks, such as {}", sign.task),
    };
    Some(format!(
        "warning: the agent's own files hold answers of {tasks} ({}: {}); every report will say so",
        sign.file, sign.what
    ))
}
