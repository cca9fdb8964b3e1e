//! Texts from tasks and agents can't leave their place in any format, and no format hides what puts
//! the numbers in doubt.

use agon_report::{Format, Look, RunReport, Screen, render};
use agon_store::{Manifest, TrialLine};

use crate::fixture::{graded, manifest, task, troubled};

const FORMATS: [Format; 6] = [
    Format::Table(Screen {
        width: 100,
        look: Look::Drawn,
    }),
    Format::Markdown,
    Format::Json,
    Format::Csv,
    Format::Junit,
    Format::Html,
];

fn written(format: Format, manifest: &Manifest, lines: &Vec<TrialLine>) -> String {
    render(format, &[RunReport::new(manifest, lines).unwrap()]).unwrap()
}

#[test]
fn no_format_lets_control_characters_or_markup_through() {
    let (manifest, lines) = troubled();
    for format in FORMATS {
        let text = written(format, &manifest, &lines);
        let control = text.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(control, None, "{format:?}");
    }
    for format in [Format::Markdown, Format::Junit, Format::Html] {
        let text = written(format, &manifest, &lines);
        assert!(!text.contains("<script"), "{format:?}");
        assert!(!text.contains("<b>\""), "{format:?}");
    }
}

#[test]
fn every_format_says_that_the_agent_was_unconfined_and_the_network_open() {
    let (troubled, lines) = troubled();
    let mut calm = troubled.clone();
    calm.agent.unconfined = false;
    calm.tasks[4].network = false;
    for format in FORMATS {
        let (loud, quiet) = (
            written(format, &troubled, &lines),
            written(format, &calm, &lines),
        );
        let says = |text: &str| -> [bool; 2] {
            match format {
                Format::Csv => {
                    let cell = |line: &str, at: usize| line.split(',').nth(at) == Some("true");
                    // The agent's name holds no comma in this run.
                    [
                        text.lines().any(|l| cell(l, 3)),
                        text.lines().any(|l| l.contains(",web,bronze,2,true,")),
                    ]
                }
                _ => [
                    text.contains("ran unconfined on the host"),
                    text.contains("network was open in 1 of 6 tasks"),
                ],
            }
        };
        assert_eq!(says(&loud), [true, true], "{format:?}");
        assert_eq!(says(&quiet), [false, false], "{format:?}");
    }
}

#[test]
fn a_large_run_lists_only_what_did_not_pass() {
    let tasks: Vec<_> = (0..5_001)
        .map(|n| task(&format!("a/t{n:04}"), None))
        .collect();
    let manifest = manifest(1, tasks);
    let lines: Vec<TrialLine> = (0..5_001)
        .map(|n| graded(&format!("a/t{n:04}"), 1, if n == 77 { 0.0 } else { 1.0 }))
        .collect();
    let page = written(Format::Html, &manifest, &lines);
    assert!(page.contains("a/t0077") && !page.contains("a/t0078"));
    assert!(page.contains("1 of 5,001 trials are listed"));
    let cases = written(Format::Junit, &manifest, &lines)
        .matches("<testcase")
        .count();
    assert_eq!(cases, 5_001);
    assert_eq!(
        written(Format::Csv, &manifest, &lines).lines().count(),
        5_002
    );
}

#[test]
fn a_pass_with_signs_of_tampering_says_so() {
    let manifest = manifest(1, vec![task("a/b", None)]);
    let lines = vec![TrialLine {
        integrity: Some("a forged verdict".to_owned()),
        ..graded("a/b", 1, 1.0)
    }];
    for format in [Format::Junit, Format::Csv, Format::Html] {
        let text = written(format, &manifest, &lines);
        assert!(text.contains("a forged verdict"), "{format:?}");
    }
}
