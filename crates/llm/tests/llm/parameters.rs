//! Parameters that a model does not take are left out, once it has said so.

use agon_core::{ModelFault, Purpose};
use agon_llm::Request;
use serde_json::json;

use crate::place::{Place, spec};
use crate::server::{Reaction, Server};

fn refusal(param: &str) -> Reaction {
    let message = format!("Unsupported parameter: '{param}' is not supported with this model.");
    Reaction::json(
        400,
        &json!({ "error": { "message": message, "param": param } }),
    )
}

#[tokio::test]
async fn what_is_not_taken_is_left_out_and_remembered() {
    let server = Server::start([refusal("temperature"), Reaction::hello()]).await;
    let place = Place::at(&server.url);
    place.ask().await.unwrap();
    place.ask().await.unwrap();
    let seen = server.seen();
    let sent: Vec<bool> = seen
        .iter()
        .map(|seen| seen.body.get("temperature").is_some())
        .collect();
    assert_eq!(sent, [true, false, false]);
    assert!(place.pace.waits().is_empty());
    let calls = place.account.take_calls();
    assert_eq!([calls[0].tries, calls[1].tries], [2, 1]);
    assert!(
        calls[0]
            .request
            .as_ref()
            .unwrap()
            .get("temperature")
            .is_none(),
        "as it was sent"
    );
}

#[tokio::test]
async fn a_model_that_refuses_it_all_the_same_is_not_asked_for_ever() {
    let server = Server::start([refusal("temperature")]).await;
    let error = Place::at(&server.url).fails().await;
    assert_eq!((error.fault, server.count()), (ModelFault::BadRequest, 2));
}

#[tokio::test]
async fn without_leave_nothing_is_left_out() {
    let server = Server::start([refusal("temperature"), Reaction::hello()]).await;
    let mut spec = spec(&server.url);
    spec.settings.drop_params = false;
    let error = Place::with(spec, |_| {}).fails().await;
    assert_eq!((error.fault, server.count()), (ModelFault::BadRequest, 1));
}

#[tokio::test]
async fn the_client_of_an_agent_teaches_nobody() {
    let server = Server::start([refusal("temperature"), Reaction::hello()]).await;
    let place = Place::at(&server.url);
    let gateway = place.model.on(&place.account, Purpose::Gateway);
    gateway.ask(&Request::user("hi")).await.unwrap();
    place.ask().await.unwrap();
    let sent: Vec<bool> = (server.seen().iter())
        .map(|seen| seen.body.get("temperature").is_some())
        .collect();
    assert_eq!(sent, [true, false, true]);
}

#[tokio::test]
async fn a_value_that_is_not_taken_says_nothing_about_others() {
    let value = json!({ "error": {
        "message": "Unsupported value: 'temperature' does not support 0.0 with this model.",
        "param": "temperature", "code": "unsupported_value",
    } });
    let server = Server::start([Reaction::json(400, &value), Reaction::hello()]).await;
    let place = Place::at(&server.url);
    place.ask().await.unwrap();
    place.ask().await.unwrap();
    let sent: Vec<bool> = (server.seen().iter())
        .map(|seen| seen.body.get("temperature").is_some())
        .collect();
    assert_eq!(sent, [true, false, true]);
}
