//! What a file of the original tells, as events of a trial: for runs that are made of such files, and for
//! runners that answer with one.

use agon_agent::elsewhere::{Delivered, Told};
use agon_core::screen::{ScreenMoment, ScreenRecord};
use agon_core::verdict::TurnEnd;
use agon_core::{Action, EventBody, Observation, Picture, RanCommand, ScreenView, Source, Usage};
use jiff::Timestamp;
use serde_json::Value;

use super::action::Words;
use super::picture;
use super::schema::{CommandOutput, MOST_STEPS, NO_ANSWER, Step, TestCaseRun};

/// Of each command that a check has run there, as much is kept.
const MOST_OUTPUT: usize = 1 << 20;
/// More checks than any case has.
const MOST_COMMANDS: usize = 100;
/// Of what is done or thought in one step.
const MOST_WORDS: usize = 64 << 10;

/// How a runner names the end of a turn that it did not end itself.
const TIMED_OUT: &str = "timed out";
const FINISHED: &str = "finished";

/// How a command ended, of which only a text is told.
const UNTOLD: &str = "nobody tells how it ended";

/// Who tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Teller {
    /// The agent may have written any part of a text, so that a text is no more than that.
    Runner,
    /// A file, which Agon itself may have written: it puts how a command ended behind what it printed.
    File,
}

/// Everything of it, in the order of time. A screenshot that is no picture is left out.
pub(crate) fn delivered(run: &TestCaseRun, teller: Teller) -> Delivered {
    let mut told = Vec::new();
    let mut steps: Vec<&Step> = run.trajectory.iter().take(MOST_STEPS).collect();
    steps.sort_by(|a, b| a.timestamp.total_cmp(&b.timestamp));
    let mut last = None;
    let mut said = None;
    let mut words = Words::default();
    for step in &steps {
        let action = words.read(&step.action);
        if let Some(answer) = tell(step, action, &mut told, &mut last) {
            said = Some(answer);
        }
    }
    let result = run.result.as_ref();
    if let Some(shot) = result.and_then(|step| screen(step.screenshot.as_deref())) {
        last = Some(shot);
    }
    let at = result.and_then(|step| time(step.timestamp));
    let at = at.or_else(|| steps.last().and_then(|step| time(step.timestamp)));
    let mut push = |source, body| {
        told.push(Told {
            source,
            body,
            cause: None,
            at,
        });
    };
    let answer = result.and_then(|step| answer(&step.action));
    if let Some(answer) = answer
        .clone()
        .filter(|answer| said.as_ref() != Some(answer))
    {
        let result = Some(answer);
        push(Source::Agent, EventBody::Action(Action::Finish { result }));
    }
    if let Some(view) = &last {
        let record = ScreenRecord {
            what: ScreenMoment::Final,
            screen: view.clone(),
            around: None,
        };
        push(Source::Environment, EventBody::Screen(record));
    }
    let mut commands: Vec<RanCommand> = Vec::new();
    for output in run.command_output_check_results.iter().take(MOST_COMMANDS) {
        // Told twice, the first counts.
        if commands.iter().all(|ran| ran.command != output.command) {
            commands.push(ran(output, teller));
        }
    }
    for ran in &commands {
        push(Source::Environment, EventBody::Ran(ran.clone()));
    }
    let result = answer.or(said);
    Delivered {
        end: end(run, steps.len(), result.is_some()),
        why: None,
        result,
        last: last.map(|view| view.picture),
        commands,
        steps: u32::try_from(steps.len()).unwrap_or(u32::MAX),
        usage: Usage {
            input_tokens: run.input_tokens,
            output_tokens: run.output_tokens,
            ..Usage::default()
        },
        events: told,
    }
}

/// Returns the answer, if the step gives one.
fn tell(
    step: &Step,
    action: Option<Action>,
    told: &mut Vec<Told>,
    last: &mut Option<ScreenView>,
) -> Option<String> {
    let at = time(step.timestamp);
    let mut push = |source, cause, body| {
        told.push(Told {
            source,
            body,
            cause,
            at,
        });
        told.len() - 1
    };
    if let Some(thought) = step.thought.clone().filter(|thought| !thought.is_empty()) {
        push(Source::Agent, None, EventBody::Thought(few(&thought)));
    }
    let answer = match &action {
        Some(Action::Finish { result }) => result.clone(),
        _ => None,
    };
    // Words that are no action of ours are still what was done there.
    let body = match action {
        Some(action) => EventBody::Action(action),
        None => EventBody::Refused(few(&step.action)),
    };
    let cause = push(Source::Agent, None, body);
    if let Some(view) = screen(step.screenshot.as_deref()) {
        let seen = Observation {
            screen: Some(view.clone()),
            ..Observation::done()
        };
        push(
            Source::Environment,
            Some(cause),
            EventBody::Observation(seen),
        );
        *last = Some(view);
    }
    answer
}

