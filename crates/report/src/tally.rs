//! Adds up a run line by line. Memory grows with the number of tasks and by a few bytes per trial;
//! the lines themselves are never kept.

use std::collections::BTreeMap;

use agon_core::prediction::ScoredPrediction;
use agon_core::verdict::{Outcome, TurnEnd};
use agon_core::{FaultClass, Level, TimeSplit};
use agon_stats::{Cluster, Spread, pass_all_k, pass_at_k};
use agon_store::{Audit, Manifest, Reviews, TaskStamp, TrialLine};

use crate::again::Again;
use crate::caveat::{CaveatFacts, caveats};
use crate::confidence::Interval;
use crate::measured::Measurements;
use crate::people::{People, Seen};
use crate::plan::{Part, Plan};
use crate::prediction::{PredictionTally, is_prediction_run};
use crate::summary::{
    Bin, EndCount, FaultCount, Group, Marks, MatrixCell, MatrixRow, Repeat, Standing, StepCounts,
    Summary, TimeSpent, Weighted,
};
use crate::text::clip;
use crate::usage::{TaskUsage, UsageTotal};

/// An example message in a summary is at most this many characters long.
const EXAMPLE: usize = 300;
const BINS: u32 = 20;

#[derive(Debug)]
pub struct Tally<'a> {
    manifest: &'a Manifest,
    plan: Plan<'a>,
    /// By place in the manifest.
    tasks: Vec<TaskTally>,
    /// What people say, and what it comes to.
    reviews: Reviews,
    people: People,
    steps: Vec<f64>,
    seconds: Vec<f64>,
    usage: UsageTotal,
    judge: UsageTotal,
    faults: Vec<FaultCount>,
    ends: Vec<EndCount>,
    marks: Marks,
    again: Again,
    record: Option<Audit>,
    measured: Measurements,
    /// Of runs that are about them.
    predictions: Option<PredictionTally>,
}

#[derive(Debug, Clone, Default)]
struct TaskTally {
    passed: u32,
    failed: u32,
    faulted: u32,
    /// Sum over graded trials.
    score: f64,
    seconds: TimeSplit,
    usage: UsageTotal,
}

impl TaskTally {
    fn graded(&self) -> f64 {
        f64::from(self.passed) + f64::from(self.failed)
    }

    fn scores(&self) -> Cluster {
        Cluster {
            sum: self.score,
            weight: self.graded(),
        }
    }
}

impl<'a> Tally<'a> {
    /// `record`: how the run folder agrees with itself, if there is one.
    pub fn new(manifest: &'a Manifest, reviews: Reviews, record: Option<Audit>) -> Self {
        let plan = Plan::new(manifest);
        let begun = record
            .as_ref()
            .map_or(&[][..], |record| &record.never_ended);
        Self {
            again: Again::new(&plan, begun),
            record,
            reviews,
            people: People::default(),
            judge: UsageTotal::default(),
            manifest,
            plan,
            tasks: vec![TaskTally::default(); manifest.tasks.len()],
            steps: Vec::new(),
            seconds: Vec::new(),
            usage: UsageTotal::default(),
            faults: Vec::new(),
            ends: Vec::new(),
            marks: Marks::default(),
            measured: Measurements::new(manifest.tasks.len()),
            predictions: is_prediction_run(manifest)
                .then(|| PredictionTally::new(manifest.tasks.len())),
        }
    }

    /// Returns the place of the task whose graded result it is.
    pub fn add(&mut self, line: &TrialLine) -> Option<usize> {
        let mut result = None;
        let place = match self.plan.place(line) {
            Part::Stray => {
                self.marks.stray_lines += 1;
                return None;
            }
            Part::Earlier(place) => {
                if line.is_further_draw() {
                    self.again.add_draw(place, line);
                }
                place
            }
            Part::Final(place) => {
                let graded = self.add_result(place, line);
                result = graded.then_some(place);
                place
            }
        };
        self.marks.attempts += 1;
        // What was only graded again has been played, and counted, before; but not its judge.
        let used = if line.regraded {
            &line.judge
        } else {
            &line.usage
        };
        self.tasks[place].usage.add(used);
        self.usage.add(used);
        self.judge.add(&line.judge);
        if !line.regraded {
            self.tasks[place].seconds += line.seconds;
        }
        result
    }

