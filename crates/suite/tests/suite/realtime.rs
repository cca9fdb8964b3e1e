//! Tasks that are played in real time: their section, programs, solutions and tests of the screen.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use agon_core::check::{CheckKind, TextTest};
use agon_core::sight::{Colour, NumberForm, NumberTest, ProcessTest, TitleTest};
use agon_core::{
    Action, Digest, Region, ScreenPoint, Seconds, SightTest, Solution, Task, WorldClock,
};

use super::fixture::{Folder, checks, one};

const DESKTOP: &str =
    "task: x\nenvironment: {kind: desktop, screen: 640x480, apps: [hexagon --seed 7, xterm]}\n";

fn sight(yaml: &str) -> SightTest {
    let task = Folder::new()
        .with(
            "demo/one/task.yaml",
            &format!("{DESKTOP}checks:\n  - {yaml}\n"),
        )
        .with("demo/one/verify/lamp.png", "png")
        .suite()
        .tasks
        .remove(0);
    match checks(&task).remove(0).kind {
        CheckKind::Sight(test) => test,
        other => panic!("{other:?}"),
    }
}

fn played(realtime: &str) -> Task {
    one(&format!("{DESKTOP}realtime: {realtime}\n"))
}

fn clock(text: &str) -> WorldClock {
    played(&format!("{{clock: {text}}}"))
        .realtime
        .unwrap()
        .clock
}

#[test]
fn what_is_not_said_about_a_play() {
    let task = played("{}");
    let realtime = task.realtime.as_ref().unwrap();
    assert_eq!((&realtime.window, &realtime.begin), (&None, &None));
    assert_eq!(realtime.clock, WorldClock::Realtime);
    assert!(realtime.ends.on_host().is_empty());
    assert_eq!(
        (realtime.interval, realtime.frames),
        (Seconds::millis(500), 3)
    );
    assert_eq!(task.limits.seconds, Seconds::whole(120));
    assert_eq!(task.limits.steps, 1_000_000);
    assert!(one(DESKTOP).realtime.is_none());
}

#[test]
fn what_is_said_about_a_play() {
    let task = one(&format!(
        "{DESKTOP}level: paper\nlimits: {{seconds: 30, steps: 77}}\nrealtime:\n  window: Hexagon\n  \
         clock: {{latency: 200ms}}\n  begin: space\n  interval: 100ms\n  frames: 8\n  ends:\n    \
         - {{type: screen_text, region: [0, 0, 100, 50], contains: PRESS SPACE}}\n    \
         - {{type: process, app: hexagon, alive: false}}\n"
    ));
    let realtime = task.realtime.as_ref().unwrap();
    assert_eq!(realtime.window.as_deref(), Some("Hexagon"));
    assert_eq!(realtime.begin.as_deref(), Some("space"));
    assert_eq!(
        (realtime.interval, realtime.frames),
        (Seconds::millis(100), 8)
    );
    assert_eq!(
        (task.limits.seconds, task.limits.steps),
        (Seconds::whole(30), 77)
    );
    let [text, process] = realtime.ends.on_host().as_slice() else {
        panic!("{realtime:?}")
    };
    assert!(matches!(text, SightTest::Text { number: None, .. }));
    assert_eq!(
        *process,
        SightTest::Process {
            app: "hexagon".to_owned(),
            state: ProcessTest::Alive(false),
        }
    );
}

#[test]
fn clocks() {
    let paused = |slice| WorldClock::Paused {
        slice: Seconds::millis(slice),
    };
    let latency = WorldClock::Latency {
        delay: Seconds::millis(200),
    };
    assert_eq!(clock("realtime"), WorldClock::Realtime);
    assert_eq!(clock("paused"), paused(250));
    assert_eq!(clock("{paused: 0.50}"), paused(500));
    for text in [
        "{latency: 200ms}",
        "{latency: 0.2}",
        "'latency: 200ms'",
        "latency 0.2s",
    ] {
        assert_eq!(clock(text), latency, "{text}");
    }
}

#[test]
fn suites_budgets_of_turns_are_not_for_plays() {
    let suite = Folder::of_task(&format!("{DESKTOP}realtime: {{}}\n"))
        .with("suite.toml", "[defaults.limits]\nsteps = 5\nseconds = 20\n")
        .suite();
    let limits = &suite.tasks[0].limits;
    assert_eq!(
        (limits.steps, limits.seconds),
        (1_000_000, Seconds::whole(20))
    );
}