fn few(text: &str) -> String {
    let (kept, omitted) = cut(text.to_owned(), MOST_WORDS);
    match omitted {
        0 => kept,
        omitted => format!("{kept}\n[{omitted} bytes left out]"),
    }
}

fn screen(text: Option<&str>) -> Option<ScreenView> {
    let (picture, (width, height)): (Picture, _) = picture::of_uri(text?)?;
    Some(ScreenView {
        width,
        height,
        cursor: None,
        window: None,
        picture,
    })
}

pub(crate) fn time(seconds: f64) -> Option<Timestamp> {
    if !(seconds.is_finite() && seconds > 0.0) {
        return None;
    }
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a number that is too large is no time, which is looked at next"
    )]
    let micros = (seconds * 1e6).round() as i64;
    Timestamp::from_microsecond(micros).ok()
}

/// The original writes the bare words; some runners write the action that gave them.
fn answer(text: &str) -> Option<String> {
    match Words::default().read(text) {
        Some(Action::Finish { result }) => result,
        _ => Some(text.to_owned()).filter(|text| !text.is_empty() && text != NO_ANSWER),
    }
}

/// Whether the agent ended its turn, as far as is told. Never by a crash: who crashes tells nothing.
fn end(run: &TestCaseRun, steps: usize, answered: bool) -> TurnEnd {
    let used_up = run.max_steps > 0 && steps >= run.max_steps as usize;
    match run.status.as_deref() {
        Some(FINISHED) => TurnEnd::Finished,
        Some(TIMED_OUT) => TurnEnd::TimeLimit,
        None if answered => TurnEnd::Finished,
        _ if used_up => TurnEnd::StepLimit,
        _ => TurnEnd::Left,
    }
}

/// A text, or what the desktop of the original answers: `{status, output[, return_code]}`.
fn ran(told: &CommandOutput, teller: Teller) -> RanCommand {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    let (status, exit, output) = match &told.output {
        Value::Object(fields) if fields.contains_key("output") => {
            let code = fields.get("return_code").and_then(Value::as_i64);
            let code = code.and_then(|code| i32::try_from(code).ok());
            let fine = fields.get("status").and_then(Value::as_str) == Some("success");
            let status = code.or(fine.then_some(0));
            (status, None, text(&fields["output"]))
        }
        Value::String(text) if teller == Teller::File => {
            let (status, exit, output) = ending(text);
            (status, exit.map(str::to_owned), output.to_owned())
        }
        other => (None, None, text(other)),
    };
    let (output, omitted) = cut(output, MOST_OUTPUT);
    // The original gives one stream or the other, by how the command ended; a text is both of them.
    let (stdout, stderr) = match (status, &told.output) {
        (Some(0), _) | (_, Value::String(_)) => (output, String::new()),
        _ => (String::new(), output),
    };
    RanCommand {
        command: told.command.clone(),
        status,
        exit: exit.unwrap_or_else(|| match status {
            Some(status) => format!("exit status {status}"),
            None => UNTOLD.to_owned(),
        }),
        stdout,
        stderr,
        omitted,
        tainted: true,
    }
}

/// What an export of ours has put behind a command's output. That it ended well is never put there, so that
/// a text that says so has it from the command.
pub(crate) fn ending(text: &str) -> (Option<i32>, Option<&str>, &str) {
    let put = || {
        let (output, last) = text.strip_suffix(']')?.rsplit_once('[')?;
        let is_line = output.is_empty() || output.ends_with('\n');
        let status = last.strip_prefix("exit status ");
        let status = status.and_then(|status| status.parse().ok());
        let told = status.is_some_and(|status| status != 0)
            || last == TIMED_OUT
            || last.starts_with("killed by signal ");
        (is_line && told).then_some((status, Some(last), output))
    };
    put().unwrap_or((None, None, text))
}

