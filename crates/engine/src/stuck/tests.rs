//! Every rule with a history that falls under it and one that must not.

use agon_agent::{Answer, Reply};
use agon_core::observation::ObservationKind;
use agon_core::user::Nudge;
use agon_core::{Action, Observation, User};
use proptest::prelude::*;

use super::*;

type Taken = (Answer, Observation);

fn thoughtful(action: Action, thought: &str) -> Answer {
    Answer::Reply(Reply {
        thought: Some(thought.to_owned()),
        ..Reply::from(action)
    })
}

fn result(text: &str, status: i32) -> Observation {
    Observation {
        exit_status: Some(status),
        ..Observation::new(ObservationKind::Output, text)
    }
}

fn ran(command: &str, text: &str, status: i32) -> Taken {
    (Action::run(command).into(), result(text, status))
}

fn waited(text: &str) -> Taken {
    let still = Observation {
        running: true,
        ..Observation::new(ObservationKind::Output, text)
    };
    (Action::run("").into(), still)
}

fn said(text: &str, answer: &str) -> Taken {
    let action = Action::Message {
        text: text.to_owned(),
    };
    (
        action.into(),
        Observation::new(ObservationKind::Reply, answer),
    )
}

fn read(path: &str, seen: Observation) -> Taken {
    let action = Action::Read {
        path: path.to_owned(),
        lines: None,
    };
    (action.into(), seen)
}

fn cell(code: &str, text: &str) -> Taken {
    let action = Action::Cell {
        code: code.to_owned(),
    };
    (
        action.into(),
        Observation::new(ObservationKind::Output, text),
    )
}

fn refused(text: &str, why: &str) -> Taken {
    let answer = Answer::NotAnAction {
        text: text.to_owned(),
        why: why.to_owned(),
        condensed: None,
    };
    (answer, Observation::refused(why))
}

/// At which step it first says something, and what, of an agent with such a user.
fn first_with(user: &User, history: &[Taken]) -> Option<(usize, Rule)> {
    let mut detector = Detector::new(user);
    let mut steps = history.iter().enumerate();
    steps.find_map(|(at, (answer, seen))| {
        let found = detector.saw(Deed::of(answer), seen);
        found.map(|rule| (at + 1, rule))
    })
}

/// What the detector says at the last step, whatever it said before.
fn verdict(history: &[Taken]) -> Option<Rule> {
    let mut detector = Detector::default();
    let mut last = None;
    for (answer, seen) in history {
        last = detector.saw(Deed::of(answer), seen);
    }
    last
}

/// The same, of one with a user who listens.
fn first(history: &[Taken]) -> Option<(usize, Rule)> {
    first_with(&User::default(), history)
}

fn times(history: &[Taken], count: usize) -> Vec<Taken> {
    history
        .iter()
        .cloned()
        .cycle()
        .take(history.len() * count)
        .collect()
}

#[test]
fn the_same_result_four_times() {
    let history = times(&[ran("ls", "a b", 0)], 9);
    assert_eq!(first(&history), Some((4, Rule::SameResult)));
    let reads = times(
        &[read("a", Observation::new(ObservationKind::Content, "x"))],
        9,
    );
    assert_eq!(first(&reads), Some((4, Rule::SameResult)));
}

/// What a command prints may differ by no more than a time.
#[test]
fn the_same_status_eight_times() {
    let tests: Vec<Taken> = (0..9)
        .map(|n| ran("make test", &format!("failed in {n} s"), 2))
        .collect();
    assert_eq!(first(&tests), Some((8, Rule::SameStatus)));
}

#[test]
fn a_command_that_tells_something_new_is_no_repetition_until_it_is_far_too_often() {
    let mut polled: Vec<Taken> = (0..7)
        .map(|n| ran("tail -1 log", &n.to_string(), 0))
        .collect();
    polled.push(ran("tail -1 log", "done", 1));
    assert_eq!(first(&polled), None);
    let in_turn = |n: u32| [ran("sleep 9", "", 0), ran("wc log", &n.to_string(), 0)];
    let history: Vec<Taken> = (0..9).flat_map(in_turn).collect();
    assert_eq!(first(&history), None);
}

