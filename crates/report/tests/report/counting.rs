//! What counts as what: graded, faulted, missing, final, stray.

use agon_core::verdict::TurnEnd;
use agon_core::{FaultClass, Level, Money};
use agon_report::{
    CaveatKind, Format, Headline, Interval, Method, RunReport, Screen, Summary, render,
};
use agon_store::TrialLine;

use crate::fixture::{faulted, graded, manifest, task, troubled};

#[track_caller]
fn close(ours: impl Into<Option<f64>>, expected: f64) {
    let ours = ours.into().unwrap();
    assert!((ours - expected).abs() < 1e-9, "{ours} is not {expected}");
}

#[test]
fn the_troubled_run_adds_up() {
    let (manifest, lines) = troubled();
    let summary = Summary::collect(&manifest, lines);
    let overall = &summary.overall;
    assert_eq!(
        (
            overall.tasks,
            overall.trials,
            overall.passed,
            overall.failed,
            overall.faulted,
            overall.missing
        ),
        (6, 12, 5, 4, 2, 1)
    );
    close(overall.coverage, 9.0 / 12.0);
    close(overall.score, 5.5 / 9.0);
    close(overall.score_floor, 5.5 / 12.0);
    close(summary.pass_rate, 5.0 / 9.0);
    // Weights: copy 0.5, rename 1, greet 0.5, hostile 4, search 2, ask 1.
    let gained = 0.5 * 2.0 + 1.0 * 1.5 + 0.5 * 1.0 + 2.0 * 1.0;
    close(
        summary.weighted.score,
        gained / (1.0 + 2.0 + 1.0 + 4.0 + 2.0 + 1.0),
    );
    close(summary.weighted.score_floor, gained / (2.0 * 9.0));
    assert_eq!(overall.score_ci.unwrap().method, Method::EffectiveTasks);
    let marks = &summary.marks;
    assert_eq!(
        (
            marks.attempts,
            marks.retried,
            marks.rerun,
            marks.tainted,
            marks.integrity,
            marks.stray_lines
        ),
        (12, 1, 1, 1, 1, 0)
    );
    // The retried attempt's time counts, its fault does not.
    close(overall.seconds.total(), 12.0 * 2.0);
    let faults: Vec<_> = summary
        .faults
        .iter()
        .map(|fault| (fault.class, fault.trials))
        .collect();
    assert_eq!(faults, [(FaultClass::Check, 1), (FaultClass::Start, 1)]);
    let steps = summary.steps.unwrap();
    assert_eq!(steps.max, 10);
    assert_eq!(steps.histogram.iter().map(|bin| bin.trials).sum::<u64>(), 9);
}

#[test]
fn unknown_usage_stays_unknown() {
    let none = Summary::collect(
        &manifest(1, vec![task("a/b", None)]),
        [graded("a/b", 1, 1.0)],
    );
    assert_eq!((none.usage.input_tokens, none.usage.money), (None, None));
    let (manifest, lines) = troubled();
    let some = Summary::collect(&manifest, lines).usage;
    assert_eq!(some.input_tokens, Some(24_000));
    assert_eq!(some.money, Some(Money::from_micros(1_250_000)));
    assert_eq!((some.reported, some.unpriced), (2, 1));
}

/// What one trial says of others is nothing; of two tasks, nearly so.
#[test]
fn one_task_and_one_epoch_show_no_interval() {
    let of = |epochs: u32, ids: &[&str]| {
        let tasks = ids.iter().map(|id| task(id, Some(Level::Wood))).collect();
        let manifest = manifest(epochs, tasks);
        let lines = ids
            .iter()
            .flat_map(|id| (1..=epochs).map(|epoch| graded(id, epoch, 1.0)));
        Summary::collect(&manifest, lines)
    };
    let one = of(1, &["a/b"]);
    assert_eq!((one.overall.score, one.overall.score_ci), (Some(1.0), None));
    assert_eq!((one.pass_rate_ci, one.weighted.score_ci), (None, None));
    assert_eq!(one.levels[0].standing.score_ci, None);
    // Several attempts at one task speak of that task, and say so.
    let again = of(4, &["a/b"]);
    for found in [
        again.overall.score_ci,
        again.pass_rate_ci,
        again.weighted.score_ci,
    ] {
        let found = found.unwrap();
        assert_eq!(found.method, Method::BinomialOverAttempts);
        assert!(found.low < 0.5 && found.high == 1.0, "{found:?}");
    }
    assert!(
        again
            .repeats
            .iter()
            .all(|repeat| repeat.pass_at_ci.is_none())
    );
    // Beside other tasks it does not: there the interval of a group is one over tasks.
    let two = of(4, &["a/b", "c/d"]);
    assert_eq!(two.overall.score_ci.unwrap().method, Method::EffectiveTasks);
    assert_eq!(two.categories[0].standing.score_ci, None);
}

