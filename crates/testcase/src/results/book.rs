//! The result of one trial, made from its record, in the original's form.

use std::collections::HashMap;

use agon_core::screen::ScreenMoment;
use agon_core::verdict::{CheckResult, Outcome, TurnEnd, Verdict};
use agon_core::{Event, EventBody, Picture, RanCommand, Source, Task, TaskId};
use agon_store::{Manifest, ReviewVerdict, Reviews, RunReader, StoreError, TaskStamp, TrialLine};
use jiff::Timestamp;
use serde_json::Value;

use super::action::Words;
use super::case::{NO_SETUP, level_name};
use super::error::ResultsError;
use super::kept::KeptRun;
use super::picture;
use super::schema::{CheckRow, CommandOutput, NO_ANSWER, NO_SCORE, Step, TestCase, TestCaseRun};
use super::told::ending;

/// Cases of a run, as they were asked for.
pub type Cases = HashMap<TaskId, TestCase>;

/// Of all tasks that were played.
pub fn cases(tasks: &[Task]) -> Cases {
    let case = |task: &Task| (task.id.clone(), TestCase::of(task));
    tasks.iter().map(case).collect()
}

/// What is known of a run's cases beside their records.
#[derive(Debug, Clone, Default)]
pub struct Book {
    cases: Cases,
    stamps: HashMap<TaskId, TaskStamp>,
    agent_yaml: String,
    agent_model: String,
}

impl Book {
    /// Of a case that is not among `cases`, only what its record tells is known.
    pub fn new(manifest: &Manifest, cases: Cases) -> Self {
        let stamp = |stamp: &TaskStamp| (stamp.task.clone(), stamp.clone());
        let model = manifest.models.first();
        Self {
            cases,
            stamps: manifest.tasks.iter().map(stamp).collect(),
            agent_yaml: manifest.agent.spec.clone(),
            agent_model: model.map_or_else(String::new, |model| model.name.clone()),
        }
    }

    /// What stands for the agent in all files.
    #[must_use]
    pub fn with_agent(mut self, agent_yaml: impl Into<String>) -> Self {
        self.agent_yaml = agent_yaml.into();
        self
    }

    /// `None` for a fault: the original has no file for what it could not run.
    pub fn result(
        &self,
        reader: &RunReader,
        reviews: &Reviews,
        line: &TrialLine,
    ) -> Result<Option<TestCaseRun>, ResultsError> {
        let events = reader.events(line)?;
        let kept = KeptRun::find(&events, reader.folder())
            .map_err(ResultsError::io("can't read", reader.folder().path()))?;
        let mut run = match kept {
            Some(kept) => kept.restored(|picture| reader.picture(picture))?,
            None if line.outcome == Outcome::Faulted => return Ok(None),
            None => self.played(reader, line, &events)?,
        };
        if line.regraded || run.ai_score < 0.0 {
            graded(&mut run, line, &events);
        }
        reviewed(&mut run, reviews, line);
        Ok(Some(run))
    }

    fn played(
        &self,
        reader: &RunReader,
        line: &TrialLine,
        events: &[Event],
    ) -> Result<TestCaseRun, StoreError> {
        let stamp = self.stamps.get(&line.task);
        let case = match self.cases.get(&line.task) {
            Some(case) => case.clone(),
            None => recorded(line, stamp, events),
        };
        let mut run = TestCaseRun::of(case, stamp.map_or(0, |stamp| stamp.steps));
        if let Some(image) = stamp.and_then(|stamp| stamp.image.as_deref()) {
            // Its digest stands behind it.
            run.desktop_image = image.split(" (").next().unwrap_or(image).to_owned();
        }
        run.agent_yaml.clone_from(&self.agent_yaml);
        run.agent_model.clone_from(&self.agent_model);
        run.status = Some(status(line.end).to_owned());
        let used = |all: u64, judge: u64| all.saturating_sub(judge);
        run.input_tokens = used(line.usage.input_tokens, line.judge.input_tokens);
        run.output_tokens = used(line.usage.output_tokens, line.judge.output_tokens);
        let told = Told::of(events);
        let shown = |picture: Option<&Picture>| match picture {
            Some(picture) => reader.picture(picture).map(|read| picture::to_uri(&read)),
            None => Ok(None),
        };
        for (mut step, screen) in told.steps {
            step.screenshot = Some(shown(screen)?.unwrap_or_default());
            run.trajectory.push(step);
        }
        let ended = told.ended.unwrap_or(line.at);
        let answer = told.answer.unwrap_or(NO_ANSWER);
        run.result = Some(Step {
            screenshot: Some(shown(told.last)?.unwrap_or_default()),
            ..Step::new(seconds(ended), answer)
        });
        run.command_output_check_results = told.commands.into_iter().map(output).collect();
        let found = verdict(events).map_or(&[][..], |verdict| &verdict.checks);
        looked_at(&mut run, found);
        Ok(run)
    }
}

