//! Games of Hexagon Run, played by `agon arena run` and judged from the screen; the game itself writes
//! down the truth. Used to measure and to soak.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::console;
use crate::failure::{Failure, Trying};

/// How games are played.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Play<'a> {
    pub(crate) agon: &'a Path,
    /// Where tasks, reports and the game's own scores go.
    pub(crate) folder: &'a Path,
    pub(crate) agent: &'a str,
    /// Seeds from 1 on.
    pub(crate) games: u32,
    /// At the same time.
    pub(crate) workers: u32,
    /// Whole seconds of a game at most.
    pub(crate) seconds: u32,
}

/// One game, as the evaluator saw it and as it was.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Game {
    pub(crate) task: String,
    /// From the screen; `None` where it could not be read, and that was said.
    pub(crate) read: Option<f64>,
    /// From the game; `None` where it was still running.
    pub(crate) truth: Option<f64>,
}

impl Game {
    /// Whether a wrong score was given out for a right one.
    pub(crate) fn is_silently_wrong(&self) -> bool {
        self.read.is_some() && self.read != self.truth
    }
}

pub(crate) fn play(play: &Play<'_>) -> Result<Vec<Game>, Failure> {
    let folder = play.folder.join(format!("{}-{}", play.agent, play.workers));
    std::fs::create_dir_all(&folder).trying(format!("make {}", folder.display()))?;
    let mut truths = BTreeMap::new();
    let mut tasks = String::new();
    for seed in 1..=play.games {
        let (id, truth) = (
            format!("game-{seed}"),
            folder.join(format!("truth-{seed}.jsonl")),
        );
        let app = format!("hexagon --seed {seed} --score-file '{}'", truth.display());
        let task = json!({
            "task_id": id,
            "env_name": "Hexagon Run",
            "window_name": "Hexagon Run",
            "task_description": "Stay alive.",
            "timeout": play.seconds,
            "check_env_interval_seconds": 0.5,
            "success_criteria": { "time_survived": 1 },
            "apps": [app],
            "screen": "480x360",
        });
        tasks += &format!("{task}\n");
        truths.insert(id, truth);
    }
    let file = folder.join("tasks.jsonl");
    std::fs::write(&file, tasks).trying(format!("write {}", file.display()))?;
    let output = console::output(
        Command::new(play.agon)
            .args(["arena", "run"])
            .arg(&file)
            .args(["--agent", play.agent, "--evaluator", "hexagon", "--json"])
            .args(["--parallel", "--workers", &play.workers.to_string()])
            .arg("--report")
            .arg(folder.join("report.jsonl")),
    )?;
    output
        .lines()
        .map(|line| {
            let result: Value = serde_json::from_str(line).trying(format!("read `{line}`"))?;
            game(&result, &truths)
        })
        .collect()
}

fn game(result: &Value, truths: &BTreeMap<String, PathBuf>) -> Result<Game, Failure> {
    let odd = || Failure::new(format!("`{result}` is no result of a game"));
    let task = result["task_id"].as_str().ok_or_else(odd)?;
    let truth = truths.get(task).ok_or_else(odd)?;
    let score = result["metrics"]["score"].as_f64().ok_or_else(odd)?;
    // A game that goes on has written nothing yet.
    let truth = std::fs::read_to_string(truth).unwrap_or_default();
    let truth = truth.lines().next_back().map(|line| {
        let line: Value = serde_json::from_str(line).trying(format!("read `{line}`"))?;
        line["score"].as_f64().ok_or_else(odd)
    });
    Ok(Game {
        task: task.to_owned(),
        read: (score >= 0.0).then_some(score),
        truth: truth.transpose()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_that_was_not_read_is_no_silent_error() {
        let game = |read, truth| Game {
            task: "a".to_owned(),
            read,
            truth,
        };
        assert!(!game(Some(2.26), Some(2.26)).is_silently_wrong());
        assert!(!game(None, Some(2.26)).is_silently_wrong());
        assert!(game(Some(226.0), Some(2.26)).is_silently_wrong());
        assert!(game(Some(2.26), None).is_silently_wrong());
    }

    #[test]
    fn a_result_is_compared_with_the_last_score_of_its_game() {
        let folder = std::env::temp_dir().join(format!("agon-games-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("truth.jsonl");
        std::fs::write(&file, "{\"score\":1.5}\n{\"score\":2.26}\n").unwrap();
        let truths = BTreeMap::from([("a".to_owned(), file)]);
        let result = json!({"task_id": "a", "metrics": {"score": -1}, "notes": null});
        let read = game(&result, &truths).unwrap();
        assert_eq!((read.read, read.truth), (None, Some(2.26)));
        assert!(game(&json!({"task_id": "b", "metrics": {"score": 1}}), &truths).is_err());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