#[test]
fn what_is_looked_for_while_playing_is_at_hand_then() {
    let task = Folder::new()
        .with(
            "demo/one/task.yaml",
            &format!("{DESKTOP}realtime: {{ends: [{{type: template, path: over.png}}]}}\n"),
        )
        .with("demo/one/verify/over.png", "png")
        .with("demo/one/verify/secret.txt", "secret")
        .suite()
        .tasks
        .remove(0);
    let realtime = task.realtime.unwrap();
    let templates = realtime.templates.on_host();
    assert_eq!(templates.entries().len(), 1);
    assert!(templates.find(Path::new("over.png")).is_some());
}

#[test]
fn everything_that_changes_a_play_changes_its_digest() {
    let digest = |realtime: &str| played(realtime).played;
    let digests = [
        one(DESKTOP).played,
        digest("{}"),
        digest("{window: A}"),
        digest("{begin: A}"),
        digest("{clock: paused}"),
        digest("{clock: {paused: 0.5}}"),
        digest("{interval: 1}"),
        digest("{frames: 1}"),
        digest("{ends: [{type: window, title: A}]}"),
        digest("{ends: [{type: window, title: B}]}"),
    ];
    for (place, one) in digests.iter().enumerate() {
        assert!(!digests[..place].contains(one), "{place}");
    }
    assert_eq!(digest("{}"), digest("{interval: 500ms}"));
    let template = |content: &str| {
        let yaml = format!("{DESKTOP}realtime: {{ends: [{{type: template, path: a.png}}]}}\n");
        Folder::new()
            .with("demo/one/task.yaml", &yaml)
            .with("demo/one/verify/a.png", content)
            .suite()
            .tasks
            .remove(0)
            .played
    };
    assert_ne!(template("a"), template("b"));
}

/// Runs that were finished before stay finished.
#[test]
fn other_tasks_keep_their_digests() {
    // The actions that were the default when these digests were taken.
    let suite = Folder::of_task(
        "task: x\nchecks: [{type: returned_result, number: 4}]\n\
         actions: [run, read, write, edit, message, think, finish, wait]\n",
    )
    .suite();
    assert_eq!(
        [suite.tasks[0].played, suite.digest].map(|digest| digest.to_string()),
        [
            "46ada3232e664f78b8f28376cf70a0f7d86c8c2952aa0ac776ddc67d3310330f",
            "91b0e25ec2ceb273e692db4e75389a6d118c259d45f12eac135acb43892af23f",
        ]
    );
}

#[test]
fn a_player_solves_a_play() {
    let task = one(&format!(
        "{DESKTOP}realtime: {{}}\nsolution: {{player: hexagon}}\n"
    ));
    let solution = task.solution.on_host().clone();
    assert_eq!(solution, Some(Solution::Player("hexagon".to_owned())));
    let other = one(&format!(
        "{DESKTOP}realtime: {{}}\nsolution: {{player: 'one-key:Left'}}\n"
    ));
    assert_eq!(task.played, other.played);
    assert_ne!(task.digest, other.digest);
    let listed = one("task: x\nsolution: [{action: finish}]\n");
    assert_eq!(
        *listed.solution.on_host(),
        Some(Solution::Actions(vec![Action::Finish { result: None }]))
    );
}

#[test]
fn programs_of_this_machine_and_of_the_suite() {
    let folder =
        Folder::of_task("task: x\nenvironment: {kind: desktop, programs: [hexagon, tools/game]}\n")
            .with("demo/two.yaml", "task: x\nenvironment: {kind: none}\n")
            .with("demo/three.yaml", "task: x\ndesktop_image: a:1\n")
            .with(
                "suite.toml",
                "[defaults.environment]\nprograms = ['other']\n",
            )
            .with("tools/game", "#!/bin/sh\n");
    let game = folder.path().join("tools/game");
    fs::set_permissions(&game, fs::Permissions::from_mode(0o755)).unwrap();
    let suite = folder.suite();
    let by_id = |id: &str| suite.tasks.iter().find(|task| task.id.id() == id).unwrap();
    let task = by_id("one");
    assert_eq!(task.environment.programs, ["hexagon", "tools/game"]);
    let [entry] = task.programs.show().entries() else {
        panic!("{:?}", task.programs)
    };
    assert_eq!(entry.path, Path::new("tools/game"));
    assert_eq!(entry.source, fs::canonicalize(&game).unwrap());
    assert_eq!(entry.digest, Digest::of(b"#!/bin/sh\n"));
    // A default holds only where it can.
    assert!(by_id("two").environment.programs.is_empty());
    assert!(by_id("three").environment.programs.is_empty());
    fs::write(&game, "#!/bin/bash\n").unwrap();
    assert_ne!(folder.suite().digest, suite.digest);
}

