//! How checks come to a verdict, over sandboxes that answer as the test says.

use super::*;
use crate::canned::{
    NoPictures, Remains, answers, check, grade_in, graded, prints, request, saying_ok, scripted,
    task,
};
use crate::desk::Told;
use agon_core::check::FileTest;

fn broken() -> Check {
    check(
        CheckKind::All {
            checks: vec![],
            partial: false,
        },
        1.0,
    )
}

#[tokio::test]
async fn tests_that_are_not_there_could_not_be_run() {
    let missing = CheckKind::Reward {
        script: "other.sh".into(),
    };
    let fault = grade_in(&saying_ok(), vec![check(missing, 1.0)]).await;
    assert!(fault.unwrap_err().message.contains("tests/other.sh"));
}

#[tokio::test]
async fn a_task_without_checks_could_not_be_graded() {
    let fault = grade_in(&saying_ok(), vec![]).await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Check);
}

#[tokio::test]
async fn prose_needs_a_judge_before_anything_runs() {
    let provider = saying_ok();
    let prose = CheckKind::Prose {
        subject: ProseSubject::ReturnedResult,
        value: "polite".into(),
    };
    let nested = CheckKind::Any {
        checks: vec![check(prose, 1.0)],
    };
    let fault = grade_in(&provider, vec![prints("ok"), check(nested, 1.0)])
        .await
        .unwrap_err();
    assert_eq!(fault.class, FaultClass::NeedsJudge);
    assert!(provider.calls.lock().unwrap().is_empty());
}

#[tokio::test]
async fn any_stops_at_the_first_that_passes_and_faults_when_none_is_sure() {
    let provider = saying_ok();
    let any = |checks| check(CheckKind::Any { checks }, 1.0);
    let verdict = grade_in(
        &provider,
        vec![any(vec![broken(), answers("a", 1.0), prints("no")])],
    )
    .await
    .unwrap();
    assert!(verdict.passed);
    assert!(provider.calls.lock().unwrap().is_empty());
    assert!(
        grade_in(&provider, vec![any(vec![broken(), answers("b", 1.0)])])
            .await
            .is_err()
    );
}

#[tokio::test]
async fn nothing_passes_over_a_folder_that_was_not_taken_whole() {
    let exists = CheckKind::File {
        path: "none".into(),
        test: FileTest::Exists(false),
    };
    let provider = saying_ok();
    let checks = vec![
        check(exists, 1.0),
        prints("ok"),
        scripted(),
        answers("a", 1.0),
    ];
    let remains = Remains {
        result: Some("a"),
        left_out: 2,
        ..Remains::default()
    };
    let request = request();
    let place = Place::Fresh {
        provider: &provider,
        request: &request,
    };
    let verdict = graded(&task(checks), &remains, &place).await.unwrap();
    for check in &verdict.checks[..3] {
        assert!(!check.passed, "{check:?}");
        let reason = "2 entries of the working folder could not be taken";
        assert_eq!(check.reason, reason);
        assert_eq!(check.integrity.as_deref(), Some(LEFT_OUT));
    }
    assert!(verdict.checks[3].passed, "an answer is no file");
}

#[tokio::test]
async fn what_programs_printed_is_kept_beside_the_verdict() {
    let checks = vec![prints("ok"), scripted(), answers("a", 1.0)];
    let verdict = grade_in(&saying_ok(), checks).await.unwrap();
    let [command, script, answer] = &verdict.checks[..] else {
        panic!("a check is missing");
    };
    for ran in [command, script] {
        let output = ran.output.as_ref().unwrap();
        assert_eq!(
            (&*output.exit, &*output.stdout, output.omitted),
            ("exit status 0", "ok", 0)
        );
    }
    assert_eq!(answer.output, None);
}

#[tokio::test]
async fn a_conversation_has_neither_files_nor_commands() {
    let exists = CheckKind::File {
        path: "a".into(),
        test: FileTest::Exists(true),
    };
    for kind in [check(exists, 1.0), prints("ok")] {
        let evidence = Evidence {
            cut_off: &agon_core::CutOff::after_freeze(),
            work: None,
            changes: None,
            result: None,
            actions: &[],
            sight: None,
            flow: &[],
            pictures: &NoPictures,
            told: false,
        };
        let desk = Desk {
            place: &Place::Nowhere,
            judge: None,
            told: &Told::default(),
        };
        let fault = grade(&task(vec![kind]), &evidence, &desk)
            .await
            .unwrap_err();
        assert_eq!(fault.class, FaultClass::Check);
    }
}

#[tokio::test]
async fn what_only_the_used_environment_shows_is_kept_for_a_judge_who_comes_later() {
    let sandbox = saying_ok();
    let prose = CheckKind::Prose {
        subject: ProseSubject::CommandOutput {
            command: "ls".to_owned(),
        },
        value: "polite".to_owned(),
    };
    let task = task(vec![check(prose, 1.0), prints("ok")]);
    let told = Told::default();
    let work = crate::canned::archive(&[], 0);
    let evidence = Evidence {
        cut_off: &agon_core::CutOff::after_freeze(),
        work: Some(&work),
        changes: None,
        result: None,
        actions: &[],
        sight: None,
        flow: &[],
        pictures: &NoPictures,
        told: false,
    };
    let desk = Desk {
        place: &Place::Inside(&sandbox),
        judge: None,
        told: &told,
    };
    let fault = grade(&task, &evidence, &desk).await.unwrap_err();
    assert_eq!(fault.class, FaultClass::NeedsJudge);
    assert_eq!(told.ran("ls").unwrap().stdout, "ok");
    assert_eq!(told.take().len(), 2, "the other command as well");
}
