//! Plays a list of jobs in parallel. One loop owns all state: it admits what fits, takes in what
//! ended, and stops when asked to. Everything else runs in tasks that share nothing but the table.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use agon_core::verdict::Outcome;
use agon_core::{Fault, FaultClass, TimeSplit, Usage};
use agon_store::{EventsAt, TrialLine};
use tokio::task::{Id, JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::admission::{Admission, Need};
use crate::attempt::Job;
use crate::budget::{RunBudget, Spent};
use crate::error::RunError;
use crate::table::Table;
use crate::trial;

/// How far to look past a trial that can't start yet.
const LOOKAHEAD: usize = 256;

/// The first pause before a retry; each further one is twice as long, up to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

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
}

/// Plays all jobs. What is written when this returns is everything that counts.
pub async fn dispatch(
    table: &Arc<Table>,
    jobs: impl Iterator<Item = Job>,
    options: &Dispatch,
    stop: &CancellationToken,
) -> Result<RunEnd, RunError> {
    let mut dispatcher = Dispatcher {
        table,
        options,
        admission: Admission::new(options.workers, options.memory),
        waiting: VecDeque::new(),
        running: JoinSet::new(),
        jobs: HashMap::new(),
        spent: Spent::default(),
        began: table.clock.monotonic(),
    };
    dispatcher.run(jobs, stop).await
}

struct Dispatcher<'a> {
    table: &'a Arc<Table>,
    options: &'a Dispatch,
    admission: Admission,
    /// Taken from the plan, not started yet.
    waiting: VecDeque<Job>,
    running: JoinSet<io::Result<TrialLine>>,
    jobs: HashMap<Id, (Job, Need)>,
    spent: Spent,
    began: Duration,
}

impl Dispatcher<'_> {
    async fn run(
        &mut self,
        mut plan: impl Iterator<Item = Job>,
        stop: &CancellationToken,
    ) -> Result<RunEnd, RunError> {
        let mut spent = None;
        loop {
            spent = spent.or_else(|| {
                let elapsed = self.table.clock.monotonic().saturating_sub(self.began);
                self.spent.over(&self.options.budget, elapsed)
            });
            if spent.is_none() {
                self.start_what_fits(&mut plan);
            }
            if self.running.is_empty() {
                return Ok(spent.map_or(RunEnd::Complete, RunEnd::BudgetSpent));
            }
            tokio::select! {
                biased;
                () = stop.cancelled() => {
                    self.running.shutdown().await;
                    return Ok(RunEnd::Interrupted);
                }
                Some(ended) = self.running.join_next_with_id() => {
                    if let Err(source) = self.take_in(ended) {
                        self.running.shutdown().await;
                        let folder = self.table.writer.folder().path().display().to_string();
                        return Err(RunError::Write { folder, source });
                    }
                }
            }
        }
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
            let task = play_to_the_end(Arc::clone(self.table), job.clone(), self.options.retries);
            let id = self.running.spawn(task).id();
            self.jobs.insert(id, (job, need));
        }
    }

    fn take_in(&mut self, ended: Result<(Id, io::Result<TrialLine>), JoinError>) -> io::Result<()> {
        let (id, line) = match ended {
            Ok((id, line)) => (id, line),
            Err(error) => (error.id(), self.mishap(&error)),
        };
        if let Some((_, need)) = self.jobs.remove(&id) {
            self.admission.release(&need);
        }
        let line = line?;
        self.spent.add(line.steps, &line.usage);
        Ok(())
    }

    /// A trial's task panicked: a bug of ours, recorded as a fault like any other.
    fn mishap(&self, error: &JoinError) -> io::Result<TrialLine> {
        let Some((job, _)) = self.jobs.get(&error.id()) else {
            return Err(io::Error::other(format!("a task of nobody ended: {error}")));
        };
        let line = TrialLine {
            task: job.task.id.clone(),
            epoch: job.epoch,
            attempt: job.attempt,
            is_final: true,
            outcome: Outcome::Faulted,
            score: 0.0,
            fault: Some(Fault::new(FaultClass::Internal, error)),
            end: None,
            steps: 0,
            seconds: TimeSplit::default(),
            usage: Usage::default(),
            retried: false,
            rerun: job.rerun,
            tainted: false,
            integrity: None,
            reason: String::new(),
            events: EventsAt {
                file: String::new(),
                at: 0,
                bytes: 0,
            },
            work: None,
            key: job.key,
            at: self.table.clock.now(),
        };
        self.table.writer.append_trial(&line)?;
        self.table.watch.ended(&line);
        Ok(line)
    }
}

/// Attempts until one is graded or retries are used up; every attempt is kept.
async fn play_to_the_end(table: Arc<Table>, mut job: Job, retries: u32) -> io::Result<TrialLine> {
    let trial = job.trial();
    let mut left = retries;
    let mut pause = FIRST_PAUSE;
    loop {
        table.watch.started(&trial, job.attempt);
        let mut line = Box::pin(trial::play(&table, job.clone(), left < retries)).await?;
        let again = left > 0
            && line
                .fault
                .as_ref()
                .is_some_and(|fault| fault.class.retryable());
        line.is_final = !again;
        table.writer.append_trial(&line)?;
        table.watch.ended(&line);
        if !again {
            return Ok(line);
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
        left -= 1;
        job.attempt += 1;
    }
}
