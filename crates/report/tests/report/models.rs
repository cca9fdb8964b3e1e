//! Which models played and judged is said in every format: comparing them is what reports are for.

use agon_core::Digest;
use agon_report::{Format, RunReport, Screen, render};
use agon_store::{JudgeStamp, Manifest};

use crate::fixture::{graded, manifest, model, task};

fn asked(name: &str, votes: u32) -> Manifest {
    let mut manifest = manifest(1, vec![task("files/copy", None)]);
    manifest.run = format!("by-{votes}");
    manifest.models = vec![model(name)];
    manifest.judge = Some(JudgeStamp {
        model: model("mock/judge"),
        votes,
        prompts: Digest::of(b"prompts"),
    });
    manifest
}

fn formats() -> [Format; 6] {
    let table = Format::Table(Screen {
        width: 200,
        ..Screen::default()
    });
    [
        table,
        Format::Markdown,
        Format::Html,
        Format::Csv,
        Format::Junit,
        Format::Json,
    ]
}

#[test]
fn every_format_names_the_model_and_the_judge() {
    let manifest = asked("mock/first<b>", 3);
    let lines = vec![graded("files/copy", 1, 1.0)];
    for format in formats() {
        let run = RunReport::new(&manifest, &lines).unwrap();
        let text = render(format, &[run]).unwrap();
        assert!(text.contains("mock/first"), "{format:?}: {text}");
        assert!(text.contains("mock/judge"), "{format:?}: {text}");
        let markup = matches!(format, Format::Html | Format::Markdown | Format::Junit);
        assert!(!markup || !text.contains("first<b>"), "{format:?}");
    }
}

#[test]
fn runs_of_two_models_can_be_told_apart() {
    let (first, second) = (asked("mock/first", 1), asked("mock/second", 3));
    let lines = vec![graded("files/copy", 1, 1.0)];
    for format in [formats()[0], Format::Markdown, Format::Html] {
        let runs = [&first, &second].map(|manifest| RunReport::new(manifest, &lines).unwrap());
        let text = render(format, &runs).unwrap();
        let row = |run: &str| {
            let at = text.find(run).unwrap();
            text[at..].split(run).nth(1).unwrap().to_owned()
        };
        assert!(row("by-1").contains("mock/first"), "{format:?}: {text}");
        assert!(row("by-3").contains("mock/second"), "{format:?}: {text}");
        assert!(text.contains("mock/judge (3 votes)"), "{format:?}: {text}");
    }
}

#[test]
fn a_run_without_models_says_nothing_of_them() {
    let manifest = manifest(1, vec![task("files/copy", None)]);
    let lines = vec![graded("files/copy", 1, 1.0)];
    for format in [formats()[0], Format::Markdown, Format::Html, Format::Json] {
        let run = RunReport::new(&manifest, &lines).unwrap();
        let text = render(format, &[run]).unwrap();
        assert!(!text.contains("Asked"), "{format:?}: {text}");
        assert!(!text.contains("model "), "{format:?}: {text}");
        assert!(!text.contains("\"models\""), "{format:?}: {text}");
    }
}

#[test]
fn a_runner_is_not_said_to_be_what_nobody_asked_for() {
    let lines = vec![graded("files/copy", 1, 1.0)];
    for (spec, says, not) in [
        ("runner:cmd:x", "The runner ran unconfined", "cmd-host:"),
        ("cmd-host:x", "on the host (cmd-host:)", "The runner"),
    ] {
        let mut manifest = manifest(1, vec![task("files/copy", None)]);
        manifest.agent.spec = spec.to_owned();
        manifest.agent.unconfined = true;
        let run = RunReport::new(&manifest, &lines).unwrap();
        let text = render(formats()[0], &[run]).unwrap();
        assert!(text.contains(says), "{text}");
        assert!(!text.contains(not), "{text}");
    }
}