#[test]
fn where_there_is_no_interval_reports_say_why() {
    let manifest = manifest(1, vec![task("a/b", Some(Level::Wood))]);
    let lines = vec![graded("a/b", 1, 1.0)];
    for format in [
        Format::Table(Screen::default()),
        Format::Markdown,
        Format::Html,
    ] {
        let report = RunReport::new(&manifest, &lines).unwrap();
        let text = render(format, &[report]).unwrap();
        assert!(
            text.contains("no interval: fewer than two tasks graded"),
            "{text}"
        );
        assert!(text.contains("an interval needs two tasks"), "{text}");
    }
}

#[test]
fn one_epoch_of_whole_scores_gets_the_binomial_interval() {
    let tasks = (0..10).map(|n| task(&format!("a/t{n}"), None)).collect();
    let lines = (0..10).map(|n| graded(&format!("a/t{n}"), 1, if n < 7 { 1.0 } else { 0.0 }));
    let summary = Summary::collect(&manifest(1, tasks), lines);
    let Interval { low, high, method } = summary.overall.score_ci.unwrap();
    assert_eq!(method, Method::Binomial);
    close(low, 0.356_513_440_894);
    close(high, 0.929_149_837_601);
    assert!(summary.repeats.is_empty());
    assert!(summary.caveats.is_empty());
}

#[test]
fn repeats_average_over_tasks_that_have_enough_attempts() {
    let tasks = vec![
        task("a/one", None),
        task("a/two", None),
        task("a/three", None),
    ];
    let epochs = 5;
    let mut lines = Vec::new();
    for epoch in 1..=epochs {
        lines.push(graded("a/one", epoch, if epoch <= 2 { 1.0 } else { 0.0 }));
        lines.push(graded("a/two", epoch, 1.0));
    }
    // Two graded of five: enough for k = 1 and 2 only.
    lines.push(graded("a/three", 1, 1.0));
    lines.push(graded("a/three", 2, 0.0));
    lines.push(faulted("a/three", 3, FaultClass::Model, "down"));
    let repeats = Summary::collect(&manifest(epochs, tasks), lines).repeats;
    let seen: Vec<_> = repeats
        .iter()
        .map(|repeat| (repeat.k, repeat.tasks))
        .collect();
    assert_eq!(seen, [(1, 3), (2, 3), (4, 2), (5, 2)]);
    close(repeats[0].pass_at, (0.4 + 1.0 + 0.5) / 3.0);
    close(repeats[1].pass_at, (0.7 + 1.0 + 1.0) / 3.0);
    close(repeats[1].pass_all, (0.1 + 1.0 + 0.0) / 3.0);
    close(repeats[3].pass_all, 0.5);
}

#[test]
fn lines_outside_of_the_plan_are_left_out_and_said() {
    let lines: Vec<TrialLine> = vec![
        graded("a/b", 1, 1.0),
        graded("a/b", 2, 0.0),
        graded("a/other", 1, 0.0),
        graded("a/b", 0, 0.0),
    ];
    let summary = Summary::collect(&manifest(1, vec![task("a/b", Some(Level::Gold))]), lines);
    assert_eq!((summary.overall.passed, summary.overall.failed), (1, 0));
    assert_eq!(summary.marks.stray_lines, 3);
    assert_eq!(summary.caveats.len(), 1);
}

/// `rerun-failed` is a second draw: 53 % became 67 % by it.
#[test]
fn the_first_verdict_counts_and_later_draws_are_told_of() {
    let manifest = manifest(1, vec![task("a/b", None), task("a/c", None)]);
    let draw = |attempt, score, is_final| TrialLine {
        attempt,
        is_final,
        rerun: true,
        ..graded("a/b", 1, score)
    };
    // As they are written now, and as an older version wrote them.
    for (first, last) in [(true, false), (false, true)] {
        let lines = vec![
            TrialLine {
                is_final: first,
                ..graded("a/b", 1, 0.0)
            },
            graded("a/c", 1, 1.0),
            draw(2, 0.0, false),
            draw(3, 1.0, last),
        ];
        let report = RunReport::new(&manifest, &lines).unwrap();
        let summary = &report.summary;
        let overall = &summary.overall;
        assert_eq!((overall.passed, overall.failed, overall.missing), (1, 1, 0));
        let draws = summary.draws.unwrap();
        assert_eq!((draws.trials, draws.attempts, draws.passed), (1, 2, 1));
        assert_eq!(summary.marks.rerun, 1);
        let said = "Played again after a verdict: 1 trial (2 further draws). The first verdict counts; \
                    in a later draw 1 passed.";
        for format in [Format::Markdown, Format::Json, Format::Junit, Format::Html] {
            let text = render(format, &[RunReport::new(&manifest, &lines).unwrap()]).unwrap();
            assert!(text.contains(said), "{format:?}: {text}");
        }
        let csv = render(Format::Csv, &[report]).unwrap();
        let row = csv.lines().find(|row| row.contains("a/b")).unwrap();
        assert!(row.contains("failed") && row.ends_with(",0,2,1"), "{row}");
    }
}

