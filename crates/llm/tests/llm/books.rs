//! Who pays: every call is booked once, with what it really used, and a budget stops the next one.

use std::sync::Arc;

use agon_core::{ModelFault, Money, Purpose};
use agon_llm::{Account, Budget, Request};
use serde_json::json;

use crate::place::{Place, spec};
use crate::server::{Reaction, Server, Then, hello};

#[tokio::test]
async fn tries_that_were_refused_cost_nothing_and_the_answer_is_counted_once() {
    let server = Server::start([
        Reaction::error(500, "no"),
        Reaction::error(503, "no"),
        Reaction::error(429, "no"),
        Reaction::hello(),
    ])
    .await;
    let mut spec = spec(&server.url);
    spec.settings.input_cost_per_token = Some(Money::from_picos(3));
    spec.settings.output_cost_per_token = Some(Money::from_picos(7));
    let place = Place::with(spec, |_| {});
    let reply = place.model.ask(&Request::user("hi")).await.unwrap();
    assert_eq!(reply.usage.money, Some(Money::from_picos(65)));
    let record = place.record();
    assert_eq!((record.tries, record.usage.calls), (4, 1));
    assert_eq!(record.usage, reply.usage);
    assert_eq!(place.account.spent(), reply.usage);
    assert_eq!(
        (record.model.as_str(), record.purpose, record.taped),
        ("test", Purpose::Agent, false)
    );
    assert_eq!(record.request.unwrap()["messages"][0]["role"], "user");
    assert_eq!(record.response.unwrap()["id"], "x");
}

#[tokio::test]
async fn an_unknown_price_is_unknown() {
    let server = Server::start([Reaction::hello()]).await;
    let place = Place::at(&server.url);
    place.ask().await.unwrap();
    let spent = place.account.spent();
    assert_eq!(
        (spent.money, spent.unpriced_calls, spent.calls),
        (None, 1, 1)
    );
}

#[tokio::test]
async fn a_users_list_of_prices_is_used() {
    let server = Server::start([Reaction::hello()]).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("prices.toml");
    std::fs::write(&path, "[models.test]\ninput = 1\noutput = 2\n").unwrap();
    let place = Place::with(spec(&server.url), |options| options.prices = Some(path));
    place.ask().await.unwrap();
    assert_eq!(place.account.spent().money, Some(Money::from_micros(20)));
}

#[tokio::test]
async fn a_spent_budget_stops_the_next_call_before_it_is_sent() {
    let server = Server::start([Reaction::hello()]).await;
    let place = Place::at(&server.url);
    let budget = |tokens| Budget {
        tokens: Some(tokens),
        money: None,
    };
    let run = Arc::new(Account::of_run(budget(40)));
    let trial = Arc::new(Account::of_trial(budget(45), Some(Arc::clone(&run))));
    let model = place.model.on(&trial, Purpose::Judge);
    for _ in 0..2 {
        model.ask(&Request::user("hi")).await.unwrap();
    }
    let error = model.ask(&Request::user("hi")).await.unwrap_err();
    assert_eq!(error.fault, ModelFault::Budget);
    assert!(error.message().contains("trial"), "{error}");
    assert_eq!(server.count(), 2);
    let last = trial.take_calls().pop().unwrap();
    assert_eq!(
        (last.tries, last.purpose, last.error),
        (0, Purpose::Judge, Some(error))
    );

    // Another trial of the same run, whose budget is enough for one more call.
    let trial = Arc::new(Account::of_trial(Budget::default(), Some(Arc::clone(&run))));
    let model = place.model.on(&trial, Purpose::Agent);
    model.ask(&Request::user("hi")).await.unwrap();
    let error = model.ask(&Request::user("hi")).await.unwrap_err();
    assert!(error.message().contains("run"), "{error}");
    assert_eq!((server.count(), run.spent().tokens()), (3, 45));
    // The trial's own could not be exceeded: the second answer was asked to be shorter, and a third would not fit.
    let lengths: Vec<_> = server
        .seen()
        .iter()
        .map(|seen| seen.body["max_tokens"].as_u64())
        .collect();
    assert_eq!(lengths, [Some(34), Some(19), None]);
}

#[tokio::test]
async fn a_budget_that_others_spend_stops_the_tries_too() {
    let server = Server::start([Reaction::error(500, "not now")]).await;
    let place = Place::at(&server.url);
    let run = Arc::new(Account::of_run(Budget {
        tokens: Some(10),
        money: None,
    }));
    run.add(&agon_core::Usage {
        input_tokens: 10,
        ..Default::default()
    });
    let trial = Arc::new(Account::of_trial(Budget::default(), Some(run)));
    let model = place.model.on(&trial, Purpose::Agent);
    assert_eq!(
        model.ask(&Request::user("hi")).await.unwrap_err().fault,
        ModelFault::Budget
    );
    assert_eq!(server.count(), 0);
}