    /// What was predicted in a trial whose line was added.
    pub(crate) fn add_prediction(
        &mut self,
        place: usize,
        line: &TrialLine,
        prediction: &ScoredPrediction,
        notes: &[String],
    ) {
        if let Some(predictions) = &mut self.predictions {
            predictions.add(place, line, prediction);
            predictions.add_notes(notes);
        }
    }

    /// Whether it counts as graded.
    fn add_result(&mut self, place: usize, line: &TrialLine) -> bool {
        let seen;
        let line = if self.reviews.is_empty() {
            line
        } else {
            seen = Seen::new(line.clone(), &self.reviews);
            self.people.add(&seen);
            &seen.line
        };
        if line.key != self.manifest.tasks[place].key {
            self.marks.other_checks += 1;
        }
        let task = &mut self.tasks[place];
        match line.outcome {
            Outcome::Passed => task.passed += 1,
            Outcome::Failed => task.failed += 1,
            Outcome::Faulted => task.faulted += 1,
        }
        if line.outcome == Outcome::Faulted {
            self.add_fault(line);
        } else {
            task.score += trial_score(line.score);
            self.marks.odd_scores += u64::from(!(0.0..=1.0).contains(&line.score));
            self.measured.add(place, line);
            self.steps.push(f64::from(line.steps));
            self.seconds.push(line.seconds.total());
            if let Some(end) = line.end {
                self.add_end(end);
            }
        }
        self.marks.retried += u64::from(line.retried);
        self.marks.rerun += u64::from(line.rerun);
        self.marks.tainted += u64::from(line.tainted);
        self.marks.integrity += u64::from(line.integrity.is_some());
        self.marks.stopped += u64::from(line.end == Some(TurnEnd::Operator));
        line.outcome != Outcome::Faulted
    }

    fn add_fault(&mut self, line: &TrialLine) {
        let (class, message) = match &line.fault {
            Some(fault) => (fault.class, fault.message.as_str()),
            None => (FaultClass::Internal, "no fault was recorded"),
        };
        match self.faults.iter_mut().find(|count| count.class == class) {
            Some(count) => count.trials += 1,
            None => self.faults.push(FaultCount {
                class,
                trials: 1,
                example: clip(message, EXAMPLE),
            }),
        }
    }

    fn add_end(&mut self, end: TurnEnd) {
        match self.ends.iter_mut().find(|count| count.end == end) {
            Some(count) => count.trials += 1,
            None => self.ends.push(EndCount { end, trials: 1 }),
        }
    }

    /// What was played more than once, for those who list trials.
    pub(crate) fn again(&self) -> Again {
        self.again.clone()
    }

    pub fn summary(mut self) -> Summary {
        let all: Vec<usize> = (0..self.tasks.len()).collect();
        let overall = self.standing(&all);
        let (levels, categories, matrix) = self.breakdown();
        let passes = self.clusters(&all, |task| Cluster {
            sum: f64::from(task.passed),
            weight: task.graded(),
        });
        self.faults
            .sort_by_key(|fault| (std::cmp::Reverse(fault.trials), fault.class.name()));
        self.ends
            .sort_by_key(|end| (std::cmp::Reverse(end.trials), end.end.name()));
        let predictions = self.predictions.as_mut();
        let predictions = predictions.and_then(|all| all.total(self.manifest));
        // What is measured there are distances, which are told as such.
        let measured = match &predictions {
            Some(_) => None,
            None => self.measured.total(self.manifest),
        };
        self.marks.unread_reviews = self.reviews.unread();
        let people = std::mem::take(&mut self.people).total();
        let draws = self.again.draws();
        self.marks.rerun += draws.map_or(0, |draws| draws.trials);
        let never_ended = self.again.list(self.manifest);
        let attempts = never_ended.iter().map(|trial| trial.attempts.len() as u64);
        self.marks.never_ended = attempts.sum();
        Summary {
            caveats: caveats(
                self.manifest,
                &overall,
                &self.marks,
                &CaveatFacts {
                    predictions: predictions.as_ref(),
                    people: people.as_ref(),
                    draws,
                    record: self.record.as_ref(),
                },
            ),
            draws,
            never_ended,
            record: self.record.take(),
            pass_rate: mean(&passes),
            pass_rate_ci: self.interval(&passes),
            weighted: self.weighted(),
            repeats: self.repeats(),
            levels,
            categories,
            matrix,
            steps: step_counts(&mut self.steps),
            seconds: time_spent(overall.seconds, &mut self.seconds),
            task_usage: self.task_usage(),
            usage: self.usage,
            judge: (self.judge.reported > 0).then_some(self.judge),
            people,
            faults: self.faults,
            turn_ends: self.ends,
            marks: self.marks,
            measured,
            predictions,
            overall,
        }
    }

