//! Checks in sandboxes that do as a test says: what is asked of them, and whose doing trouble is.

use agon_core::FaultClass;
use agon_core::check::CheckKind;
use agon_sandbox::SandboxError;

use super::Place;
use crate::canned::{
    Canned, Remains, check, grade_in, graded, prints, rewarded, saying_ok, scripted, task,
};

#[tokio::test]
async fn what_may_have_been_planted_goes_before_tests_come_and_is_read_after_them() {
    let mut provider = saying_ok();
    provider.holds = Some(("/logs/verifier/reward.json", "0.5"));
    let verdict = grade_in(&provider, vec![rewarded()]).await.unwrap();
    assert_eq!((verdict.passed, verdict.score), (false, 0.5));
    let calls = provider.calls.lock().unwrap().join(", ");
    assert_eq!(
        calls,
        "prepare, unpack, exec, copy /, copy /tests, exec, read /logs/verifier/reward.txt, \
         read /logs/verifier/reward.json, destroy"
    );
}

#[tokio::test]
async fn every_command_has_a_fresh_sandbox_and_only_scripts_see_verify() {
    let provider = saying_ok();
    let verdict = grade_in(&provider, vec![prints("ok"), scripted()])
        .await
        .unwrap();
    assert!(!verdict.tainted());
    let calls = provider.calls.lock().unwrap().join(" ");
    let (before, after) = calls.split_once("copy /tmp/verify-").unwrap();
    assert_eq!(before, "prepare unpack exec destroy prepare unpack ");
    assert!(after.ends_with(" exec destroy"), "{calls}");
}

#[tokio::test]
async fn what_is_found_inside_is_tainted_and_verify_has_a_name_nobody_can_guess() {
    let sandbox = saying_ok();
    let place = Place::Inside(&sandbox);
    let nested = CheckKind::Any {
        checks: vec![prints("ok")],
    };
    let task = task(vec![check(nested, 1.0), scripted()]);
    let verdict = graded(&task, &Remains::default(), &place).await.unwrap();
    assert!(verdict.checks.iter().all(|check| check.tainted));
    let calls = sandbox.calls.lock().unwrap().clone();
    assert_eq!(calls.len(), 3);
    assert!(calls[1].starts_with("copy /tmp/verify-"), "{calls:?}");
}

#[tokio::test]
async fn trouble_with_a_sandbox_is_a_fault_but_what_the_agent_left_is_not() {
    let failing = |error: fn() -> SandboxError| Canned::new(move |_| Err(error()));
    let late = |what| SandboxError::Timeout { what, seconds: 1.0 };
    let gone = failing(|| SandboxError::Gone("killed".into()));
    let fault = grade_in(&gone, vec![prints("ok")]).await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Check);
    assert_eq!(gone.calls.lock().unwrap().last().unwrap(), "destroy");
    let stuck = Canned::new(move |_| Err(late("starting a program")));
    let fault = grade_in(&stuck, vec![prints("ok")]).await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Timeout);

    let endless = Canned::new(move |_| Err(late(agon_sandbox::error::ENDING)));
    let exhausted = failing(|| SandboxError::OutOfMemory);
    for spoiled in [endless, exhausted] {
        assert!(!grade_in(&spoiled, vec![prints("ok")]).await.unwrap().passed);
    }
}

#[tokio::test]
async fn a_folder_that_leaves_no_memory_for_verify_is_the_agents_doing() {
    let mut provider = saying_ok();
    provider.refuses_files = Some(|| SandboxError::OutOfMemory);
    let verdict = grade_in(&provider, vec![scripted()]).await.unwrap();
    assert_eq!((verdict.passed, verdict.score), (false, 0.0));
    provider.refuses_files = Some(|| SandboxError::Gone("killed".into()));
    assert!(grade_in(&provider, vec![scripted()]).await.is_err());
}

#[tokio::test]
async fn a_folder_that_can_not_be_unpacked_is_the_agents_doing() {
    for refusal in [
        || SandboxError::Denied("no space left".into()),
        || SandboxError::OutOfMemory,
        || SandboxError::Timeout {
            what: "unpacking",
            seconds: 60.0,
        },
    ] {
        let mut provider = saying_ok();
        provider.refuses_archives = Some(refusal);
        let verdict = grade_in(&provider, vec![prints("ok"), scripted()]).await;
        let verdict = verdict.unwrap();
        assert_eq!((verdict.passed, verdict.score), (false, 0.0));
        assert!(verdict.checks[1].reason.contains("unpacked"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_sandbox_that_does_not_go_away_does_not_take_its_verdict_along() {
    let mut provider = saying_ok();
    provider.stays = true;
    assert!(
        grade_in(&provider, vec![prints("ok")])
            .await
            .unwrap()
            .passed
    );
}

#[tokio::test]
async fn what_the_agent_put_in_the_way_where_it_was_is_its_own_doing() {
    let denied = || SandboxError::Denied("not a directory".into());
    let no_files = || {
        let mut sandbox = saying_ok();
        sandbox.refuses_files = Some(denied);
        sandbox
    };
    let no_programs = || Canned::new(move |_| Err(denied()));
    for sandbox in [no_files(), no_programs()] {
        let place = Place::Inside(&sandbox);
        for kind in [rewarded(), scripted()] {
            let verdict = graded(&task(vec![kind]), &Remains::default(), &place).await;
            let verdict = verdict.unwrap();
            assert_eq!((verdict.passed, verdict.score), (false, 0.0));
            assert!(verdict.checks[0].reason.contains("not a directory"));
            assert!(verdict.tainted());
        }
    }
    // Nothing of the agent is where these go.
    for fresh in [no_files(), no_programs()] {
        let fault = grade_in(&fresh, vec![rewarded()]).await.unwrap_err();
        assert_eq!(fault.class, FaultClass::Check);
    }
}

#[tokio::test]
async fn a_reward_that_nobody_could_look_for_is_no_reward_that_is_missing() {
    let mut sandbox = saying_ok();
    sandbox.refuses_reading = Some(|| SandboxError::Gone("killed".into()));
    let fault = grade_in(&sandbox, vec![rewarded()]).await.unwrap_err();
    assert_eq!(fault.class, FaultClass::Check);
    sandbox.refuses_reading = Some(|| SandboxError::OutOfMemory);
    assert!(!grade_in(&sandbox, vec![rewarded()]).await.unwrap().passed);
}