/// What the events of a trial tell.
#[derive(Debug, Default)]
struct Told<'a> {
    steps: Vec<(Step, Option<&'a Picture>)>,
    last: Option<&'a Picture>,
    answer: Option<&'a str>,
    ended: Option<Timestamp>,
    commands: Vec<&'a RanCommand>,
}

impl<'a> Told<'a> {
    fn of(events: &'a [Event]) -> Self {
        let mut told = Self::default();
        let mut thought: Option<&str> = None;
        let mut acted = None;
        let mut words = Words::default();
        for event in events {
            let action = match (&event.source, &event.body) {
                (Source::Agent, EventBody::Thought(text)) => {
                    thought = Some(text);
                    None
                }
                (Source::Agent, EventBody::Action(action)) => {
                    if let agon_core::Action::Finish { result } = action {
                        told.answer = result.as_deref();
                    }
                    Some(words.write(action))
                }
                (Source::Agent, EventBody::Refused(text)) => Some(text.clone()),
                _ => None,
            };
            if let Some(action) = action {
                let mut step = Step::new(seconds(event.at), action);
                step.thought = Some(thought.take().unwrap_or_default().to_owned());
                // Until something is seen of it, the screen is what it was.
                told.steps.push((step, told.last));
                acted = Some(event.seq);
            }
            match &event.body {
                EventBody::Observation(seen) => {
                    words.seen(seen.screen.as_ref().and_then(|screen| screen.cursor));
                    let screen = seen.screen.as_ref().map(|screen| &screen.picture);
                    told.last = screen.or(told.last);
                    let answers = event.cause.is_none_or(|cause| Some(cause) == acted);
                    if let (true, Some((_, shown))) = (answers, told.steps.last_mut()) {
                        *shown = screen.or(*shown);
                    }
                }
                EventBody::Screen(record) if record.what == ScreenMoment::Final => {
                    told.last = Some(&record.screen.picture);
                }
                EventBody::End(_) => told.ended = Some(event.at),
                EventBody::Ran(ran) => {
                    // Graded again, it may have run again.
                    told.commands.retain(|other| other.command != ran.command);
                    told.commands.push(ran);
                }
                _ => {}
            }
        }
        told
    }
}

/// As far as a record tells what the case was.
fn recorded(line: &TrialLine, stamp: Option<&TaskStamp>, events: &[Event]) -> TestCase {
    let task = events.iter().find_map(|event| match &event.body {
        EventBody::Instruction(text) => Some(text.clone()),
        _ => None,
    });
    let id = line.task.id().to_owned();
    TestCase {
        name: stamp.map_or_else(|| id.clone(), |stamp| stamp.name.clone()),
        id,
        category: line.task.category().to_owned(),
        level: level_name(stamp.and_then(|stamp| stamp.level)),
        task: task.unwrap_or_default(),
        setup_cmd: NO_SETUP.to_owned(),
        desktop_image: String::new(),
        checks: verdict(events).map_or_else(Vec::new, |verdict| {
            verdict.checks.iter().map(by_name).collect()
        }),
    }
}

/// A check by what it is called in reports.
fn by_name(check: &CheckResult) -> CheckRow {
    let first = check.check.split(' ').next().unwrap_or_default();
    let known = ["returned_result", "final_screenshot", "command_output"];
    let kind = known.into_iter().find(|kind| *kind == first);
    let command = check.check.strip_prefix("command_output ");
    CheckRow {
        kind: kind.unwrap_or("expected_flow").to_owned(),
        command: (kind == Some("command_output")).then(|| command.unwrap_or_default().to_owned()),
        value: check.check.clone(),
        label: check.check.clone(),
    }
}

fn status(end: Option<TurnEnd>) -> &'static str {
    match end {
        Some(TurnEnd::Finished | TurnEnd::WorldEnded) => "finished",
        Some(TurnEnd::TimeLimit | TurnEnd::Silent) => "timed out",
        _ => "failed",
    }
}

pub(crate) fn verdict(events: &[Event]) -> Option<&Verdict> {
    events.iter().rev().find_map(|event| match &event.body {
        EventBody::Verdict(verdict) => Some(verdict),
        _ => None,
    })
}

