//! Both directions of the dialect, and a whole record.

use agon_core::event::Phase;
use agon_core::observation::{FileChange, ObservationKind};
use agon_core::verdict::TurnEnd;
use agon_core::{
    Action as Core, Called, Condensation, Event as CoreEvent, EventBody as Body, ModelCall, Money,
    Observation as Seen, Picture, PictureFormat, Purpose, Said, Seconds, Source, Usage,
};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::events::*;

/// Events in order; each is caused by the one that is named.
pub(crate) fn record_of(bodies: Vec<(Source, Option<u64>, Body)>) -> Vec<CoreEvent> {
    let numbered = bodies.into_iter().enumerate();
    let made = numbered.map(|(at, (source, cause, body))| CoreEvent {
        seq: at as u64,
        t: at as f64,
        at: "2026-11-16T10:00:00.25Z".parse().unwrap(),
        source,
        cause,
        body,
    });
    made.collect()
}

pub(crate) fn call(id: &str) -> Body {
    let usage = Usage {
        input_tokens: 100,
        output_tokens: 7,
        cached_tokens: 60,
        calls: 1,
        money: Some(Money::from_micros(1500)),
        ..Usage::default()
    };
    Body::Model(ModelCall {
        model: "eval_gpt4".to_owned(),
        purpose: Purpose::Agent,
        seconds: 1.5,
        tries: 1,
        taped: false,
        usage,
        request: Some(Said::Here(json!({
            "messages": [
                { "role": "system", "content": "You act." },
                { "role": "user", "content": [{ "type": "text", "text": "Say hello." }] },
            ],
            "tools": [{ "type": "function" }],
        }))),
        response: Some(Said::Here(json!({ "id": id, "choices": [] }))),
        fault: None,
        why: None,
    })
}

fn called(function: &str, id: &str) -> Body {
    Body::Called(Called {
        function: function.to_owned(),
        id: id.to_owned(),
        of: 1,
    })
}

fn output(text: &str, status: i32) -> Seen {
    let mut seen = Seen::new(ObservationKind::Output, text);
    seen.exit_status = Some(status);
    seen.cwd = Some("/work".to_owned());
    seen
}

pub(crate) fn conversation() -> Vec<CoreEvent> {
    use Source::{Agent, Environment, Harness, User};
    let reply = Seen::new(ObservationKind::Reply, "Go on.");
    record_of(vec![
        (Harness, None, Body::Phase(Phase::Running)),
        (Environment, None, Body::Observation(Seen::ready(""))),
        (Agent, Some(1), call("r1")),
        (Agent, Some(1), called("execute_bash", "c1")),
        (Agent, Some(1), Body::Thought("I greet.".to_owned())),
        (Agent, Some(1), Body::Action(Core::run("echo hello"))),
        (
            Environment,
            Some(5),
            Body::Observation(output("hello\n", 0)),
        ),
        (Agent, Some(6), call("r2")),
        (Agent, Some(6), Body::Refused("{".to_owned())),
        (
            Environment,
            Some(8),
            Body::Observation(Seen::refused("no such tool")),
        ),
        (Agent, Some(9), call("r3")),
        (
            Agent,
            Some(9),
            Body::Action(Core::Message {
                text: "Done?".to_owned(),
            }),
        ),
        (User, Some(11), Body::Observation(reply)),
        (
            Agent,
            Some(12),
            Body::Condensed(Condensation {
                from: 1,
                to: 2,
                summary: Some("It said hello.".to_owned()),
            }),
        ),
        (
            Agent,
            Some(12),
            Body::Action(Core::Finish {
                result: Some("hello".to_owned()),
            }),
        ),
        (Harness, None, Body::End(TurnEnd::Finished)),
    ])
}

pub(crate) fn recorded(events: &[CoreEvent]) -> Record<'_> {
    Record {
        events,
        instruction: Some("Say hello."),
        agent: "CodeActAgent",
        bodies: &NoBodies,
        models: None,
    }
}