#[test]
fn scores_outside_of_0_to_1_are_told() {
    let manifest = manifest(
        1,
        vec![task("a/b", None), task("a/c", None), task("a/d", None)],
    );
    let lines = vec![
        graded("a/b", 1, 1000.0),
        graded("a/c", 1, -5.0),
        graded("a/d", 1, 0.5),
    ];
    let summary = Summary::collect(&manifest, lines);
    assert_eq!(summary.overall.score_floor, 0.5, "they bend no mean");
    assert_eq!(summary.marks.odd_scores, 2);
    let told = &summary.caveats[0];
    assert_eq!(told.kind, CaveatKind::OddScores);
    assert!(told.text.contains("2 trials"), "{told:?}");
}

#[test]
fn of_two_final_lines_of_a_trial_the_later_one_counts() {
    let first = TrialLine {
        steps: 9,
        ..graded("a/b", 1, 1.0)
    };
    let second = TrialLine {
        attempt: 2,
        rerun: true,
        regraded: true,
        played_in: Some(1),
        ..graded("a/b", 1, 0.0)
    };
    let lines = vec![first.clone(), graded("a/b", 2, 1.0), second.clone()];
    let manifest = manifest(2, vec![task("a/b", Some(Level::Gold))]);
    let summary = Summary::collect(&manifest, lines.clone());
    let overall = &summary.overall;
    assert_eq!((overall.passed, overall.failed, overall.missing), (1, 1, 0));
    // The earlier one was played nevertheless.
    assert_eq!((summary.marks.attempts, summary.marks.stray_lines), (3, 0));
    assert_eq!(summary.marks.rerun, 1);
    assert_eq!(summary.steps.as_ref().map(|steps| steps.max), Some(3));
    // As if the process had not been killed.
    let whole = vec![
        TrialLine {
            is_final: false,
            ..first
        },
        graded("a/b", 2, 1.0),
        second,
    ];
    assert_eq!(summary, Summary::collect(&manifest, whole.clone()));
    let shown = |lines: &Vec<TrialLine>| {
        let report = RunReport::new(&manifest, lines).unwrap();
        render(Format::Csv, &[report]).unwrap()
    };
    assert_eq!(shown(&lines), shown(&whole));
}

#[test]
fn scores_out_of_range_do_not_bend_the_mean() {
    let lines = [graded("a/a", 1, f64::NAN), graded("a/b", 1, 1e300)];
    let tasks = vec![task("a/a", None), task("a/b", None)];
    close(
        Summary::collect(&manifest(1, tasks), lines).overall.score,
        0.5,
    );
}

#[test]
fn a_run_without_results_has_no_score() {
    let manifest = manifest(3, vec![task("a/b", None)]);
    let summary = Summary::collect(&manifest, []);
    assert_eq!(summary.overall.score, None);
    assert_eq!(
        (summary.overall.missing, summary.overall.coverage),
        (3, 0.0)
    );
    let line = serde_json::to_value(Headline::new(&manifest, &summary, 1.5)).unwrap();
    assert_eq!(line["score"], serde_json::Value::Null);
    assert_eq!(line["score_floor"], 0.0);
    assert_eq!(line["seconds"], 1.5);
}

#[test]
fn trials_that_an_operator_stopped_are_told() {
    let manifest = manifest(1, vec![task("t/a", None), task("t/b", None)]);
    let told = |ends: [TurnEnd; 2]| {
        let lines = ["t/a", "t/b"].iter().zip(ends).map(|(id, end)| TrialLine {
            end: Some(end),
            ..graded(id, 1, 0.0)
        });
        let summary = Summary::collect(&manifest, lines.collect::<Vec<_>>());
        let caveats = summary.caveats.into_iter();
        let told = caveats.filter(|caveat| caveat.kind == CaveatKind::Stopped);
        told.map(|caveat| caveat.text).collect::<Vec<_>>()
    };
    let (stopped, finished) = (TurnEnd::Operator, TurnEnd::Finished);
    assert!(told([finished, finished]).is_empty());
    assert_eq!(
        told([stopped, finished]),
        ["Stopped by an operator: 1 trial."]
    );
    assert_eq!(
        told([stopped, stopped]),
        ["Stopped by an operator: 2 trials."]
    );
    assert!(CaveatKind::Stopped.is_grave());
}