#[test]
fn another_status_thought_content_or_action_is_no_repetition() {
    let tests = [
        ran("make test", "", 1),
        ran("make test", "", 1),
        ran("make test", "", 1),
        ran("make test", "", 0),
    ];
    assert_eq!(first(&tests), None);
    let thoughts: Vec<Taken> = (0..9)
        .map(|n| {
            (
                thoughtful(Action::run("ls"), &format!("try {n}")),
                result("", 0),
            )
        })
        .collect();
    assert_eq!(first(&thoughts), None);
    let contents: Vec<Taken> = (0..9)
        .map(|n| {
            read(
                "log",
                Observation::new(ObservationKind::Content, n.to_string()),
            )
        })
        .collect();
    assert_eq!(first(&contents), None);
    let mixed = [
        ran("ls", "", 0),
        ran("ls", "", 0),
        ran("ls", "", 0),
        ran("pwd", "", 0),
    ];
    assert_eq!(first(&mixed), None);
}

#[test]
fn the_same_thought_is_a_repetition() {
    let step = (thoughtful(Action::run("ls"), "look"), result("", 0));
    assert_eq!(first(&times(&[step], 5)), Some((4, Rule::SameResult)));
}

#[test]
fn waiting_for_a_command_is_what_the_agent_was_told_to_do() {
    let building: Vec<Taken> = (0..90).map(|n| waited(&format!("[{n}/9]"))).collect();
    assert_eq!(first(&building), None);
    let mut silent = times(&[waited("no new output")], 19);
    silent.insert(0, ran("make", "", 0));
    silent.push(waited("linking"));
    silent.extend(times(&[waited("no new output")], 19));
    assert_eq!(first(&silent), None);
    let hanging = times(&[waited("no new output")], 25);
    assert_eq!(first(&hanging), Some((20, Rule::Waiting(20))));
    let wait = Action::Wait {
        seconds: agon_core::Seconds::whole(1),
    };
    let idle = times(&[(wait.into(), Observation::done())], 25);
    assert_eq!(first(&idle), Some((20, Rule::Waiting(20))));
}

/// Nothing runs, so there is nothing to wait for.
#[test]
fn waiting_for_nothing_is_an_action_like_any_other() {
    let nothing = (Action::run("").into(), Observation::error("nothing runs"));
    assert_eq!(first(&times(&[nothing], 5)), Some((3, Rule::SameError)));
    let pressed = Action::Run {
        command: String::new(),
        input: true,
        timeout: None,
        wait: None,
    };
    let pressed = (pressed.into(), waited("again?").1);
    assert_eq!(first(&times(&[pressed], 5)), Some((4, Rule::SameResult)));
}

#[test]
fn the_same_error_three_times() {
    // However it is worded.
    let history = [
        read("a", Observation::error("no such file")),
        read("a", Observation::error("still no such file")),
        read("a", Observation::error("no")),
    ];
    assert_eq!(first(&history), Some((3, Rule::SameError)));
    let words = times(&[refused("{}", "no action")], 3);
    assert_eq!(first(&words), Some((3, Rule::SameError)));
}

#[test]
fn errors_of_other_actions_and_failed_commands_are_no_such_repetition() {
    let paths: Vec<Taken> = (0..9)
        .map(|n| read(&n.to_string(), Observation::error("no such file")))
        .collect();
    assert_eq!(first(&paths), None);
    let once = [
        read("a", Observation::error("busy")),
        read("a", Observation::new(ObservationKind::Content, "x")),
        read("a", Observation::error("busy")),
    ];
    assert_eq!(first(&once), None);
    assert_eq!(first(&times(&[ran("false", "", 1)], 3)), None);
}

/// As a cell's result ends, with the empty line that comes of the line end of what was printed.
const TRAILER: &str = "\n\n[Jupyter current working directory: /work]\n[Jupyter Python interpreter: /usr/bin/python3]";

#[test]
fn the_same_cell_that_is_no_python_three_times() {
    for error in [
        "SyntaxError: unterminated string literal (detected at line 1)",
        "SyntaxError: invalid syntax. Perhaps you forgot a comma?",
        "SyntaxError: incomplete input",
        "IndentationError: unexpected indent",
    ] {
        let magics = format!("\n[IPython is not installed here: there are no magics]{TRAILER}");
        for trailer in [TRAILER, &magics, &TRAILER[1..], ""] {
            // The number of the cell goes on.
            let history: Vec<Taken> = (1..4)
                .map(|n| {
                    cell(
                        "print('",
                        &format!("Cell In[{n}], line 1\n    ^\n{error}{trailer}"),
                    )
                })
                .collect();
            assert_eq!(first(&history), Some((3, Rule::SameSyntaxError)), "{error}");
        }
    }
}