#[tokio::test]
async fn a_call_that_is_given_up_is_booked_as_cancelled() {
    let server = Server::start([Reaction::raw("", Then::Hang)]).await;
    let place = Place::at(&server.url);
    let model = place.model.clone();
    let call = tokio::spawn(async move { model.ask(&Request::user("hi")).await.map(drop) });
    while server.count() == 0 {
        tokio::task::yield_now().await;
    }
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    let record = place.record();
    let error = record.error.unwrap();
    assert_eq!(error.fault, ModelFault::Cancelled);
    assert_eq!(error.kept_waiting, Some(ModelFault::Timeout));
    assert_eq!(record.tries, 1);
}

/// Whoever gives up while a service has failed it can say so; not once an answer has begun.
#[tokio::test]
async fn a_call_that_is_given_up_says_how_it_was_kept_waiting() {
    let part = r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"he"}}]}"#;
    for (second, kept_waiting) in [
        (Reaction::raw("", Then::Hang), Some(ModelFault::Overload)),
        (Reaction::events(&[part], Then::Hang), None),
    ] {
        let server = Server::start([Reaction::error(503, "no room"), second]).await;
        let place = Place::at(&server.url);
        let model = place.model.clone();
        let (tell, mut told) = tokio::sync::mpsc::unbounded_channel();
        let call = tokio::spawn(async move {
            let mut show = |_| {
                let _ = tell.send(());
            };
            let request = Request::user("hi");
            model.ask_streaming(&request, &mut show).await.map(drop)
        });
        while server.count() < 2 {
            tokio::task::yield_now().await;
        }
        if kept_waiting.is_none() {
            told.recv().await.unwrap();
        }
        call.abort();
        assert!(call.await.unwrap_err().is_cancelled());
        assert_eq!(place.record().error.unwrap().kept_waiting, kept_waiting);
    }
}

#[tokio::test]
async fn a_call_that_is_given_up_keeps_what_it_was_answered_before() {
    let server =
        Server::start([Reaction::json(200, &empty()), Reaction::raw("", Then::Hang)]).await;
    let place = Place::at(&server.url);
    let model = place.model.clone();
    let call = tokio::spawn(async move { model.ask(&Request::user("hi")).await.map(drop) });
    while server.count() < 2 {
        tokio::task::yield_now().await;
    }
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    let record = place.record();
    // The second was sent: its question is counted.
    assert_eq!((record.tries, record.usage.tokens()), (2, 15 + 11));
    assert_eq!(record.usage.unpriced_calls, 2);
    assert_eq!(place.account.spent(), record.usage);
}

/// Paid for, and worth nothing.
fn empty() -> serde_json::Value {
    let mut answer = hello();
    answer["choices"][0]["message"]["content"] = json!("");
    answer["choices"][0]["finish_reason"] = json!(null);
    answer
}

#[tokio::test]
async fn every_answer_is_paid_for_whatever_it_is_worth() {
    let refusal = {
        let mut answer = hello();
        answer["choices"][0]["message"] = json!({ "role": "assistant", "refusal": "I can't." });
        answer
    };
    let of = |answer: &serde_json::Value| Reaction::json(200, answer);
    for (reactions, fault, tries, paid) in [
        (vec![of(&refusal)], Some(ModelFault::Refusal), 1, 1),
        (vec![of(&empty())], Some(ModelFault::BrokenResponse), 5, 5),
        (
            vec![of(&empty()), Reaction::error(500, "no"), Reaction::hello()],
            None,
            3,
            2,
        ),
    ] {
        let server = Server::start(reactions).await;
        let mut spec = spec(&server.url);
        spec.settings.input_cost_per_token = Some(Money::from_picos(3));
        spec.settings.output_cost_per_token = Some(Money::from_picos(7));
        let place = Place::with(spec, |_| {});
        let reply = place.model.ask(&Request::user("hi")).await;
        assert_eq!(reply.as_ref().err().map(|error| error.fault), fault);
        let record = place.record();
        assert_eq!((record.tries, record.usage.calls), (tries, paid));
        assert_eq!(record.usage.tokens(), 15 * paid);
        assert_eq!(record.usage.money, Some(Money::from_picos(65) * paid));
        assert_eq!(place.account.spent(), record.usage);
        // The answer itself tells of itself alone.
        assert!(reply.is_err() || reply.is_ok_and(|reply| reply.usage.tokens() == 15));
    }
}

