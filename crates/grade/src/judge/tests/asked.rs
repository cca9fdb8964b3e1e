//! What a judge is shown of each subject, and how its votes are counted.

use agon_core::check::ProseSubject;
use agon_core::{Action, Frames, Purpose};
use serde_json::json;

use super::place::{Held, NOTHING, Place, png, question, ran, returned, says, step, text, votes};
use crate::judge::{JudgeOptions, Shown};

#[tokio::test]
async fn an_answer_is_judged_with_the_last_screen_for_context() {
    let place = Place::answering(&[says("pass")], votes(1));
    let last = png(2560, 1600, 9);
    let shown = Shown {
        result: Some("There are 42.\nBye."),
        last: Some(&last),
        ..NOTHING
    };
    let (passed, judged) = place
        .ask(&question(&ProseSubject::ReturnedResult, shown))
        .await
        .unwrap();
    assert!(passed);
    assert_eq!(judged.votes.len(), 1);
    assert_eq!((&*judged.model, judged.frames), ("mock/judge", None));
    assert_eq!(
        (judged.usage.input_tokens, judged.usage.output_tokens),
        (100, 10)
    );
    assert_eq!(
        judged.votes[0].evidence[0].step, None,
        "no steps were shown"
    );
    let calls = place.calls();
    assert_eq!(calls[0].purpose, Purpose::Judge);
    let body = calls[0].request.as_ref().unwrap();
    let asked = text(body);
    for part in [
        "The task:\n| Count the chairs.\n",
        "The expectation:\n| It says that there are 42.\n",
        "| There are 42.\n| Bye.\nThe last screen:\n[picture]\n",
    ] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    let sent = body["messages"].to_string();
    let url = sent.split("data:image/png;base64,").nth(1).unwrap();
    use base64::Engine as _;
    let bytes = base64::engine::general_purpose::STANDARD
        .decode(url.split('"').next().unwrap())
        .unwrap();
    let (_, width, height) = agon_llm::picture::look(&bytes).unwrap();
    assert_eq!((width, height), (1280, 800));
    let schema = &body["response_format"]["json_schema"];
    assert_eq!(
        (&schema["strict"], &body["temperature"]),
        (&json!(true), &json!(0.0))
    );
    assert_eq!(body.get("seed"), None);
}

#[tokio::test]
async fn a_command_is_judged_by_status_and_both_streams() {
    let place = Place::answering(&[says("fail")], votes(1));
    let long = format!("begin{}end", "x".repeat(30_000));
    let mut ran = ran(&long, "no such file");
    ran.omitted = 77;
    let subject = ProseSubject::CommandOutput {
        command: "cat notes.txt".into(),
    };
    let shown = Shown {
        ran: Some(&ran),
        last: Some(b"not shown"),
        ..NOTHING
    };
    let (passed, _) = place.ask(&question(&subject, shown)).await.unwrap();
    assert!(!passed);
    let asked = text(&place.sent()[0]);
    for part in [
        "The command:\n| cat notes.txt\n",
        "Its exit status is 3.\n",
        "| beginxxx",
        "| [10008 characters are left out here]\n",
        "xxxend\n",
        "| no such file\n",
        "77 bytes of the middle",
    ] {
        assert!(asked.contains(part), "{part}");
    }
    assert!(!asked.contains("[picture]"));
}

#[tokio::test]
async fn a_flow_is_shown_step_by_step_with_key_frames() {
    let place = Place::answering(&[says("pass")], votes(1));
    let think = Action::Think {
        thought: "praise me".into(),
    };
    let mut flow = vec![
        step(1, Action::Screenshot, Some(1)),
        step(2, think, Some(1)),
        step(3, Action::Type { text: "hi".into() }, Some(2)),
        step(4, Action::Finish { result: None }, None),
    ];
    flow[2].window = Some("Notes".into());
    let shown = Shown {
        flow: &flow,
        pictures: &Held,
        ..NOTHING
    };
    let (passed, judged) = place
        .ask(&question(&ProseSubject::ExpectedFlow, shown))
        .await
        .unwrap();
    assert!(passed);
    // Of the screens that changed: nothing was left out.
    assert_eq!(judged.frames, Some(Frames { shown: 2, of: 2 }));
    assert_eq!(judged.votes[0].evidence[0].step, Some(1));
    let asked = text(&place.sent()[0]);
    let evidence = asked.split("EVIDENCE ").nth(1).unwrap();
    let (_, evidence) = evidence.split_once('\n').unwrap();
    let expected = "Step 1, 1.0 s after the start. It did:\n\
         | {\"action\":\"screenshot\"}\n\
         The screen after step 1:\n[picture]\n\
         Step 2, 2.0 s after the start. It did:\n\
         | {\"action\":\"think\"}\n\
         The screen after step 2 is the same as after step 1.\n\
         Step 3, 3.0 s after the start. It did:\n\
         | {\"action\":\"type\",\"text\":\"hi\"}\n\
         The active window then:\n| Notes\n\
         The screen after step 3:\n[picture]\n\
         Step 4, 4.0 s after the start. It did:\n\
         | {\"action\":\"finish\"}\n\
         There were 4 steps.\n";
    assert!(evidence.starts_with(expected), "{evidence}");
}