    fn task_usage(&self) -> Vec<TaskUsage> {
        let used = self.manifest.tasks.iter().zip(&self.tasks);
        used.filter(|(_, task)| task.usage.reported > 0)
            .map(|(stamp, task)| TaskUsage {
                task: stamp.task.to_string(),
                usage: task.usage.clone(),
            })
            .collect()
    }

    fn clusters(&self, places: &[usize], of: impl Fn(&TaskTally) -> Cluster) -> Vec<Cluster> {
        places.iter().map(|place| of(&self.tasks[*place])).collect()
    }

    fn standing(&self, places: &[usize]) -> Standing {
        let scores = self.clusters(places, TaskTally::scores);
        Standing {
            score_ci: self.interval(&scores),
            ..self.counted(places)
        }
    }

    /// A run of one task can speak of attempts at it, and of nothing else.
    fn interval(&self, clusters: &[Cluster]) -> Option<Interval> {
        match (self.tasks.as_slice(), mean(clusters)) {
            ([only], Some(mean)) => {
                let attempts = only.graded();
                Interval::over_attempts(mean * attempts, attempts as u64)
            }
            _ => Interval::over_tasks(clusters),
        }
    }

    /// A standing without an interval, which says little about few trials.
    fn counted(&self, places: &[usize]) -> Standing {
        let mut standing = Standing {
            tasks: places.len() as u64,
            trials: places.len() as u64 * u64::from(self.manifest.epochs),
            ..Standing::default()
        };
        for place in places {
            let task = &self.tasks[*place];
            standing.passed += u64::from(task.passed);
            standing.failed += u64::from(task.failed);
            standing.faulted += u64::from(task.faulted);
            standing.seconds += task.seconds;
        }
        standing.missing = standing.trials - standing.graded() - standing.faulted;
        standing.coverage = share(standing.graded() as f64, standing.trials as f64);
        let scores = self.clusters(places, TaskTally::scores);
        standing.score = mean(&scores);
        let total: f64 = scores.iter().map(|task| task.sum).sum();
        standing.score_floor = share(total, standing.trials as f64);
        standing
    }

    fn weighted(&self) -> Weighted {
        let stamped = self.manifest.tasks.iter().map(task_weight).zip(&self.tasks);
        let clusters: Vec<Cluster> = stamped
            .map(|(weight, task)| Cluster {
                sum: weight * task.score,
                weight: weight * task.graded(),
            })
            .collect();
        let planned: f64 = self.manifest.tasks.iter().map(task_weight).sum();
        let total: f64 = clusters.iter().map(|task| task.sum).sum();
        Weighted {
            score: mean(&clusters),
            score_ci: self.interval(&clusters),
            score_floor: share(total, planned * f64::from(self.manifest.epochs)),
        }
    }

    fn repeats(&self) -> Vec<Repeat> {
        let epochs = self.manifest.epochs;
        if epochs < 2 {
            return Vec::new();
        }
        let mut ks: Vec<u32> = (0..u32::BITS).map(|power| 1 << power).collect();
        ks.retain(|k| *k < epochs);
        ks.push(epochs);
        ks.into_iter().filter_map(|k| self.repeat(k)).collect()
    }