/// What a failing cell says names its number, which is no news.
#[test]
fn the_number_of_a_cell_does_not_matter() {
    for name in [
        "File \"Cell In[#]\", line 1",
        "Cell In[#], line 1",
        "Input In [#], in <cell line: 1>()",
        "<ipython-input-#-0123456789ab> in <module>",
    ] {
        let failed = |n: usize| {
            let traceback = format!("{name}, in f\n{name}\nNameError: name 'x' is not defined");
            cell("x", &(traceback.replace('#', &n.to_string()) + TRAILER))
        };
        let same: Vec<Taken> = (8..20).map(failed).collect();
        assert_eq!(first(&same), Some((4, Rule::SameResult)), "{name}");
        let in_turn = |n: usize| [failed(2 * n), ran("ls", "", 0)];
        let in_turn: Vec<Taken> = (4..9).flat_map(in_turn).collect();
        assert_eq!(first(&in_turn), Some((6, Rule::Alternation)), "{name}");
        let round = |n: usize| [failed(3 * n), ran("ls", "", 0), cell("y", &n.to_string())];
        let moving: Vec<Taken> = (3..9).flat_map(round).collect();
        assert_eq!(first(&moving), None, "{name}: another cell tells news");
        let round = |n: usize| [failed(3 * n), ran("ls", "", 0), cell("y", "7")];
        let rounds: Vec<Taken> = (3..9).flat_map(round).collect();
        assert_eq!(first(&rounds), Some((9, Rule::Cycle(3))), "{name}");
        let lines = |n: usize| {
            let text = format!("{name}\nValueError: {n}{TRAILER}");
            cell("x", &text.replace('#', &n.to_string()))
        };
        let other: Vec<Taken> = (8..20).map(lines).collect();
        assert_eq!(first(&other), None, "{name}: another error");
    }
    // What a cell prints itself is not its number.
    let printed: Vec<Taken> = (1..9)
        .map(|n| cell("f()", &format!("In[{n}] done{TRAILER}")))
        .collect();
    assert_eq!(first(&printed), None);
}

#[test]
fn other_cells_and_other_errors_are_no_such_repetition() {
    let failed = |n: u32, error: &str| cell("f()", &format!("In[{n}]\n{error}{TRAILER}"));
    let values: Vec<Taken> = (1..9).map(|n| failed(n, "ValueError: no")).collect();
    assert_eq!(first(&values), None);
    let fixed = [
        failed(1, "SyntaxError: incomplete input"),
        failed(2, "SyntaxError: incomplete input"),
        failed(3, "SyntaxError: invalid syntax"),
    ];
    assert_eq!(first(&fixed), None);
    let codes: Vec<Taken> = (1..9)
        .map(|n| cell(&"(".repeat(n), "SyntaxError: incomplete input"))
        .collect();
    assert_eq!(first(&codes), None);
    let printed: Vec<Taken> = (1..9)
        .map(|n| cell("f()", &format!("SyntaxError: x\n{n}{TRAILER}")))
        .collect();
    assert_eq!(first(&printed), None);
}

#[test]
fn the_same_message_three_times() {
    let history = [
        said("What now?", "Go on."),
        said("What now?", "Go on."),
        said("What now?", "Go on, or give up."),
    ];
    assert_eq!(first(&history), Some((3, Rule::Monologue)));
}

/// Such users say what they say, so that it is no news.
#[test]
fn answers_of_users_who_do_not_listen_do_not_matter() {
    let history = [
        said("What now?", "Go on."),
        said("What now?", "Go on, or give up."),
        said("What now?", "Go on, or give up."),
    ];
    assert_eq!(first(&history), None);
    for user in [User::Nudge(Nudge::default()), User::Fixed(String::new())] {
        assert_eq!(first_with(&user, &history), Some((3, Rule::Monologue)));
    }
}

/// Whoever says them: a program's own user, too.
#[test]
fn words_of_a_nudge_are_no_news() {
    for tags in [false, true] {
        let says = |said: u32| said_by_nudge("What now?", tags, said);
        let history = [says(1), says(2), says(3)];
        assert_eq!(first(&history), Some((3, Rule::Monologue)));
        let other = [says(1), said("What now?", "Look again."), says(3)];
        assert_eq!(first(&other), None);
    }
}