fn graded(run: &mut TestCaseRun, line: &TrialLine, events: &[Event]) {
    run.ai_score = match line.outcome {
        Outcome::Passed => 1.0,
        Outcome::Failed => 0.0,
        Outcome::Faulted => NO_SCORE,
    };
    run.validation_input_tokens = line.judge.input_tokens;
    run.validation_output_tokens = line.judge.output_tokens;
    if let Some(verdict) = verdict(events) {
        run.ai_comment = Some(comment(&verdict.checks));
    }
}

/// A line for each check, as the original has no better place for them.
fn comment(checks: &[CheckResult]) -> String {
    let one = |check: &CheckResult| {
        let passed = if check.passed { "passed" } else { "failed" };
        format!("{}: {passed}: {}", check.check, check.reason)
    };
    let lines: Vec<String> = checks.iter().map(one).collect();
    lines.join("\n")
}

/// What people say about the trial. An imported file keeps its own words as long as nobody says otherwise.
fn reviewed(run: &mut TestCaseRun, reviews: &Reviews, line: &TrialLine) {
    if reviews.history(line).is_empty() {
        return;
    }
    let Some(review) = reviews.verdict(line) else {
        run.human_score = NO_SCORE;
        run.human_comment = None;
        return;
    };
    let pass = review.verdict == ReviewVerdict::Pass;
    let same = run.human_score >= 0.0 && (run.human_score > 0.0) == pass;
    if !same {
        run.human_score = f64::from(u8::from(pass));
    }
    if run.human_comment.as_deref().unwrap_or_default() != review.comment {
        run.human_comment = Some(review.comment.clone());
    }
}

fn seconds(at: Timestamp) -> f64 {
    #[expect(
        clippy::cast_precision_loss,
        reason = "microseconds of our time fit into the 53 bits of a float"
    )]
    let micros = at.as_microsecond() as f64;
    micros / 1e6
}

/// Checks that stand there with a command, although they were carried out without one, have what they found in
/// place of its output: nobody could judge them by nothing.
fn looked_at(run: &mut TestCaseRun, found: &[CheckResult]) {
    fn of<'a>(label: &str, found: &'a [CheckResult], all: &mut Vec<&'a CheckResult>) {
        for check in found {
            if check.check == label {
                all.push(check);
            } else {
                of(label, &check.parts, all);
            }
        }
    }
    for row in &run.checks {
        let Some(command) = &row.command else {
            continue;
        };
        let known = &run.command_output_check_results;
        if known.iter().any(|output| output.command == *command) {
            continue;
        }
        let mut same = Vec::new();
        of(&row.label, found, &mut same);
        let said = same.iter().map(|check| {
            let passed = if check.passed { "passed" } else { "failed" };
            format!("{passed}: {}", check.reason)
        });
        let said: Vec<String> = said.collect();
        if !said.is_empty() {
            let text = format!("[looked at without this command]\n{}", said.join("\n"));
            run.command_output_check_results.push(CommandOutput {
                command: command.clone(),
                output: Value::String(text),
            });
        }
    }
}

/// Both streams, and how it ended where that is not as it should be: the original has one text for it. It is
/// told as well where the output itself looks as if it did.
fn output(ran: &RanCommand) -> CommandOutput {
    let mut text = ran.stdout.clone();
    text.push_str(&ran.stderr);
    if ran.status != Some(0) || ending(&text).1.is_some() {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        text.push_str(&format!("[{}]", ran.exit));
    }
    CommandOutput {
        command: ran.command.clone(),
        output: Value::String(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_output_passes_for_the_end_of_its_command() {
        let ran = |status: i32, stdout: &str| RanCommand {
            command: "x".to_owned(),
            status: Some(status),
            exit: format!("exit status {status}"),
            stdout: stdout.to_owned(),
            stderr: String::new(),
            omitted: 0,
            tainted: false,
        };
        for (status, stdout, text, back) in [
            (0, "a\n", "a\n", None),
            (1, "a\n", "a\n[exit status 1]", Some(1)),
            (
                0,
                "[exit status 3]",
                "[exit status 3]\n[exit status 0]",
                None,
            ),
            (
                1,
                "[exit status 0]\n",
                "[exit status 0]\n[exit status 1]",
                Some(1),
            ),
        ] {
            let output = output(&ran(status, stdout)).output;
            assert_eq!(output, text);
            assert_eq!(ending(text).0, back, "{text}");
        }
    }
}