    fn repeat(&self, k: u32) -> Option<Repeat> {
        let estimate = |of: fn(u64, u64, u64) -> Option<f64>| -> Vec<Cluster> {
            let values = self.tasks.iter().filter_map(|task| {
                let (passed, failed) = (u64::from(task.passed), u64::from(task.failed));
                of(passed + failed, passed, u64::from(k))
            });
            values.map(|sum| Cluster { sum, weight: 1.0 }).collect()
        };
        let (any, all) = (estimate(pass_at_k), estimate(pass_all_k));
        Some(Repeat {
            k,
            tasks: any.len() as u64,
            pass_at: mean(&any)?,
            pass_at_ci: Interval::over_tasks(&any),
            pass_all: mean(&all)?,
            pass_all_ci: Interval::over_tasks(&all),
        })
    }

    fn breakdown(&self) -> (Vec<Group>, Vec<Group>, Vec<MatrixRow>) {
        let mut levels: BTreeMap<LevelKey, Vec<usize>> = BTreeMap::new();
        let mut rows: BTreeMap<&str, BTreeMap<LevelKey, Vec<usize>>> = BTreeMap::new();
        for (place, stamp) in self.manifest.tasks.iter().enumerate() {
            let key = LevelKey::of(stamp.level);
            levels.entry(key).or_default().push(place);
            let row = rows.entry(stamp.task.category()).or_default();
            row.entry(key).or_default().push(place);
        }
        let group = |name: &str, places: &[usize]| Group {
            name: name.to_owned(),
            standing: self.standing(places),
        };
        let levels = levels.iter().map(|(key, places)| group(key.name(), places));
        let categories = rows.iter().map(|(name, row)| {
            let places: Vec<usize> = row.values().flatten().copied().collect();
            group(name, &places)
        });
        let matrix = rows.iter().map(|(name, row)| MatrixRow {
            category: (*name).to_owned(),
            cells: row
                .iter()
                .map(|(key, places)| MatrixCell {
                    level: key.name().to_owned(),
                    standing: self.counted(places),
                })
                .collect(),
        });
        (levels.collect(), categories.collect(), matrix.collect())
    }
}

/// Levels in order, with "no level" after all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LevelKey {
    Known(Level),
    Unknown,
}

impl LevelKey {
    fn of(level: Option<Level>) -> Self {
        level.map_or(Self::Unknown, Self::Known)
    }
    const fn name(self) -> &'static str {
        match self {
            Self::Known(level) => level.name(),
            Self::Unknown => "no level",
        }
    }
}

/// A score outside of 0 to 1 was not written by us: it must not bend a mean, and every report tells of it.
pub(crate) fn trial_score(score: f64) -> f64 {
    if score.is_nan() {
        0.0
    } else {
        score.clamp(0.0, 1.0)
    }
}

fn task_weight(stamp: &TaskStamp) -> f64 {
    if stamp.weight.is_finite() {
        stamp.weight.max(0.0)
    } else {
        0.0
    }
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn mean(clusters: &[Cluster]) -> Option<f64> {
    let weight: f64 = clusters.iter().map(|task| task.weight).sum();
    let sum: f64 = clusters.iter().map(|task| task.sum).sum();
    (weight > 0.0).then(|| sum / weight)
}

fn time_spent(split: TimeSplit, seconds: &mut [f64]) -> TimeSpent {
    let spread = Spread::of(seconds);
    TimeSpent {
        split,
        mean: spread.map(|spread| spread.mean),
        median: spread.map(|spread| spread.median),
        max: spread.map(|spread| spread.max),
    }
}

fn step_counts(steps: &mut [f64]) -> Option<StepCounts> {
    let spread = Spread::of(steps)?;
    let (least, most) = (*steps.first()? as u32, spread.max as u32);
    let width = (most - least) / BINS + 1;
    let mut histogram: Vec<Bin> = (0..=(most - least) / width)
        .map(|bin| least + bin * width)
        .map(|from| Bin {
            from,
            to: from.saturating_add(width - 1),
            trials: 0,
        })
        .collect();
    for step in steps.iter() {
        histogram[((*step as u32 - least) / width) as usize].trials += 1;
    }
    Some(StepCounts {
        mean: spread.mean,
        median: spread.median,
        max: most,
        histogram,
    })
}
