//! What people say is believed before the checks, in every number and every format.

use agon_core::{FaultClass, Money, Usage};
use agon_report::{Each, Format, RunReport, Screen, Summary, Trials, render};
use agon_store::{Manifest, Review, ReviewVerdict, Reviews, StoreError, TrialLine};
use insta::assert_snapshot;

use crate::fixture::{faulted, graded, manifest, task};

/// Lines, and what people say about them.
#[derive(Debug)]
struct Run {
    manifest: Manifest,
    lines: Vec<TrialLine>,
    reviews: Reviews,
}

impl Trials for Run {
    fn visit(&self, each: &mut Each<'_>) -> Result<(), StoreError> {
        self.lines.visit(each)
    }

    fn reviews(&self) -> Result<Reviews, StoreError> {
        Ok(self.reviews.clone())
    }
}

impl Run {
    fn new(lines: Vec<TrialLine>) -> Self {
        let mut ids: Vec<String> = lines.iter().map(|line| line.task.to_string()).collect();
        ids.dedup();
        Self {
            manifest: manifest(1, ids.iter().map(|id| task(id, None)).collect()),
            lines,
            reviews: Reviews::default(),
        }
    }

    fn say(&mut self, line: usize, verdict: ReviewVerdict, comment: &str, reviewer: &str) {
        let at = "2026-01-03T00:00:00Z".parse().unwrap();
        let review = Review::of(&self.lines[line], verdict, comment, reviewer, at);
        self.reviews.add(review);
    }

    fn summary(&self) -> Summary {
        RunReport::new(&self.manifest, self).unwrap().summary
    }
}

/// Both ways of disagreeing, agreeing, a fault that a person has decided, a review that was taken back, one of
/// an attempt that was played again, and one that nobody looked at.
fn reviewed() -> Run {
    let judged = |mut line: TrialLine| {
        line.judge = Usage {
            input_tokens: 900,
            output_tokens: 50,
            calls: 1,
            money: Some(Money::from_micros(2_500)),
            ..Usage::default()
        };
        line.usage = line.judge.clone();
        line.usage.input_tokens += 100;
        line
    };
    let mut run = Run::new(vec![
        judged(graded("desk/false-pass", 1, 1.0)),
        judged(graded("desk/false-fail", 1, 0.5)),
        graded("desk/agreed", 1, 0.0),
        faulted(
            "desk/faulted",
            1,
            FaultClass::Judge,
            "the judge said nothing",
        ),
        graded("desk/taken-back", 1, 1.0),
        TrialLine {
            is_final: false,
            ..graded("desk/rerun", 1, 0.0)
        },
        TrialLine {
            attempt: 2,
            rerun: true,
            ..graded("desk/rerun", 1, 0.0)
        },
        TrialLine {
            attempt: 2,
            regraded: true,
            played_in: Some(1),
            ..judged(graded("desk/regraded", 1, 1.0))
        },
        graded("desk/unseen", 1, 1.0),
    ]);
    use ReviewVerdict::{Clear, Fail, Pass};
    run.say(0, Pass, "", "bert");
    run.say(0, Fail, "wrong file,\n\"see\" <step 3> \u{202e}", "anna");
    run.say(1, Pass, "=good enough", "");
    run.say(2, Fail, "", "bert");
    run.say(3, Pass, "plainly done", "anna");
    run.say(4, Fail, "", "anna");
    run.say(4, Clear, "", "anna");
    run.say(6, Pass, "the second try was fine", "anna");
    run.say(7, Pass, "", "anna");
    run
}

#[test]
fn a_person_is_believed_before_checks_and_faults() {
    let summary = reviewed().summary();
    let overall = &summary.overall;
    assert_eq!((overall.passed, overall.failed, overall.faulted), (5, 3, 0));
    assert_eq!(overall.coverage, 1.0);
    assert_eq!(overall.score, Some(5.0 / 8.0));
    let people = summary.people.unwrap();
    assert_eq!((people.reviewed, people.passed, people.failed), (5, 3, 2));
    assert_eq!((people.false_passes, people.false_fails), (1, 1));
    assert_eq!(people.undecided_by_checks, 1);
    assert_eq!(people.disagreement, Some(0.5));
    assert_eq!(people.reviewers, ["anna", "bert"]);
    let tasks: Vec<&str> = people.disagreements.iter().map(|one| &*one.task).collect();
    assert_eq!(tasks, ["desk/false-pass", "desk/false-fail"]);
    // Of a trial that was graded again, only the judge is new.
    let judge = summary.judge.unwrap();
    assert_eq!((judge.input_tokens, judge.calls), (Some(2_700), Some(3)));
    assert_eq!(summary.usage.input_tokens, Some(2_900));
}

#[test]
fn without_people_and_judges_nothing_is_said_of_them() {
    let mut run = reviewed();
    run.reviews = Reviews::default();
    let summary = run.summary();
    assert_eq!(summary.people, None);
    assert_eq!((summary.overall.passed, summary.overall.faulted), (4, 1));
    let run = Run::new(vec![graded("a/b", 1, 1.0)]);
    let json = render(
        Format::Json,
        &[RunReport::new(&run.manifest, &run).unwrap()],
    )
    .unwrap();
    for name in ["\"people\"", "\"judge\"", "unread_reviews"] {
        assert!(!json.contains(name), "{name}");
    }
}

#[test]
fn a_review_of_a_fault_is_no_disagreement() {
    let mut run = Run::new(vec![faulted("a/b", 1, FaultClass::NeedsJudge, "no judge")]);
    run.say(0, ReviewVerdict::Fail, "", "anna");
    let summary = run.summary();
    let people = summary.people.unwrap();
    assert_eq!((people.reviewed, people.compared()), (1, 0));
    assert_eq!(people.disagreement, None);
    assert_eq!((summary.overall.failed, summary.overall.faulted), (1, 0));
}

fn written(format: Format) -> String {
    let run = reviewed();
    render(format, &[RunReport::new(&run.manifest, &run).unwrap()]).unwrap()
}

#[test]
fn table_with_reviews() {
    assert_snapshot!(written(Format::Table(Screen::default())));
}

#[test]
fn markdown_with_reviews() {
    assert_snapshot!(written(Format::Markdown));
}

#[test]
fn csv_with_reviews() {
    assert_snapshot!(written(Format::Csv));
}

#[test]
fn junit_with_reviews() {
    assert_snapshot!(written(Format::Junit));
}

#[test]
fn json_with_reviews() {
    let report: serde_json::Value = serde_json::from_str(&written(Format::Json)).unwrap();
    let summary = &report["runs"][0]["summary"];
    let shown = serde_json::json!({
        "caveats": summary["caveats"], "judge": summary["judge"], "people": summary["people"],
    });
    assert_snapshot!(serde_json::to_string_pretty(&shown).unwrap());
}

#[test]
fn html_with_reviews() {
    let page = written(Format::Html);
    for said in [
        "People against checks",
        "5 reviewed by anna, bert: 3 passed, 2 failed; against the checks in 2 of 4",
        "wrong file, &#34;see&#34; &#60;step 3&#62;",
        "reviewed, disagreed",
    ] {
        assert!(page.contains(said), "{said}");
    }
}
