//! What people see while a run goes on: bars on a terminal, a line per ended attempt elsewhere.
//! Trials report here at full speed; the screen is drawn a few times a second by one thread.

use std::collections::HashMap;
use std::fmt::Write;
use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agon_core::TrialId;
use agon_core::event::Phase;
use agon_core::verdict::Outcome;
use agon_engine::{Mode, Watch};
use agon_store::TrialLine;
use indicatif::{
    HumanDuration, MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle,
};

use super::output;

/// More running trials than this are not shown one by one.
const SHOWN: usize = 8;

/// Bars or lines, whichever standard error can show.
pub(super) fn watch(mode: Mode) -> Box<dyn Watch> {
    if std::io::stderr().is_terminal() {
        Box::new(Bars::new())
    } else {
        Box::new(Lines {
            verb: match mode {
                Mode::RunAll | Mode::RerunFailed => "play",
                Mode::ValidateOnly => "grade again",
            },
            state: Mutex::default(),
        })
    }
}

#[derive(Debug, Default)]
struct Counts {
    passed: u64,
    failed: u64,
    faulted: u64,
    retried: u64,
}

/// Whether nothing more is played of its trial: a further draw never is final.
fn is_done(line: &TrialLine) -> bool {
    line.is_final || (line.is_further_draw() && line.fault.is_none())
}

impl Counts {
    fn add(&mut self, line: &TrialLine) {
        match line.outcome {
            _ if !is_done(line) => self.retried += 1,
            Outcome::Passed => self.passed += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Faulted => self.faulted += 1,
        }
    }

    fn text(&self) -> String {
        let mut text = format!("{} passed, {} failed", self.passed, self.failed);
        for (count, name) in [(self.faulted, "faulted"), (self.retried, "retried")] {
            if count > 0 {
                text += &format!(", {count} {name}");
            }
        }
        text
    }
}

#[derive(Debug)]
struct Bars {
    screen: MultiProgress,
    overall: ProgressBar,
    /// Trials that ended since we look on; those done before say nothing about speed.
    ended: Arc<AtomicU64>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    counts: Counts,
    running: HashMap<TrialId, ProgressBar>,
}

impl Bars {
    fn new() -> Self {
        let screen = MultiProgress::with_draw_target(ProgressDrawTarget::stderr_with_hz(10));
        let overall = screen.add(ProgressBar::new(0));
        let ended = Arc::new(AtomicU64::new(0));
        let rate = Arc::clone(&ended);
        let template = "{elapsed_precise} [{bar:30}] {pos}/{len} {rate:>8} left {left:>6}  {msg}";
        overall.set_style(
            style(template)
                .with_key("rate", {
                    let rate = Arc::clone(&rate);
                    move |state: &ProgressState, out: &mut dyn Write| {
                        write!(out, "{:.1}/s", per_second(&rate, state)).ok();
                    }
                })
                .with_key("left", move |state: &ProgressState, out: &mut dyn Write| {
                    if per_second(&rate, state) <= 0.0 {
                        write!(out, "-").ok();
                        return;
                    }
                    let left = state.len().unwrap_or(0).saturating_sub(state.pos()) as f64;
                    let seconds = (left / per_second(&rate, state)).min(1e9);
                    let left = Duration::from_secs_f64(seconds.max(0.0).floor());
                    write!(out, "{:#}", HumanDuration(left)).ok();
                }),
        );
        overall.enable_steady_tick(Duration::from_millis(250));
        Self {
            screen,
            overall,
            ended,
            state: Mutex::default(),
        }
    }

    fn with_bar(&self, trial: &TrialId, change: impl FnOnce(&ProgressBar)) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = state.running.get(trial) {
            change(bar);
        }
    }
}

/// Trials per second since we look on.
fn per_second(ended: &AtomicU64, state: &ProgressState) -> f64 {
    ended.load(Ordering::Relaxed) as f64 / state.elapsed().as_secs_f64().max(1e-3)
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    style
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

impl Watch for Bars {
    fn planned(&self, left: u64, done: u64) {
        self.overall.set_length(left + done);
        self.overall.set_position(done);
        self.overall.reset_elapsed();
    }

    fn started(&self, trial: &TrialId, attempt: u32) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.running.len() >= SHOWN && !state.running.contains_key(trial) {
            return;
        }
        let bar = self.screen.add(ProgressBar::new_spinner());
        bar.set_style(style("  {spinner} {elapsed:>4} {prefix} {msg}"));
        let again = if attempt > 1 {
            format!(" (attempt {attempt})")
        } else {
            String::new()
        };
        bar.set_prefix(format!("{trial}{again}"));
        if let Some(old) = state.running.insert(trial.clone(), bar) {
            old.finish_and_clear();
        }
    }

    fn phase(&self, trial: &TrialId, phase: Phase) {
        self.with_bar(trial, |bar| bar.set_message(phase.name()));
    }

    fn step(&self, trial: &TrialId, step: u32, of: u32) {
        self.with_bar(trial, |bar| bar.set_message(format!("step {step} of {of}")));
    }

    fn ended(&self, line: &TrialLine) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.counts.add(line);
        let trial = TrialId {
            task: line.task.clone(),
            epoch: line.epoch,
        };
        if let Some(bar) = state.running.remove(&trial) {
            bar.finish_and_clear();
        }
        if is_done(line) {
            self.ended.fetch_add(1, Ordering::Relaxed);
            self.overall.inc(1);
        }
        self.overall.set_message(state.counts.text());
    }

    fn note(&self, text: &str) {
        self.screen.println(text).ok();
    }
}

impl Drop for Bars {
    fn drop(&mut self) {
        self.screen.clear().ok();
    }
}

/// For logs and pipes. A line per attempt up to a point; then one for every hundredth of the run.
#[derive(Debug)]
struct Lines {
    /// What is done with the trials.
    verb: &'static str,
    state: Mutex<LineState>,
}

#[derive(Debug, Default)]
struct LineState {
    counts: Counts,
    ended: u64,
    planned: u64,
}

/// Runs up to this size are told trial by trial.
const SMALL_RUN: u64 = 500;

impl Watch for Lines {
    fn planned(&self, left: u64, done: u64) {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .planned = left;
        let before = if done > 0 {
            format!(", {done} done before")
        } else {
            String::new()
        };
        let trials = output::count(left, "trial");
        output::say(&format!("{trials} to {}{before}", self.verb));
    }

    fn ended(&self, line: &TrialLine) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.counts.add(line);
        state.ended += u64::from(is_done(line));
        let (ended, planned) = (state.ended, state.planned);
        if planned <= SMALL_RUN {
            output::say(&told(line, ended, planned));
        } else if is_done(line) && (ended % (planned / 100).max(1) == 0 || ended == planned) {
            output::say(&format!("[{ended}/{planned}] {}", state.counts.text()));
        }
    }

    fn note(&self, text: &str) {
        output::say(text);
    }
}

fn told(line: &TrialLine, ended: u64, planned: u64) -> String {
    let why = match &line.fault {
        Some(fault) if line.is_final => fault.to_string(),
        Some(fault) => format!("{fault}; trying again"),
        None => line.reason.clone(),
    };
    let mut why = if why.is_empty() {
        why
    } else {
        format!("  {}", output::plain(&why))
    };
    if line.is_further_draw() {
        why += "  (a further draw: the first verdict counts)";
    }
    format!(
        "[{ended}/{planned}] {:<7} {}#{}  {}, {:.1} s{why}",
        line.outcome.name(),
        line.task,
        line.epoch,
        output::count(line.steps.into(), "step"),
        line.seconds.total()
    )
}