#[test]
fn programs_stay_in_the_suite() {
    let folder =
        Folder::of_task("task: x\nenvironment: {programs: [tools/sh]}\n").with("tools/kept", "");
    symlink("/bin/sh", folder.path().join("tools/sh")).unwrap();
    assert!(folder.complaint().contains("leads out of the suite"));
}

#[test]
fn texts_on_the_screen() {
    assert_eq!(
        sight(
            "{type: screen_text, region: [1, 2, 3, 4], contains: a, number: {after: LAST, form: seconds_hundredths, at_least: 5, within_play: true}}"
        ),
        SightTest::Text {
            region: Some(Region {
                x: 1,
                y: 2,
                width: 3,
                height: 4
            }),
            tests: vec![TextTest::Contains("a".to_owned())],
            number: Some(NumberTest {
                after: Some("LAST".to_owned()),
                form: NumberForm::SecondsHundredths,
                at_least: Some(5.0),
                at_most: None,
                within_play: true,
            }),
        }
    );
    assert_eq!(
        sight("{type: screen_text, number: 4.50, tolerance: 1}"),
        SightTest::Text {
            region: None,
            tests: vec![TextTest::Number {
                value: 4.5,
                tolerance: 1.0
            }],
            number: None,
        }
    );
}

#[test]
fn numbers_are_read_as_they_were() {
    for (text, value) in [
        ("4", 4.0),
        ("-4", -4.0),
        ("1e3", 1_000.0),
        ("'0.50'", 0.5),
        (".5", 0.5),
    ] {
        let yaml = format!("task: x\nchecks: [{{type: returned_result, number: {text}}}]\n");
        let tests = vec![TextTest::Number {
            value,
            tolerance: 0.0,
        }];
        let kind = checks(&one(&yaml)).remove(0).kind;
        assert_eq!(kind, CheckKind::ReturnedResult { tests }, "{text}");
    }
}

#[test]
fn pixels_regions_and_templates() {
    assert_eq!(
        sight("{type: pixel, x: 639, y: 0, colour: '#ff8000', tolerance: 3}"),
        SightTest::Pixel {
            at: ScreenPoint { x: 639, y: 0 },
            colour: Colour([255, 128, 0]),
            tolerance: 3,
        }
    );
    assert_eq!(
        sight("{type: region_changed}"),
        SightTest::Changed {
            region: None,
            share: 0.01,
            changed: true,
        }
    );
    assert_eq!(
        sight("{type: template, path: lamp.png, likeness: 0.8, shown: false}"),
        SightTest::Template {
            path: "lamp.png".to_owned(),
            region: None,
            likeness: 0.8,
            shown: false,
        }
    );
}

#[test]
fn windows_and_processes() {
    assert_eq!(
        sight("{type: window, matches: '^Hex'}"),
        SightTest::Window {
            title: TitleTest::Matches("^Hex".to_owned()),
            exists: true,
        }
    );
    assert_eq!(
        sight("{type: window, title: 2048, exists: false}"),
        SightTest::Window {
            title: TitleTest::Contains("2048".to_owned()),
            exists: false,
        }
    );
    assert_eq!(
        sight("{type: process, app: hexagon, exit_status: 0}"),
        SightTest::Process {
            app: "hexagon".to_owned(),
            state: ProcessTest::Exited(0),
        }
    );
}

#[test]
fn every_wrong_test_of_the_screen_is_reported() {
    let complaint = Folder::of_task(&format!(
        "{DESKTOP}checks:\n  - {{type: screen_text}}\n  - {{type: screen_txt, contains: a}}\n  \
         - {{type: screen_text, contains: a, path: b}}\n  \
         - {{type: screen_text, number: {{afer: LAST}}}}\n  \
         - {{type: screen_text, number: {{form: seconds}}}}\n  \
         - {{type: screen_text, number: {{at_least: 2, at_most: 1}}}}\n  \
         - {{type: screen_text, number: {{}}, tolerance: 1}}\n  \
         - {{type: screen_text, contains: a, region: [1, 2, 3]}}\n  \
         - {{type: screen_text, contains: a, region: [600, 0, 100, 10]}}\n  \
         - {{type: pixel, x: 1, y: 1, color: red}}\n  \
         - {{type: pixel, x: 1, y: 1, colour: red}}\n  \
         - type: pixel\n    x: 1\n    y: 1\n    colour: #ff0000\n  \
         - {{type: pixel, x: 1, y: 480, colour: ff0000}}\n  \
         - {{type: pixel, x: 1, y: 1, colour: ff0000, tolerance: 0.5}}\n  \
         - {{type: region_changed, share: 0}}\n  - {{type: template, path: lamp.png}}\n  \
         - {{type: window}}\n  - {{type: window, title: a, matches: b}}\n  \
         - {{type: process, app: gimp, alive: true}}\n  - {{type: process, app: x, alive: true}}\n  \
         - {{type: process, app: xterm}}\n  \
         - {{type: file, path: a, number: {{after: b}}}}\n"
    ))
    .complaint();
    insta::assert_snapshot!(complaint);
}

