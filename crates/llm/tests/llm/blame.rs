//! Whose doing a failure is when somebody's own client asks: what it brings about is none of the service's.

use std::sync::Arc;

use agon_core::{ModelFault, Purpose};
use agon_llm::{LlmError, Model, Reply, Request};
use serde_json::json;

use crate::place::{Place, spec};
use crate::server::{Reaction, Server, hello};

fn gateway(place: &Place) -> Model {
    place.model.on(&place.account, Purpose::Gateway)
}

async fn ask(model: &Model) -> Result<Reply, LlmError> {
    model.ask(&Request::user("hi")).await
}

#[tokio::test]
async fn a_service_that_refuses_the_only_call_is_to_blame() {
    let server = Server::start([Reaction::error(429, "slow down")]).await;
    let place = Place::at(&server.url);
    let error = ask(&gateway(&place)).await.unwrap_err();
    assert_eq!(
        (error.fault, error.provoked),
        (ModelFault::RateLimit, false)
    );
    assert_eq!(server.count(), 5);
}

#[tokio::test]
async fn a_call_after_others_is_tried_once_more_when_they_are_long_over() {
    for (status, last, blamed) in [
        (429, Reaction::hello(), None),
        (429, Reaction::error(429, "still"), Some(false)),
        (503, Reaction::error(503, "still"), Some(false)),
    ] {
        let refused = || Reaction::error(status, "slow down");
        let first = [Reaction::hello(), refused(), refused(), last];
        let server = Server::start(first).await;
        let mut spec = spec(&server.url);
        spec.settings.num_retries = 2;
        let place = Place::with(spec, |_| {});
        let model = gateway(&place);
        ask(&model).await.unwrap();
        let answer = ask(&model).await;
        assert_eq!(server.count(), 4);
        assert_eq!(answer.err().map(|error| error.provoked), blamed);
        // Its own retry, and then a minute without any other call.
        let waited: f64 = place.pace.waits().iter().sum();
        assert!((60.0..70.0).contains(&waited), "{waited}");
    }
}

#[tokio::test]
async fn a_service_that_refuses_one_of_many_is_not() {
    let server = Server::start([Reaction::error(429, "slow down")]).await;
    let mut spec = spec(&server.url);
    (spec.settings.num_retries, spec.settings.timeout) = (2, Some(30.0));
    let place = Place::with(spec, |_| {});
    let model = gateway(&place);
    let calls = (0..15).map(|_| ask(&model));
    let answers = futures_util::future::join_all(calls).await;
    let errors: Vec<_> = answers.into_iter().map(Result::unwrap_err).collect();
    assert!(errors.iter().all(|error| error.provoked), "{errors:?}");
    // A judge's call is ours.
    let judge = place.model.on(&place.account, Purpose::Judge);
    let error = ask(&judge).await.unwrap_err();
    assert!(!error.provoked, "{error}");
}

#[tokio::test]
async fn one_call_that_was_refused_alone_speaks_for_the_others() {
    let server = Server::start([Reaction::hello(), Reaction::error(429, "never")]).await;
    let mut spec = spec(&server.url);
    spec.settings.num_retries = 2;
    let place = Place::with(spec, |_| {});
    let model = gateway(&place);
    ask(&model).await.unwrap();
    for _ in 0..3 {
        let error = ask(&model).await.unwrap_err();
        assert!(!error.provoked, "{error}");
    }
    // Each has its two tries, and the first one more.
    assert_eq!(server.count(), 1 + 3 * 2 + 1);
}

#[tokio::test]
async fn an_answer_beyond_our_bounds_is_no_failure_of_the_service_and_is_paid_for() {
    let many = {
        let mut answer = hello();
        answer["choices"][0]["logprobs"] = json!(vec![0; 300]);
        answer.as_object_mut().unwrap().remove("usage");
        Reaction::json(200, &answer)
    };
    let deep = {
        let answer = hello().to_string();
        let nested = format!("{}{}", "[".repeat(200), "]".repeat(200));
        Reaction::new(
            200,
            &[("content-type", "application/json")],
            &answer.replace("\"hello\"", &nested),
        )
    };
    for reaction in [many, deep] {
        let server = Server::start([reaction]).await;
        let place = Place::with(spec(&server.url), |options| options.bounds.values = 250);
        let error = ask(&gateway(&place)).await.unwrap_err();
        assert_eq!(error.fault, ModelFault::BadAnswer, "{error}");
        assert!(!error.fault.of_service());
        assert_eq!(server.count(), 1, "asking again would cost the same");
        let usage = place.record().usage;
        assert_eq!((usage.calls, usage.unpriced_calls), (1, 1));
        assert!(usage.input_tokens > 0 && usage.output_tokens > 0);
        assert_eq!(place.account.spent(), usage);
        // What we ask ourselves does not ask for such answers.
        let error = ask(&place.model).await.unwrap_err();
        assert_eq!(error.fault, ModelFault::BrokenResponse, "{error}");
    }
}

#[tokio::test]
async fn a_model_that_has_answered_is_there_whatever_it_forbids() {
    for (status, first) in [(403, ModelFault::Authentication), (404, ModelFault::Setup)] {
        let forbids = Reaction::error(status, "not this one");
        let server = Server::start([forbids.clone(), Reaction::hello(), forbids]).await;
        let place = Place::at(&server.url);
        let model = gateway(&place);
        assert_eq!(ask(&model).await.unwrap_err().fault, first);
        ask(&model).await.unwrap();
        let error = ask(&model).await.unwrap_err();
        assert_eq!(error.fault, ModelFault::BadRequest, "{error}");
        let ours = place.model.on(&Arc::clone(&place.account), Purpose::Agent);
        assert_eq!(ask(&ours).await.unwrap_err().fault, first);
    }
}