fn said_by_nudge(text: &str, tags: bool, before: u32) -> Taken {
    said(text, &agon_agent::user::nudge(tags, before))
}

#[test]
fn a_conversation_that_moves_is_no_monologue() {
    let asked = [
        said("And then?", "First the bread."),
        said("And then?", "Then the butter."),
        said("And then?", "Then the jam."),
        said("And then?", "That's all."),
    ];
    assert_eq!(first(&asked), None);
    let acted = [
        said("Done?", "No."),
        ran("make", "", 0),
        said("Done?", "No."),
        said("Done?", "No."),
    ];
    assert_eq!(first(&acted), None);
}

#[test]
fn the_same_two_steps_in_turn() {
    let two = [ran("a", "", 0), read("b", Observation::error("no"))];
    assert_eq!(first(&times(&two, 5)), Some((6, Rule::Alternation)));
    let mut moving = times(&two, 3);
    moving[4] = ran("a", "", 1);
    assert_eq!(first(&moving), None);
}

#[test]
fn longer_rounds() {
    for length in 3..=6 {
        let round: Vec<Taken> = (0..length).map(|n| ran(&n.to_string(), "", 0)).collect();
        let history = times(&round, 4);
        assert_eq!(first(&history), Some((3 * length, Rule::Cycle(length))));
        // The last result of the last round is another one.
        let mut moving = times(&round, 3);
        moving[3 * length - 1] = ran(&(length - 1).to_string(), "", 1);
        assert_eq!(first(&moving), None, "{length}");
    }
    let long: Vec<Taken> = (0..7).map(|n| ran(&n.to_string(), "", 0)).collect();
    assert_eq!(
        first(&times(&long, 5)),
        None,
        "too long to be called a cycle"
    );
}

/// Steps of every kind, few enough that they often repeat.
fn any_step() -> impl Strategy<Value = Taken> {
    prop_oneof![
        (0..3_u8, 0..2_i32).prop_map(|(n, status)| ran(&format!("run {n}"), "", status)),
        (0..2_u8).prop_map(|n| read(&n.to_string(), Observation::error("no"))),
        (0..2_u8, 0..2_u8).prop_map(|(n, m)| said(&n.to_string(), &m.to_string())),
        (0..2_u8).prop_map(|n| cell(&n.to_string(), "SyntaxError: no")),
        (0..2_u8).prop_map(|n| refused(&n.to_string(), "no")),
    ]
}

/// The same, and waits, which have a rule of their own.
fn any_step_or_wait() -> impl Strategy<Value = Taken> {
    prop_oneof![
        6 => any_step(),
        1 => (0..2_u8).prop_map(|n| waited(&n.to_string())),
    ]
}

/// A step of a number that no other step has.
fn other_step(n: usize, (kind, seen): (u8, Taken)) -> Taken {
    let text = format!("step {n}");
    let action: Answer = match kind {
        0 => Action::run(text).into(),
        1 => Action::Message { text }.into(),
        2 => Action::Cell { code: text }.into(),
        _ => refused(&text, "").0,
    };
    (action, seen.1)
}

proptest! {
    #[test]
    fn whoever_did_seven_different_things_is_not_stuck(
        before in prop::collection::vec(any_step_or_wait(), 0..30),
        last in prop::collection::vec((0..4_u8, any_step()), 7),
    ) {
        let last = last.into_iter().enumerate().map(|(n, step)| other_step(n, step));
        let history: Vec<Taken> = before.into_iter().chain(last).collect();
        prop_assert_eq!(verdict(&history), None);
    }

    #[test]
    fn whoever_goes_in_circles_is_found_in_three_rounds(
        before in prop::collection::vec(any_step_or_wait(), 0..20),
        round in prop::collection::vec(any_step(), 1..=6),
    ) {
        let rounds = if round.len() == 1 { 4 } else { 3 };
        let history: Vec<Taken> = before.into_iter().chain(times(&round, rounds)).collect();
        prop_assert!(verdict(&history).is_some());
    }

    #[test]
    fn only_the_last_steps_count(
        before in prop::collection::vec(any_step_or_wait(), 0..60),
        last in prop::collection::vec(any_step(), 18),
    ) {
        let alone = verdict(&last);
        let history: Vec<Taken> = before.into_iter().chain(last).collect();
        prop_assert_eq!(verdict(&history), alone);
    }
}