#[test]
fn every_wrong_play_is_reported() {
    let desktop = "task: x\nenvironment: {kind: desktop}\n";
    let complaint = Folder::new()
        .with("a/a.yaml", "task: x\nrealtime: {window: A}\n")
        .with("a/b.yaml", &format!("{desktop}realtime: {{windw: A}}\n"))
        .with("a/c.yaml", &format!("{desktop}realtime: {{clock: slow}}\n"))
        .with(
            "a/d.yaml",
            &format!("{desktop}realtime: {{clock: {{latncy: 1}}}}\n"),
        )
        .with(
            "a/e.yaml",
            &format!("{desktop}realtime: {{clock: {{paused: soon}}}}\n"),
        )
        .with(
            "a/f.yaml",
            &format!("{desktop}realtime: {{clock: {{paused: 1, latency: 1}}}}\n"),
        )
        .with(
            "a/g.yaml",
            &format!("{desktop}realtime: {{interval: 10ms, frames: 1000, begin: ''}}\n"),
        )
        .with(
            "a/h.yaml",
            &format!(
                "{desktop}realtime:\n  ends:\n    - {{type: file, path: a}}\n    \
                 - {{type: window, title: a, weight: 2}}\n    - {{type: pixel, x: 1}}\n    - text\n"
            ),
        )
        .with(
            "a/i.yaml",
            &format!("{desktop}solution: {{player: hexagon}}\n"),
        )
        .with(
            "a/j.yaml",
            &format!("{desktop}realtime: {{}}\nsolution: {{playr: hexagon}}\n"),
        )
        .with(
            "a/k.yaml",
            &format!("{desktop}realtime: {{}}\nsolution: hexagon\n"),
        )
        .with(
            "a/l.yaml",
            "task: x\nenvironment: {programs: [/bin/sh, ../x, a/b]}\n",
        )
        .with(
            "a/m.yaml",
            "task: x\nenvironment: {kind: desktop, image: 'a:1', programs: [sh]}\n",
        )
        .with(
            "a/n.yaml",
            "task: x\nenvironment: {kind: none, programs: [sh]}\n",
        )
        .with(
            "a/o.yaml",
            "task: x\nenvironment:\n  programs: [sh, tools/sh, tools/no]\n",
        )
        .with("a/p.yaml", "task: x\nchecks: [{type: window, title: a}]\n")
        .with("tools/sh", "")
        .with("tools/no", "")
        .complaint();
    insta::assert_snapshot!(complaint);
}

const RICH: &str = "task: x\nenvironment: {kind: desktop, screen: 640x480, apps: [game]}\n\
realtime:\n  window: Game\n  clock: {latency: 200ms}\n  begin: space\n  interval: 0.1\n  frames: 4\n  ends:\n    \
- {type: screen_text, region: [0, 0, 10, 10], contains: OVER}\nsolution: {player: game}\nchecks:\n  \
- {type: screen_text, number: {after: LAST, form: minutes_seconds, at_least: 5}}\n  \
- {type: pixel, x: 1, y: 2, colour: '#ff0000', tolerance: 3}\n  - {type: process, app: game, alive: no}\n";

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(128))]
    #[test]
    fn damaged_plays_give_errors_that_can_be_shown(
        at in 0..RICH.chars().count(),
        gone in 0usize..6,
        new in "[-:{}\\[\\],'\"#\n a0.ß]{0,3}",
    ) {
        let start: String = RICH.chars().take(at).collect();
        let rest: String = RICH.chars().skip(at + gone).collect();
        let folder = Folder::of_task(&format!("{start}{new}{rest}"));
        if folder.load().is_err() {
            proptest::prop_assert!(folder.complaint().contains("suite/demo/one.yaml:"));
        }
    }
}