#[tokio::test]
async fn an_answer_that_breaks_its_schema_is_paid_for() {
    let server = Server::start([Reaction::hello()]).await;
    let mut spec = spec(&server.url);
    spec.model = "o1-mini".to_owned();
    spec.settings.num_retries = 2;
    let place = Place::with(spec, |_| {});
    let request = Request {
        output: agon_llm::Output::Json {
            name: "answer".to_owned(),
            schema: json!({ "type": "object", "properties": {}, "required": [] }),
        },
        ..Request::user("hi")
    };
    let error = place.model.ask(&request).await.unwrap_err();
    assert_eq!(error.fault, ModelFault::BadAnswer, "{error}");
    let record = place.record();
    assert_eq!((record.tries, record.usage.tokens()), (2, 30));
    assert_eq!(record.usage.unpriced_calls, 2);
}

#[tokio::test]
async fn a_budget_counts_answers_that_were_worth_nothing() {
    let server = Server::start([Reaction::json(200, &empty())]).await;
    let place = Place::at(&server.url);
    let budget = Budget {
        tokens: Some(40),
        money: None,
    };
    let trial = Arc::new(Account::of_trial(budget, None));
    let model = place.model.on(&trial, Purpose::Agent);
    assert!(model.ask(&Request::user("hi")).await.is_err());
    assert!(trial.spent().tokens() >= 15);
    let count = server.count();
    let error = model.ask(&Request::user("hi")).await.unwrap_err();
    assert_eq!((error.fault, server.count()), (ModelFault::Budget, count));
}

#[tokio::test]
async fn a_script_begins_anew_with_every_account() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("answers.jsonl");
    let lines = [
        json!({ "text": "one" }),
        json!({ "fault": "overload" }),
        json!({ "text": "two", "usage": { "input_tokens": 7, "output_tokens": 1 } }),
    ];
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    std::fs::write(&path, lines.join("\n")).unwrap();
    let mut spec = spec("");
    spec.provider = agon_llm::Provider::Mock;
    spec.model = format!("script:{}", path.display());
    let place = Place::with(spec, |_| {});
    for _ in 0..2 {
        let account = Arc::new(Account::of_trial(Budget::default(), None));
        let mut said = Vec::new();
        for _ in 0..3 {
            let model = place.model.on(&account, Purpose::Agent);
            said.push(model.ask(&Request::user("hi")).await.unwrap().text());
        }
        assert_eq!(said, ["one", "two", "two"]);
        let calls = account.take_calls();
        assert_eq!([calls[0].tries, calls[1].tries, calls[2].tries], [1, 2, 1]);
        assert_eq!(
            (calls[1].usage.tokens(), calls[1].usage.money),
            (8, Some(Money::ZERO))
        );
    }
    // Only the two faults were waited for.
    assert_eq!(place.pace.waits(), [0.25, 0.25]);
}

#[tokio::test]
async fn a_model_that_answers_badly_is_asked_again_by_us_alone() {
    let schema = || Request {
        output: agon_llm::Output::Json {
            name: "answer".to_owned(),
            schema: json!({ "type": "object", "properties": {}, "required": [] }),
        },
        ..Request::user("hi")
    };
    let server = Server::start([Reaction::hello()]).await;
    let mut spec = spec(&server.url);
    spec.model = "o1-mini".to_owned();
    let place = Place::with(spec, |_| {});
    let error = place.model.ask(&schema()).await.unwrap_err();
    assert_eq!((error.fault, server.count()), (ModelFault::BadAnswer, 3));
    // The client of an agent is given what the model said.
    let gateway = place.model.on(&place.account, Purpose::Gateway);
    let reply = gateway.ask(&schema()).await.unwrap();
    assert_eq!((reply.text().is_empty(), server.count()), (false, 4));
}

#[tokio::test]
async fn an_answer_of_nothing_is_one() {
    let mut answer = empty();
    answer["choices"][0]["finish_reason"] = json!("stop");
    let server = Server::start([Reaction::json(200, &answer)]).await;
    let place = Place::at(&server.url);
    assert_eq!(place.ask().await.unwrap(), "");
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn a_call_that_is_given_up_may_have_cost_something() {
    let server = Server::start([Reaction::raw("", Then::Hang)]).await;
    let place = Place::at(&server.url);
    let model = place.model.clone();
    let call = tokio::spawn(async move { model.ask(&Request::user("hi")).await });
    while server.count() == 0 {
        tokio::task::yield_now().await;
    }
    call.abort();
    assert!(call.await.unwrap_err().is_cancelled());
    let usage = place.record().usage;
    assert_eq!((usage.calls, usage.unpriced_calls), (0, 1));
}