fn cut(mut text: String, most: usize) -> (String, u64) {
    if text.len() <= most {
        return (text, 0);
    }
    let end = text.floor_char_boundary(most);
    let omitted = (text.len() - end) as u64;
    text.truncate(end);
    (text, omitted)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::picture::tests::PIXEL;
    use super::*;

    fn told(value: Value) -> Delivered {
        delivered(&serde_json::from_value(value).unwrap(), Teller::Runner)
    }

    #[test]
    fn steps_are_told_in_the_order_of_time_with_what_was_seen() {
        let told = told(json!({ "trajectory": [
            { "timestamp": 20.0, "action": "opened the menu", "thought": "", "screenshot": null },
            { "timestamp": 10.5, "action": "name='click' parameters={'button': 'left', 'x': 3, 'y': 4}",
              "thought": "The icon.", "screenshot": PIXEL },
        ], "result": { "timestamp": 21, "action": "It is 42.", "screenshot": PIXEL }, "status": "finished" }));
        let kinds: Vec<&str> = told.events.iter().map(|told| told.body.kind()).collect();
        assert_eq!(
            kinds,
            [
                "thought",
                "action",
                "observation",
                "refused",
                "action",
                "screen"
            ]
        );
        assert_eq!(told.events[2].cause, Some(1));
        assert_eq!(told.events[0].at.unwrap().as_microsecond(), 10_500_000);
        assert_eq!(told.result.as_deref(), Some("It is 42."));
        assert_eq!((told.end, told.steps), (TurnEnd::Finished, 2));
        assert!(told.last.unwrap().data().is_some());
    }

    #[test]
    fn an_answer_is_found_wherever_it_stands() {
        let action = "name='result' parameters={'value': 'Paris'}";
        for value in [
            json!({ "trajectory": [{ "timestamp": 1, "action": action }] }),
            json!({ "result": { "action": action } }),
            json!({ "result": { "action": "Paris" } }),
            json!({ "trajectory": [{ "timestamp": 1, "action": action }], "result": { "action": "Paris" } }),
        ] {
            let told = told(value.clone());
            assert_eq!(told.result.as_deref(), Some("Paris"), "{value}");
            let finishes = told
                .events
                .iter()
                .filter(|told| told.body.kind() == "action");
            assert_eq!(finishes.count(), 1, "{value}");
        }
        let none = told(json!({ "result": { "action": NO_ANSWER } }));
        assert_eq!((none.result, none.end), (None, TurnEnd::Left));
    }

    #[test]
    fn outputs_are_texts_or_what_the_desktop_said() {
        let of = |output: Value| {
            let output = CommandOutput {
                command: "x".to_owned(),
                output,
            };
            let ran = ran(&output, Teller::Runner);
            (ran.status, ran.stdout, ran.stderr)
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let (stdout, stderr) = pair("a", "");
        assert_eq!(of(json!("a")), (None, stdout.clone(), stderr.clone()));
        assert_eq!(
            of(json!({ "status": "success", "output": "a" })),
            (Some(0), stdout, stderr)
        );
        let (stdout, stderr) = pair("", "no");
        assert_eq!(
            of(json!({ "status": "error", "output": "no", "return_code": 2 })),
            (Some(2), stdout, stderr)
        );
        // The agent may have written it.
        let (stdout, stderr) = pair("a\n[exit status 1]", "");
        assert_eq!(of(json!("a\n[exit status 1]")), (None, stdout, stderr));
    }

    #[test]
    fn how_a_command_ended_is_read_back_from_files_of_ours() {
        for (text, status, exit, stdout) in [
            ("a\n[exit status 3]", Some(3), "exit status 3", "a\n"),
            ("[exit status -1]", Some(-1), "exit status -1", ""),
            ("a\n[killed by signal 9]", None, "killed by signal 9", "a\n"),
            ("[timed out]", None, "timed out", ""),
            ("a", None, UNTOLD, "a"),
            ("a\n[exit status 0]", None, UNTOLD, "a\n[exit status 0]"),
            ("a [exit status 1]", None, UNTOLD, "a [exit status 1]"),
            ("a\n[exit]", None, UNTOLD, "a\n[exit]"),
        ] {
            let output = CommandOutput {
                command: "x".to_owned(),
                output: text.into(),
            };
            let ran = ran(&output, Teller::File);
            let found = (ran.status, ran.exit.as_str(), ran.stdout.as_str());
            assert_eq!(found, (status, exit, stdout), "{text}");
            assert_eq!(ran.stderr, "");
        }
    }

    #[test]
    fn of_two_outputs_of_a_command_the_first_counts() {
        let output = |output: &str| json!({ "command": "cat a", "output": output });
        let told = told(json!({ "command_output_check_results": [output("bad"), output("good")] }));
        let [ran] = &told.commands[..] else {
            panic!("{:?}", told.commands)
        };
        assert_eq!(ran.stdout, "bad");
    }
}