#[test]
fn a_record_becomes_a_history() {
    let events = conversation();
    let history = history(&recorded(&events));
    let mut text = serde_json::to_string_pretty(&history).unwrap();
    text.push('\n');
    insta::assert_snapshot!("history_of_a_record", text);
    let ids: Vec<_> = history.iter().map(|event| event.id.unwrap()).collect();
    assert_eq!(ids, (0..history.len() as u64).collect::<Vec<_>>());
    let back: History = serde_json::from_str(&text).unwrap();
    assert_eq!(back, History::Flat(history));
}

#[test]
fn without_an_instruction_the_first_words_to_the_model_are_taken() {
    let events = conversation();
    let record = Record {
        instruction: None,
        ..recorded(&events)
    };
    assert_eq!(
        history(&record)[1].words_of(EventSource::User),
        Some("Say hello.")
    );
}

#[test]
fn a_trajectory_gives_its_actions_to_be_played_again() {
    let events = conversation();
    let text = write_trajectory(&history(&recorded(&events)), false).unwrap();
    let replay = replay(&text).unwrap();
    assert_eq!(replay.task, "Say hello.");
    assert_eq!(
        replay.actions,
        [
            Core::run("echo hello"),
            // Nobody is asked in the middle.
            Core::Think {
                thought: "Done?".to_owned()
            },
            Core::Finish {
                result: Some("hello".to_owned())
            },
        ]
    );
    assert!(replay.left_out.is_empty());
}

#[test]
fn what_a_runtime_can_not_do_says_what_to_do_instead() {
    let mut splice = FileWriteAction {
        path: "a".to_owned(),
        ..FileWriteAction::default()
    };
    splice.end = 3;
    let edit = FileEditAction {
        command: "rotate".to_owned(),
        ..FileEditAction::default()
    };
    let foreign = MCPAction {
        name: "weather".to_owned(),
        ..MCPAction::default()
    };
    let crooked = MCPAction {
        name: "click".to_owned(),
        ..MCPAction::default()
    };
    for action in [splice.into(), edit.into(), foreign.into(), crooked.into()] {
        assert!(
            matches!(core_action(&action), Err(NoCoreAction::Unsupported { .. })),
            "{action:?}"
        );
    }
    let null = Action::from(NullAction::default());
    assert_eq!(core_action(&null), Err(NoCoreAction::NotForOthers("null")));
}

#[test]
fn time_limits_of_commands_keep_their_meaning() {
    let mut run = CmdRunAction::new("make");
    run.set_hard_timeout(600.0);
    let waits = Core::Run {
        command: "make".to_owned(),
        input: false,
        timeout: None,
        wait: Seconds::new(600.0),
    };
    assert_eq!(core_action(&run.clone().into()), Ok(waits));
    run.timeout = Some(f64::NAN);
    assert_eq!(
        core_action(&run.into()),
        Ok(Core::run("make")),
        "what is no time is none"
    );
    let apart = CmdRunAction {
        is_static: true,
        cwd: Some("/it's".to_owned()),
        ..CmdRunAction::new("ls")
    };
    assert_eq!(
        core_action(&apart.into()),
        Ok(Core::run("(cd '/it'\\''s' && { ls\n})"))
    );
}

#[test]
fn lines_of_a_file_are_counted_as_each_reader_counts() {
    let lines = |read: FileReadAction| match core_action(&read.into()) {
        Ok(Core::Read { lines, .. }) => lines,
        other => panic!("{other:?}"),
    };
    let plain = FileReadAction {
        path: "a".to_owned(),
        ..FileReadAction::default()
    };
    assert_eq!(lines(plain.clone()), None);
    let part = FileReadAction {
        start: 2,
        end: 5,
        ..plain.clone()
    };
    assert_eq!(lines(part), Some([3, 5]), "from 0, without the last");
    let aci = FileReadAction {
        impl_source: ReadSource::OhAci,
        ..plain
    };
    assert_eq!(lines(aci.clone()), Some([1, -1]), "numbered, all of them");
    let some = FileReadAction {
        view_range: Some(vec![2, -1]),
        ..aci
    };
    assert_eq!(lines(some), Some([2, -1]));
}

