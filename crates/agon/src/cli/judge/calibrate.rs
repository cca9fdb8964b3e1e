//! `agon judge calibrate`: what a judge says beside what people and programs say about the same trials.

use std::collections::BTreeMap;
use std::sync::Arc;

use agon_core::verdict::Outcome;
use agon_core::{EventBody, TaskId, Usage};
use agon_engine::hear;
use agon_grade::Judge;
use agon_llm::{Account, Budget};
use agon_stats::Agreement;
use agon_store::{ReviewVerdict, Reviews, RunReader, TrialLine};
use futures_util::{StreamExt, stream};
use serde::Serialize;

use super::args::{CalibrateArgs, JudgeArgs, JudgeCommand};
use super::show;
use super::weight::{Said, asked, said};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::report::find_run;
use crate::cli::{host, output, signals};

/// Who is taken as right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reference {
    Person,
    Program,
}

/// A trial about which there are two opinions.
#[derive(Debug, Serialize)]
pub(super) struct Opinion {
    pub(super) run: String,
    pub(super) task: TaskId,
    pub(super) epoch: u32,
    pub(super) reference: Reference,
    pub(super) passed: bool,
    pub(super) judge: bool,
    pub(super) confidence: f64,
    pub(super) reasoning: String,
}

/// What came of it.
#[derive(Debug, Default)]
pub(super) struct Calibration {
    pub(super) opinions: Vec<Opinion>,
    /// Trials that the judge could not decide about, and why.
    pub(super) undecided: Vec<(TaskId, String)>,
    /// Trials without anything to compare the judge with.
    pub(super) unknown: u64,
    pub(super) usage: Usage,
}

impl Calibration {
    /// Task by task.
    pub(super) fn agreement(&self, with: Option<Reference>) -> Vec<Agreement> {
        let mut found: BTreeMap<&TaskId, Agreement> = BTreeMap::new();
        let of = |opinion: &&Opinion| with.is_none_or(|with| opinion.reference == with);
        for opinion in self.opinions.iter().filter(of) {
            let task = found.entry(&opinion.task).or_default();
            task.add(opinion.judge, opinion.passed);
        }
        found.into_values().collect()
    }

    pub(super) fn disagreements(&self) -> impl Iterator<Item = &Opinion> {
        let differ = |opinion: &&Opinion| opinion.judge != opinion.passed;
        self.opinions.iter().filter(differ)
    }
}

pub(in crate::cli) async fn judge(command: &JudgeCommand) -> Result<Exit, Failure> {
    let JudgeCommand::Calibrate(args) = command;
    let judge = open(args)?;
    let stop = signals::stop_on_signal(signals::RESUMABLE)?;
    let mut found = Calibration::default();
    // The budget is one for all runs.
    let account = Arc::new(Account::of_run(Budget {
        tokens: args.budget_tokens,
        money: args.budget_money,
    }));
    for name in &args.runs {
        let reader = RunReader::open(&find_run(name)?)?;
        tokio::select! {
            biased;
            () = stop.cancelled() => return Ok(Exit::Interrupted),
            added = compare(&reader, judge.as_ref(), args, &account, &mut found) => added?,
        }
    }
    found.usage = account.spent();
    if found.opinions.is_empty() && found.undecided.is_empty() {
        return Err(Failure::new(match judge {
            Some(_) => {
                "there is no trial about which a person or a program has decided: review some with agon review"
            }
            None => {
                "there is no trial about which a judge and somebody else have said something: give a judge \
                 with --judge, or review judged trials with agon review"
            }
        }));
    }
    if args.json {
        output::json(&show::document(&found))?;
    } else {
        output::data(&show::text(&found))?;
    }
    Ok(if found.undecided.is_empty() {
        Exit::Done
    } else {
        Exit::Faults
    })
}

fn open(args: &CalibrateArgs) -> Result<Option<Judge>, Failure> {
    if args.judge.is_none() {
        return Ok(None);
    }
    let judge = JudgeArgs {
        judge: args.judge.clone(),
        judge_votes: args.judge_votes,
        // Whoever calibrates wants to know it.
        judge_may_be_agent: true,
    };
    judge.open(&args.models.open()?, None)
}

/// Adds what is to be compared in one run.
async fn compare(
    reader: &RunReader,
    judge: Option<&Judge>,
    args: &CalibrateArgs,
    account: &Arc<Account>,
    found: &mut Calibration,
) -> Result<(), Failure> {
    let reviews = Reviews::read(reader.folder())?;
    let mut lines = reader.trials()?;
    lines.retain(|line| line.is_final);
    let workers = args.workers.map_or_else(host::cpus, usize::from);
    let mut heard = stream::iter(lines)
        .map(|line| {
            let reviews = &reviews;
            async move {
                let case = Case::of(reader, reviews, &line)?;
                case.hear(reader, judge, account, line).await
            }
        })
        .buffered(workers.max(1));
    while let Some(heard) = heard.next().await {
        match heard? {
            Heard::Opinion(opinion) => found.opinions.push(opinion),
            Heard::Undecided(task, why) => found.undecided.push((task, why)),
            Heard::Unknown => found.unknown += 1,
        }
    }
    Ok(())
}

enum Heard {
    Opinion(Opinion),
    Undecided(TaskId, String),
    Unknown,
}

/// What is known about a trial without asking anybody.
struct Case {
    /// Whom to believe.
    reference: Option<(Reference, bool)>,
    /// What a judge said when the trial was graded.
    judged: Option<Said>,
}

impl Case {
    fn of(reader: &RunReader, reviews: &Reviews, line: &TrialLine) -> Result<Self, Failure> {
        let checks = match reader.verdict(line)? {
            Some(verdict) => verdict.checks,
            // Those that were carried out before a fault.
            None => reader
                .events(line)?
                .into_iter()
                .filter_map(|event| match event.body {
                    EventBody::Check(check) => Some(check),
                    _ => None,
                })
                .collect(),
        };
        let judged = said(&checks);
        let person = reviews.verdict(line).map(|review| review.verdict);
        let reference = match (person, line.outcome) {
            (Some(verdict), _) => Some((Reference::Person, verdict == ReviewVerdict::Pass)),
            // A verdict that a judge has a part in is none to compare a judge with.
            (None, Outcome::Passed | Outcome::Failed) if !asked(&checks) => {
                Some((Reference::Program, line.outcome == Outcome::Passed))
            }
            (None, _) => None,
        };
        Ok(Self { reference, judged })
    }

    async fn hear(
        self,
        reader: &RunReader,
        judge: Option<&Judge>,
        account: &Arc<Account>,
        line: TrialLine,
    ) -> Result<Heard, Failure> {
        let Some((reference, passed)) = self.reference else {
            return Ok(Heard::Unknown);
        };
        let said = match (judge, self.judged) {
            (Some(judge), _) => match hear(judge, account, reader, &line).await {
                Ok((passed, judged)) => {
                    let vote = judged.votes.iter().find(|vote| vote.passed == passed);
                    Said {
                        passed,
                        confidence: judged.confidence(passed),
                        reasoning: vote.map(|vote| vote.reasoning.clone()).unwrap_or_default(),
                    }
                }
                Err(fault) => return Ok(Heard::Undecided(line.task, fault.to_string())),
            },
            (None, Some(said)) => said,
            (None, None) => return Ok(Heard::Unknown),
        };
        Ok(Heard::Opinion(Opinion {
            run: reader.folder().name(),
            task: line.task,
            epoch: line.epoch,
            reference,
            passed,
            judge: said.passed,
            confidence: said.confidence,
            reasoning: said.reasoning,
        }))
    }
}
