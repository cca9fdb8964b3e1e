//! The published test cases of OSUniverse load unchanged.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agon_core::check::{CheckKind, ProseSubject};
use agon_core::environment::{EnvironmentKind, Network};
use agon_core::{ActionKind, Level, Task};
use agon_suite::Suite;

use super::fixture::{checks, load};

const IMAGE: &str = "us-docker.pkg.dev/agentsea-dev/agentd/desktop-webtop:8ed7f4e";

/// All 160 of them, with their licence.
fn published() -> Suite {
    load(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/osuniverse/testcases"))
        .unwrap()
}

fn find<'s>(suite: &'s Suite, id: &str) -> &'s Task {
    let found = suite.tasks.iter().find(|task| task.id.to_string() == id);
    found.unwrap()
}

#[test]
fn a_case_becomes_a_desktop_task() {
    let suite = published();
    assert_eq!(suite.name, "testcases");
    let task = find(&suite, "terminal/fortune");
    assert_eq!(task.name, "Terminal - Fortune");
    assert_eq!(task.level, Some(Level::Wood));
    assert_eq!((task.weight, task.limits.steps), (1.0, 25));
    assert_eq!(task.environment.kind, EnvironmentKind::Desktop);
    assert_eq!(task.environment.image.as_deref(), Some(IMAGE));
    assert_eq!(task.environment.network, Network::None);
    assert!(task.setup.as_ref().unwrap().starts_with("setsid xfce4"));
    assert!(!task.actions.contains(&ActionKind::Run));
    let subjects: Vec<_> = checks(task)
        .into_iter()
        .map(|check| match check.kind {
            CheckKind::Prose { subject, .. } => subject,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        subjects,
        [ProseSubject::FinalScreenshot, ProseSubject::ExpectedFlow]
    );
}

#[test]
fn months_are_expanded_from_the_given_clock() {
    let suite = published();
    let task = find(&suite, "browser/airbnb_search_1");
    assert_eq!(task.setup, None);
    let instruction = task.instruction.show();
    assert!(instruction.contains("November 15th") && instruction.contains("November 22nd"));
    match &checks(task)[1].kind {
        CheckKind::Prose { value, .. } => assert!(value.contains("from November 15th"), "{value}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn tasks_come_by_level_then_category_then_id() {
    let suite = published();
    let order: Vec<_> = suite
        .tasks
        .iter()
        .map(|task| (task.level, task.id.clone()))
        .collect();
    let mut sorted = order.clone();
    sorted.sort();
    assert_eq!(order, sorted);
    assert_eq!(order[0].0, Some(Level::Paper));
}

#[test]
fn all_160_cases_have_the_published_statistics() {
    let suite = published();
    let tasks = &suite.tasks;
    assert_eq!(tasks.len(), 160);

    let mut matrix: BTreeMap<&str, [usize; 5]> = BTreeMap::new();
    for task in tasks {
        matrix.entry(task.id.category()).or_default()[task.level.unwrap() as usize] += 1;
    }
    let expected = BTreeMap::from([
        ("browser", [1, 14, 9, 1, 0]),
        ("desktop", [1, 9, 0, 0, 0]),
        ("games", [1, 3, 10, 6, 4]),
        ("gimp", [0, 2, 0, 0, 3]),
        ("libreoffice_calc", [3, 9, 16, 4, 0]),
        ("libreoffice_impress", [2, 1, 4, 1, 0]),
        ("libreoffice_writer", [3, 14, 7, 14, 2]),
        ("multiapp", [0, 0, 0, 4, 2]),
        ("terminal", [0, 6, 2, 2, 0]),
    ]);
    assert_eq!(matrix, expected);
    assert_eq!(tasks.iter().map(|task| task.weight).sum::<f64>(), 375.5);

    let mut by_type: BTreeMap<&str, usize> = BTreeMap::new();
    let mut by_count = [0; 4];
    let mut combinations: BTreeMap<String, usize> = BTreeMap::new();
    for task in tasks {
        let mut subjects = Vec::new();
        for check in checks(task) {
            match check.kind {
                CheckKind::Prose { subject, .. } => subjects.push(subject.name()),
                other => panic!("{other:?}"),
            }
        }
        subjects.sort_unstable();
        for subject in &subjects {
            *by_type.entry(subject).or_default() += 1;
        }
        by_count[subjects.len()] += 1;
        *combinations.entry(subjects.join("+")).or_default() += 1;
    }
    assert_eq!(
        by_type,
        BTreeMap::from([
            ("command_output", 59),
            ("expected_flow", 17),
            ("final_screenshot", 60),
            ("returned_result", 54),
        ])
    );
    assert_eq!(by_count, [0, 134, 22, 4]);
    let combined = |name: &str| combinations.get(name).copied().unwrap_or(0);
    assert_eq!(combined("command_output"), 46);
    assert_eq!(combined("returned_result"), 44);
    assert_eq!(combined("final_screenshot"), 38);
    assert_eq!(combined("final_screenshot+returned_result"), 7);
    assert_eq!(combined("expected_flow"), 6);
    assert_eq!(combined("expected_flow+final_screenshot"), 6);
    assert_eq!(combined("command_output+final_screenshot"), 6);
    assert_eq!(
        combined("expected_flow+final_screenshot+returned_result"),
        3
    );
    assert_eq!(combined("command_output+command_output"), 2);
    assert_eq!(combined("command_output+command_output+expected_flow"), 1);
    assert_eq!(combined("command_output+expected_flow"), 1);

    let names: std::collections::BTreeSet<_> = tasks.iter().map(|task| &task.name).collect();
    assert_eq!(names.len(), 160);
    let without_setup = |category: &str| {
        let tasks = tasks.iter().filter(|task| task.setup.is_none());
        tasks.filter(|task| task.id.category() == category).count()
    };
    assert_eq!(
        ["browser", "games", "desktop", "terminal", "multiapp"].map(without_setup),
        [22, 8, 6, 5, 1]
    );
    assert_eq!(
        tasks.iter().filter(|task| task.setup.is_some()).count(),
        118
    );
    assert!(
        tasks
            .iter()
            .all(|task| task.environment.image.as_deref() == Some(IMAGE))
    );
    assert!(
        !tasks
            .iter()
            .any(|task| task.instruction.show().contains("[%"))
    );

    // All 16 rooms of the gym have the same code word.
    let shared = agon_suite::lint(&suite).into_iter().any(|finding| {
        finding.task.id() == "room_1" && finding.message.ends_with("games/room_2 and 14 more")
    });
    assert!(shared);
}