#[test]
fn observations_have_the_type_of_their_action() {
    let of = |seen: &Seen, action: Action| observation(seen, &action);
    let run = || Action::from(CmdRunAction::new("false"));
    let Observation::Run(seen) = of(&output("", 1), run()) else {
        panic!("an output")
    };
    assert_eq!(seen.exit_code(), 1);
    assert_eq!(
        seen.to_agent_text(),
        "\n[The command completed with exit code 1.]\n[Current working directory: /work]\n\
         [Command finished with exit code 1]"
    );
    let mut running = output("...", 0);
    (running.running, running.exit_status) = (true, None);
    let Observation::Run(seen) = of(&running, run()) else {
        panic!("an output")
    };
    assert_eq!((seen.exit_code(), &*seen.metadata.suffix), (-1, ""));

    let error = of(&Seen::error("no"), run());
    assert_eq!(error, ErrorObservation::new("no").into());

    let mut drawn = Seen::new(ObservationKind::Output, "");
    drawn.pictures = vec![Picture::new(PictureFormat::Png, b"abc".as_slice())];
    let Observation::RunIPython(cell) = of(&drawn, IPythonRunCellAction::new("1").into()) else {
        panic!("a cell")
    };
    assert_eq!(
        cell.image_urls,
        Some(vec!["data:image/png;base64,YWJj".to_owned()])
    );

    let mut changed = Seen::done();
    changed.changed = Some(Box::new(FileChange {
        path: "a".to_owned(),
        existed: true,
        diff: "-a\n+b\n".to_owned(),
    }));
    let edit = FileEditAction {
        path: "a".to_owned(),
        ..FileEditAction::default()
    };
    let Observation::Edit(edit) = of(&changed, edit.into()) else {
        panic!("an edit")
    };
    assert_eq!(
        (edit.prev_exist, edit.diff.as_deref()),
        (true, Some("-a\n+b\n"))
    );

    let page = Seen::error("url: http://a/\nno such element");
    let browse = BrowseInteractiveAction {
        browser_actions: "click('9')".to_owned(),
        ..Default::default()
    };
    let Observation::Browse(page) = of(&page, browse.into()) else {
        panic!("a page")
    };
    assert!(page.error && page.url == "http://a/" && page.last_browser_action == "click('9')");
    let text = "url: http://a/\ntitle: A\nerror: click: element 9 is covered\n\n[1] error: none";
    let seen = Seen::new(ObservationKind::Content, text);
    let browse = || BrowseInteractiveAction::default().into();
    let Observation::Browse(page) = of(&seen, browse()) else {
        panic!("a page")
    };
    assert!(page.error);
    assert_eq!(
        page.last_browser_action_error,
        "click: element 9 is covered"
    );
    let text = "url: http://a/\ntitle: A\n\nerror: says the page";
    let Observation::Browse(page) = of(&Seen::new(ObservationKind::Content, text), browse()) else {
        panic!("a page")
    };
    assert!(!page.error && page.last_browser_action_error.is_empty());
    let think = of(&Seen::done(), AgentThinkAction::default().into());
    assert!(matches!(think, Observation::Think(_)));
    let said = of(&Seen::done(), MessageAction::new("hello").into());
    assert!(matches!(said, Observation::Null(_)));
}

#[test]
fn the_list_of_tasks_is_found_in_the_models_call() {
    use Source::Agent;
    let plan = json!({ "command": "plan", "task_list": [{ "id": "1", "title": "look", "status": "todo" }] });
    let answers = [
        json!({ "choices": [{ "message": { "tool_calls": [
            { "id": "c9", "function": { "name": "task_tracker", "arguments": plan.to_string() } }] } }] }),
        json!({ "content": [{ "type": "tool_use", "id": "c9", "input": plan }] }),
        json!({ "output": [{ "call_id": "c9", "arguments": plan.to_string() }] }),
    ];
    for answer in answers {
        let Body::Model(mut asked) = call("r") else {
            panic!("a call")
        };
        asked.response = Some(Said::Here(answer));
        let think = || Core::Think {
            thought: "# Task list".to_owned(),
        };
        let events = record_of(vec![
            (Agent, None, Body::Model(asked)),
            (Agent, None, called("task_tracker", "c9")),
            (Agent, None, Body::Action(think())),
            (
                Source::Environment,
                Some(2),
                Body::Observation(Seen::done()),
            ),
            (Agent, None, called("think", "c9")),
            (Agent, None, Body::Action(think())),
        ]);
        let told = history(&recorded(&events));
        let Some(Action::TaskTracking(tasks)) = told[2].action() else {
            panic!("{told:?}")
        };
        assert_eq!((&*tasks.command, tasks.task_list.len()), ("plan", 1));
        assert!(matches!(
            told[3].observation(),
            Some(Observation::TaskTracking(_))
        ));
        assert!(matches!(told[4].action(), Some(Action::Think(_))));
    }
}

