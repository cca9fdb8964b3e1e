//! Adds up predictions one by one. Memory grows with tasks and points, never with what was answered.

use std::collections::{BTreeMap, HashMap};

use agon_core::prediction::{CUT_ANSWER, CUT_PROMPT, ScoredPrediction};
use agon_stats::Cluster;
use agon_store::{Manifest, TrialLine};

use super::distance::Points;
use super::summary::{KindScore, PredictionGroup, Predictions, Rate, Unread};
use crate::confidence::Interval;
use crate::text::clip;

/// A reason is at most this many characters long; longer ones differ only in what they quote.
const WHY: usize = 160;
/// From here on a reason says where, and what stood there: that is another in every answer.
const AT: &str = ", at character ";
/// Different reasons that are counted at all: models may make as many as they have answers.
const MOST_REASONS: usize = 1_000;
const TOLD: usize = 10;
/// Actions have four kinds; what a record names beside them is no kind of ours.
const KINDS: [&str; 4] = ["click", "move", "press", "release"];

#[derive(Debug)]
pub(crate) struct PredictionTally {
    metric: String,
    /// By place in the manifest.
    tasks: Vec<TaskTally>,
    unread: HashMap<String, Reason>,
    points: Points,
    cut_answers: u64,
    cut_prompts: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct TaskTally {
    trials: u32,
    score: f64,
    parsed: u32,
    exact: u32,
    kinds: [KindTally; KINDS.len()],
}

#[derive(Debug)]
struct Reason {
    trials: u64,
    /// The whole of the first one.
    example: String,
}

#[derive(Debug, Clone, Copy, Default)]
struct KindTally {
    actions: u32,
    exact: u32,
    score: f64,
}

impl PredictionTally {
    pub(crate) fn new(tasks: usize) -> Self {
        Self {
            metric: String::new(),
            tasks: vec![TaskTally::default(); tasks],
            unread: HashMap::new(),
            points: Points::default(),
            cut_answers: 0,
            cut_prompts: 0,
        }
    }

    pub(crate) fn add(&mut self, place: usize, line: &TrialLine, prediction: &ScoredPrediction) {
        if self.metric.is_empty() {
            self.metric = clip(&prediction.metric, 40);
        }
        let task = &mut self.tasks[place];
        let score = share(line.score);
        task.trials += 1;
        task.score += score;
        task.parsed += u32::from(prediction.parsed);
        task.exact += u32::from(score >= 1.0);
        for action in &prediction.scores {
            let known = KINDS.iter().position(|kind| *kind == action.kind);
            if let Some(kind) = known.and_then(|at| task.kinds.get_mut(at)) {
                let score = share(action.score);
                kind.actions += 1;
                kind.exact += u32::from(score >= 1.0);
                kind.score += score;
            }
        }
        self.points.add(prediction);
        if !prediction.parsed {
            self.add_unread(prediction.why.as_deref().unwrap_or("it does not say why"));
        }
    }

    /// What was noted while the model was asked, one thing per line.
    pub(crate) fn add_notes(&mut self, notes: &[String]) {
        let noted = |what: &str| {
            let mut lines = notes.iter().flat_map(|note| note.lines());
            u64::from(lines.any(|line| line.starts_with(what)))
        };
        self.cut_answers += noted(CUT_ANSWER);
        self.cut_prompts += noted(CUT_PROMPT);
    }

    fn add_unread(&mut self, whole: &str) {
        let why = clip(whole.split(AT).next().unwrap_or_default(), WHY);
        if let Some(reason) = self.unread.get_mut(&why) {
            reason.trials += 1;
        } else if self.unread.len() < MOST_REASONS {
            let example = clip(whole, WHY);
            self.unread.insert(why, Reason { trials: 1, example });
        }
    }

    pub(crate) fn total(&mut self, manifest: &Manifest) -> Option<Predictions> {
        if self.tasks.iter().all(|task| task.trials == 0) {
            return None;
        }
        let mut groups: BTreeMap<&str, Vec<&TaskTally>> = BTreeMap::new();
        for (stamp, task) in manifest.tasks.iter().zip(&self.tasks) {
            groups.entry(stamp.task.category()).or_default().push(task);
        }
        let all: Vec<&TaskTally> = self.tasks.iter().collect();
        let kinds = (0..KINDS.len()).filter_map(|kind| of_kind(&all, kind));
        Some(Predictions {
            overall: group("all", &all),
            groups: groups
                .iter()
                .map(|(name, tasks)| group(name, tasks))
                .collect(),
            kinds: kinds.collect(),
            unread: most_frequent(std::mem::take(&mut self.unread)),
            distances: self.points.total(),
            metric: self.metric.clone(),
            cut_answers: self.cut_answers,
            cut_prompts: self.cut_prompts,
        })
    }
}

/// Numbers of a record, which may be anything.
fn share(score: f64) -> f64 {
    if score.is_nan() {
        0.0
    } else {
        score.clamp(0.0, 1.0)
    }
}

fn group(name: &str, tasks: &[&TaskTally]) -> PredictionGroup {
    let trials: u64 = tasks.iter().map(|task| u64::from(task.trials)).sum();
    let clusters = |of: fn(&TaskTally) -> f64| -> Vec<Cluster> {
        let clusters = tasks.iter().map(|task| Cluster {
            sum: of(task),
            weight: f64::from(task.trials),
        });
        clusters.collect()
    };
    let rate = |of: fn(&TaskTally) -> f64| {
        let clusters = clusters(of);
        let count: f64 = clusters.iter().map(|task| task.sum).sum();
        Rate {
            count: count as u64,
            of: trials,
            share: (trials > 0).then(|| count / trials as f64),
            share_ci: Interval::over_tasks(&clusters),
        }
    };
    let scores = clusters(|task| task.score);
    let sum: f64 = scores.iter().map(|task| task.sum).sum();
    PredictionGroup {
        name: name.to_owned(),
        trials,
        score: (trials > 0).then(|| sum / trials as f64),
        score_ci: Interval::over_tasks(&scores),
        parsed: rate(|task| f64::from(task.parsed)),
        exact: rate(|task| f64::from(task.exact)),
    }
}

fn of_kind(tasks: &[&TaskTally], kind: usize) -> Option<KindScore> {
    let of_task = |task: &&TaskTally| task.kinds.get(kind).copied().unwrap_or_default();
    let kinds: Vec<KindTally> = tasks.iter().map(of_task).collect();
    let actions: u64 = kinds.iter().map(|kind| u64::from(kind.actions)).sum();
    if actions == 0 {
        return None;
    }
    let clusters: Vec<Cluster> = kinds
        .iter()
        .map(|kind| Cluster {
            sum: kind.score,
            weight: f64::from(kind.actions),
        })
        .collect();
    Some(KindScore {
        kind: KINDS.get(kind).copied().unwrap_or_default().to_owned(),
        actions,
        exact: kinds.iter().map(|kind| u64::from(kind.exact)).sum(),
        score: clusters.iter().map(|task| task.sum).sum::<f64>() / actions as f64,
        score_ci: Interval::over_tasks(&clusters),
    })
}

fn most_frequent(counted: HashMap<String, Reason>) -> Vec<Unread> {
    let mut unread: Vec<Unread> = counted
        .into_iter()
        .map(|(why, reason)| Unread {
            why,
            trials: reason.trials,
            example: reason.example,
        })
        .collect();
    unread.sort_by(|a, b| b.trials.cmp(&a.trials).then_with(|| a.why.cmp(&b.why)));
    unread.truncate(TOLD);
    unread
}
