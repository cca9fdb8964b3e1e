//! Plays a list of jobs in parallel. One loop owns all state: it admits what fits, takes in what
//! ended, and stops when asked to. Everything else runs in tasks that share nothing but the table.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use agon_core::{Fault, FaultClass};
use agon_store::{Order, Request, TrialLine};
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::admission::{Admission, Need};
use crate::attempt::Job;
use crate::budget::{Purse, RunBudget, Spent};
use crate::error::RunError;
use crate::halt::Halt;
use crate::orders::Orders;
use crate::table::Table;
use crate::trial;

/// How far to look past a trial that can't start yet.
const LOOKAHEAD: usize = 256;

/// The first pause before a retry; each further one is twice as long, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// For running trials to be ended when the run is stopped.
const ABANDON: Duration = Duration::from_secs(20);

#[derive(Debug, Clone)]
pub struct Dispatch {
    pub workers: usize,
    /// Bytes that all sandboxes together may be allowed.
    pub memory: u64,
    /// How often a faulted attempt is tried again.
    pub retries: u32,
    pub budget: RunBudget,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    Complete,
    /// Asked to stop: what was running is left for a resume.
    Interrupted,
    /// No further trial was started because this is used up.
    BudgetSpent(&'static str),
    /// No further trial was started because the tape has no answer to what an agent of ours asks.
    TapeOutdated,
    /// So many trials could not be graded again and keep the verdict they had.
    Ungraded(u64),
}

/// Plays all jobs. What is written when this returns is everything that counts.
pub async fn dispatch(
    table: &Arc<Table>,
    jobs: impl Iterator<Item = Job>,
    options: &Dispatch,
    spent: Spent,
    stop: &CancellationToken,
) -> Result<RunEnd, RunError> {
    let mut dispatcher = Dispatcher {
        table,
        options,
        admission: Admission::new(options.workers, options.memory),
        waiting: VecDeque::new(),
        running: JoinSet::new(),
        playing: HashMap::new(),
        orders: Orders::new(table.writer.folder()),
        purse: Arc::new(Purse::new(options.budget.clone(), spent, table)),
    };
    let end = dispatcher.run(jobs, stop).await;
    table.removals.finish().await;
    let end = end?;
    table
        .writer
        .flush()
        .map_err(|source| dispatcher.unwritten(source))?;
    Ok(end)
}

/// A trial that runs.
struct Playing {
    job: Job,
    need: Need,
    attempt: Arc<Current>,
}

/// The attempt of a trial that runs.
#[derive(Debug)]
struct Current(Mutex<(u32, Halt)>);

impl Current {
    fn new(attempt: u32) -> Self {
        Self(Mutex::new((attempt, Halt::default())))
    }

    /// Whoever asked for the end of an earlier one did not mean this.
    fn begin(&self, attempt: u32) -> Halt {
        let halt = Halt::default();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = (attempt, halt.clone());
        halt
    }

    fn get(&self) -> (u32, Halt) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

struct Dispatcher<'a> {
    table: &'a Arc<Table>,
    options: &'a Dispatch,
    admission: Admission,
    /// Taken from the plan, not started yet.
    waiting: VecDeque<Job>,
    running: JoinSet<io::Result<()>>,
    playing: HashMap<Id, Playing>,
    orders: Orders,
    purse: Arc<Purse>,
}

impl Dispatcher<'_> {
    async fn run(
        &mut self,
        mut plan: impl Iterator<Item = Job>,
        stop: &CancellationToken,
    ) -> Result<RunEnd, RunError> {
        let mut spent = None;
        loop {
            spent = spent.or_else(|| self.purse.over());
            let outdated = self.table.account.missed_tape();
            if spent.is_none() && !outdated {
                self.start_what_fits(&mut plan);
            }
            if self.running.is_empty() {
                let nothing_left = self.waiting.is_empty() && plan.next().is_none();
                return Ok(match spent {
                    _ if outdated => RunEnd::TapeOutdated,
                    Some(what) if !nothing_left => RunEnd::BudgetSpent(what),
                    _ => RunEnd::Complete,
                });
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => {
                    self.abandon().await;
                    return Ok(RunEnd::Interrupted);
                }
                asked = self.orders.next() => asked.iter().for_each(|request| self.heed(request)),
                Some(ended) = self.running.join_next_with_id() => {
                    if let Err(source) = self.take_in(ended) {
                        self.abandon().await;
                        return Err(self.unwritten(source));
                    }
                }
            }
        }
    }

    fn unwritten(&self, source: io::Error) -> RunError {
        let folder = self.table.writer.folder().path().display().to_string();
        RunError::Write { folder, source }
    }