#[test]
fn a_condensation_names_what_the_model_no_longer_sees() {
    use Source::{Agent, Environment};
    let mut bodies = vec![(Environment, None, Body::Observation(Seen::ready("")))];
    for step in 0..4u64 {
        let cause = 2 * step;
        bodies.push((Agent, Some(cause), Body::Action(Core::run("ls"))));
        bodies.push((
            Environment,
            Some(cause + 1),
            Body::Observation(output("", 0)),
        ));
    }
    let forget = |from, to, summary: Option<&str>| {
        let summary = summary.map(str::to_owned);
        (
            Agent,
            None,
            Body::Condensed(Condensation { from, to, summary }),
        )
    };
    bodies.push(forget(2, 3, Some("two")));
    bodies.push(forget(4, 4, Some("one")));
    bodies.push(forget(9, 9, None));
    let events = record_of(bodies);
    let told: Vec<_> = history(&recorded(&events))
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::Action(Action::Condensation(condensation)) => Some((
                condensation.forgotten_events_start_id?,
                condensation.forgotten_events_end_id?,
                condensation.summary_offset?,
            )),
            _ => None,
        })
        .collect();
    // 0 is the task; steps are 1-2, 3-4, 5-6, 7-8.
    assert_eq!(told, [(3, 6, 3), (7, 8, 3)]);
}

fn core_actions() -> impl Strategy<Value = Core> {
    let text = || any::<String>();
    let some = || "[a-z /'\"]{1,12}";
    prop_oneof![
        (
            text(),
            any::<bool>(),
            proptest::option::of(0u32..9999),
            any::<bool>()
        )
            .prop_map(|(command, input, seconds, waits)| {
                let seconds = seconds.map(Seconds::whole);
                let (wait, timeout) = if waits {
                    (seconds, None)
                } else {
                    (None, seconds)
                };
                Core::Run {
                    command,
                    input,
                    timeout,
                    wait,
                }
            }),
        text().prop_map(|code| Core::Cell { code }),
        text().prop_map(|code| Core::Browse { code }),
        (text(), proptest::option::of([-1i64..99, -1i64..99]))
            .prop_map(|(path, lines)| Core::Read { path, lines }),
        (text(), text(), any::<bool>()).prop_map(|(path, content, create)| Core::Write {
            path,
            content,
            create
        }),
        (text(), text(), text()).prop_map(|(path, old, new)| Core::Edit { path, old, new }),
        (text(), 0u64..9999, text()).prop_map(|(path, line, text)| Core::Insert {
            path,
            line,
            text
        }),
        text().prop_map(|path| Core::Undo { path }),
        text().prop_map(|text| Core::Message { text }),
        text().prop_map(|thought| Core::Think { thought }),
        proptest::option::of(some()).prop_map(|result| Core::Finish { result }),
        proptest::option::of(some()).prop_map(|reason| Core::Reject { reason }),
        (any::<i32>(), any::<i32>()).prop_map(|(x, y)| Core::Move { x, y }),
        text().prop_map(|keys| Core::Key { keys, hold: None }),
        Just(Core::Screenshot),
    ]
}

proptest! {
    #[test]
    fn every_action_of_ours_survives_the_way_there_and_back(action in core_actions()) {
        let foreign = foreign_action(&action, "");
        let event = Event::new(EventSource::Agent, foreign);
        let text = serde_json::to_string(&event).unwrap();
        let back: Event = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(core_action(back.action().unwrap()), Ok(action));
    }
}