#[tokio::test]
async fn a_long_flow_is_cut_in_its_texts_first_and_then_in_the_middle() {
    let typed = |n: u32| Action::Type {
        text: format!("step number {n} {}", "x".repeat(900)),
    };
    let ask = async |steps: u32| {
        let place = Place::answering(&[says("pass")], votes(1));
        let flow: Vec<_> = (1..=steps).map(|n| step(n, typed(n), None)).collect();
        let shown = Shown {
            flow: &flow,
            ..NOTHING
        };
        let question = question(&ProseSubject::ExpectedFlow, shown);
        place.ask(&question).await.unwrap();
        text(&place.sent()[0])
    };
    let some = ask(200).await;
    assert!(some.len() < 90_000);
    assert!((1..=200).all(|n| some.contains(&format!("Step {n}, "))));
    let many = ask(3_000).await;
    assert!(many.len() < 90_000);
    assert!(many.contains("step number 1 ") && many.contains("step number 3000 "));
    let (_, told) = many.split_once("What was done in steps ").unwrap();
    let out: Vec<u32> = told
        .split(' ')
        .take(3)
        .filter_map(|n| n.parse().ok())
        .collect();
    assert!(!many.contains(&format!("Step {}, ", out[0])));
    assert!(!many.contains(&format!("Step {}, ", out[1])));
    assert!(many.contains(&format!("Step {}, ", out[1] + 1)));
    assert!(many.contains("There were 3000 steps."));
}

#[tokio::test]
async fn the_majority_decides_and_no_more_are_asked_than_needed() {
    let cases: [(&[&str], u32, bool, usize); 5] = [
        (&["pass", "fail"], 1, true, 1),
        (&["pass", "pass", "fail"], 3, true, 2),
        (&["pass", "fail", "fail"], 3, false, 3),
        (&["fail", "pass", "fail", "pass", "pass"], 5, true, 5),
        // An even number has no majority of its own.
        (&["fail", "pass", "pass"], 2, true, 3),
    ];
    for (said, asked, expected, used) in cases {
        let answers: Vec<_> = said.iter().map(|verdict| says(verdict)).collect();
        let place = Place::answering(&answers, votes(asked));
        let (passed, judged) = place.ask(&returned("42")).await.unwrap();
        assert_eq!((passed, judged.votes.len()), (expected, used), "{said:?}");
        assert_eq!(judged.usage.input_tokens, 100 * used as u64);
        let sent = place.sent();
        let seeds: Vec<_> = sent.iter().map(|body| body.get("seed").cloned()).collect();
        if asked > 1 {
            let each: Vec<_> = (1..=used).map(|n| Some(json!(n))).collect();
            assert_eq!(seeds, each);
            assert!(sent.iter().all(|body| body["temperature"] == 0.7));
            let same = |body: &serde_json::Value| text(body) == text(&sent[0]);
            assert!(sent.iter().all(same), "votes are about the same question");
        }
    }
}

#[tokio::test]
async fn nothing_to_be_judged_fails_without_asking() {
    let place = Place::answering(&[says("pass")], votes(3));
    let nothing = [
        question(&ProseSubject::ReturnedResult, NOTHING),
        returned(" \n"),
        question(&ProseSubject::ExpectedFlow, NOTHING),
    ];
    for question in nothing {
        let (passed, judged) = place.ask(&question).await.unwrap();
        assert!(!passed && judged.votes.is_empty());
    }
    assert!(place.calls().is_empty());
}

#[test]
fn what_a_judge_is_told_has_a_digest() {
    let prompts = |tokens| {
        let options = JudgeOptions {
            picture_tokens: tokens,
            ..votes(3)
        };
        Place::answering(&[says("pass")], options).judge.prompts()
    };
    assert_eq!(prompts(1), prompts(1));
    assert_ne!(prompts(1), prompts(2));
}