    /// Does what an operator asks. A trial that does not run, or runs for another time, can't be meant.
    fn heed(&self, request: &Request) {
        let is_meant = |playing: &&Playing| {
            playing.job.task.id == request.task && playing.job.epoch == request.epoch
        };
        for playing in self.playing.values().filter(is_meant) {
            let (attempt, halt) = playing.attempt.get();
            let is_meant = attempt == request.attempt && halt.is_of(request.began);
            match request.order {
                Order::Stop if is_meant => halt.ask(&request.by),
                Order::Stop => {}
            }
        }
    }

    /// Ends what runs. Whatever does not end in time is left to the next start.
    async fn abandon(&mut self) {
        tokio::time::timeout(ABANDON, self.running.shutdown())
            .await
            .ok();
    }

    fn start_what_fits(&mut self, plan: &mut impl Iterator<Item = Job>) {
        while self.admission.has_worker() {
            let mut next = None;
            for at in 0..LOOKAHEAD {
                if at == self.waiting.len() {
                    match plan.next() {
                        Some(job) => self.waiting.push_back(job),
                        None => break,
                    }
                }
                let need = Need::of(&self.waiting[at].task.environment);
                if self.admission.admit(&need) {
                    next = self.waiting.remove(at).map(|job| (job, need));
                    break;
                }
            }
            let Some((job, need)) = next else { return };
            let attempt = Arc::new(Current::new(job.attempt));
            let table = Arc::clone(self.table);
            let retries = match job.task.unplayable {
                Some(_) => 0,
                None => self.options.retries,
            };
            let purse = Arc::clone(&self.purse);
            let task = play_to_the_end(table, purse, job.clone(), retries, Arc::clone(&attempt));
            let id = self.running.spawn(task).id();
            self.playing.insert(id, Playing { job, need, attempt });
        }
    }

    fn take_in(&mut self, ended: Result<(Id, io::Result<()>), JoinError>) -> io::Result<()> {
        let (id, written) = match ended {
            Ok((id, written)) => (id, written),
            Err(error) => (error.id(), self.mishap(&error)),
        };
        if let Some(playing) = self.playing.remove(&id) {
            self.admission.release(&playing.need);
        }
        written
    }

    /// A trial's task panicked: a bug of ours, recorded as a fault like any other.
    fn mishap(&self, error: &JoinError) -> io::Result<()> {
        let Some(Playing { job, attempt, .. }) = self.playing.get(&error.id()) else {
            return Err(io::Error::other(format!("a task of nobody ended: {error}")));
        };
        let fault = Fault::new(FaultClass::Internal, error);
        let events = self.table.writer.no_events()?;
        let (attempt, now) = (attempt.get().0, self.table.clock.now());
        let line = TrialLine {
            is_final: !job.rerun && job.replaces.is_none(),
            retried: job.retried,
            rerun: job.rerun,
            elsewhere: self.table.agents.elsewhere().is_some(),
            ..TrialLine::new(job.trial(), attempt, Err(&fault), events, job.key, now)
        };
        self.table.writer.append_trial(&line)?;
        self.table.watch.ended(&line);
        Ok(())
    }
}

/// Whether another attempt could mend it. Whoever ended this one did not ask for another.
fn wants_another(fault: Option<&Fault>, halt: &Halt) -> bool {
    fault.is_some_and(|fault| fault.class.retryable()) && halt.note().is_none()
}

/// Attempts until one is graded, or retries or the run's budget are used up; every attempt is kept.
async fn play_to_the_end(
    table: Arc<Table>,
    purse: Arc<Purse>,
    mut job: Job,
    retries: u32,
    attempt: Arc<Current>,
) -> io::Result<()> {
    let trial = job.trial();
    let mut left = retries;
    let mut pause = FIRST_PAUSE;
    loop {
        let halt = attempt.begin(job.attempt);
        table.watch.started(&trial, job.attempt);
        let mut line = trial::play(&table, job.clone(), halt.clone()).await?;
        purse.book(&line);
        let faulted = line.fault.as_ref();
        let again = left > 0 && purse.over().is_none() && wants_another(faulted, &halt);
        // A second draw stands beside the first verdict and never takes its place.
        line.is_final = !again && !job.rerun;
        table.writer.append_trial(&line)?;
        if let (true, Some(old)) = (line.is_final, job.replaces) {
            table.writer.withdraw(old)?;
        }
        table.watch.ended(&line);
        if !again {
            return Ok(());
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
        left -= 1;
        job.attempt += 1;
        job.retried = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_operator_ended_is_not_played_again() {
        let fault = Fault::new(FaultClass::Environment, "the machine is gone");
        let mended = Fault::new(FaultClass::NeedsJudge, "no judge");
        let (asked, halt) = (Halt::default(), Halt::default());
        asked.ask("");
        assert!(wants_another(Some(&fault), &halt));
        assert!(!wants_another(Some(&fault), &asked));
        assert!(!wants_another(Some(&mended), &halt));
        assert!(!wants_another(None, &halt));
    }
}
