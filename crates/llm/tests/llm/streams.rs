//! Answers in pieces: put together to the same as in one, or given up.

use std::time::Duration;

use agon_core::ModelFault;
use agon_llm::{Delta, LlmError, Reply, Request};
use serde_json::json;

use crate::place::{Place, spec};
use crate::server::{Reaction, Server, Then};

const FIRST: &str = r#"{"id":"x","object":"chat.completion.chunk","created":1,"model":"m-2","choices":[{"index":0,"delta":{"role":"assistant","content":"hel"},"finish_reason":null}]}"#;
const SECOND: &str = r#"{"id":"x","object":"chat.completion.chunk","created":1,"model":"m-2","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":"stop"}]}"#;
const USAGE: &str = r#"{"id":"x","object":"chat.completion.chunk","created":1,"model":"m-2","choices":[],"usage":{"prompt_tokens":10,"completion_tokens":5,"total_tokens":15}}"#;
const WHOLE: [&str; 4] = [FIRST, SECOND, USAGE, "[DONE]"];

async fn stream(place: &Place) -> (Result<Reply, LlmError>, Vec<Delta>) {
    let mut shown = Vec::new();
    let mut show = |delta| shown.push(delta);
    let reply = place
        .model
        .ask_streaming(&Request::user("hi"), &mut show)
        .await;
    (reply, shown)
}

fn text(words: &str) -> Delta {
    Delta::Text(words.to_owned())
}

#[tokio::test]
async fn pieces_become_the_same_answer() {
    for then in [Then::Close, Then::Hang] {
        let server = Server::start([Reaction::events(&WHOLE, then)]).await;
        let place = Place::at(&server.url);
        let (reply, shown) = stream(&place).await;
        let reply = reply.unwrap();
        assert_eq!(reply.text(), "hello");
        assert_eq!(shown, [text("hel"), text("lo")]);
        assert_eq!((reply.usage.tokens(), reply.usage.calls), (15, 1));
        assert_eq!(server.seen()[0].body["stream"], json!(true));
        let record = place.record();
        assert_eq!(record.usage, reply.usage);
        assert_eq!(
            record.response.unwrap()["choices"][0]["message"]["content"],
            "hello"
        );
    }
}

#[tokio::test]
async fn an_answer_in_one_piece_is_taken_too() {
    let server = Server::start([Reaction::hello()]).await;
    let (reply, _) = stream(&Place::at(&server.url)).await;
    assert_eq!(reply.unwrap().text(), "hello");
}

#[tokio::test]
async fn a_cut_stream_is_asked_for_again() {
    for then in [Then::Close, Then::Reset] {
        let cut = Reaction::events(&[FIRST], then);
        let server = Server::start([cut.clone(), Reaction::events(&WHOLE, Then::Close)]).await;
        let place = Place::at(&server.url);
        let (reply, shown) = stream(&place).await;
        assert_eq!(reply.unwrap().text(), "hello");
        assert_eq!(shown, [text("hel"), Delta::Again, text("hel"), text("lo")]);
        // The one that was cut is counted by what came of it.
        let spent = place.account.spent();
        assert_eq!((spent.calls, spent.unpriced_calls), (2, 2));
        assert!((26..=40).contains(&spent.tokens()), "{spent:?}");

        let server = Server::start([cut]).await;
        let place = Place::at(&server.url);
        let (reply, _) = stream(&place).await;
        assert_eq!(reply.unwrap_err().fault, ModelFault::Network);
        assert_eq!(server.count(), 5);
        // All were begun, and what they cost is a guess.
        let usage = place.record().usage;
        assert_eq!((usage.calls, usage.unpriced_calls), (5, 5));
        assert!((55..=120).contains(&usage.tokens()), "{usage:?}");
    }
}

#[tokio::test]
async fn a_stall_is_a_time_out() {
    let server = Server::start([Reaction::events(&[FIRST], Then::Hang)]).await;
    let mut spec = spec(&server.url);
    spec.settings.num_retries = 2;
    let place = Place::with(spec, |options| {
        options.bounds.stall = Duration::from_millis(100)
    });
    let (reply, _) = stream(&place).await;
    let error = reply.unwrap_err();
    assert_eq!(error.fault, ModelFault::Timeout);
    assert!(error.message().contains("0.1 s"), "{error}");
    assert_eq!(server.count(), 2);
}

#[tokio::test]
async fn an_event_that_says_error_is_one() {
    let error = r#"{"error":{"message":"overloaded","code":529}}"#;
    let server = Server::start([
        Reaction::events(&[FIRST, error], Then::Close),
        Reaction::events(&WHOLE, Then::Close),
    ])
    .await;
    let place = Place::at(&server.url);
    let (reply, _) = stream(&place).await;
    assert_eq!(reply.unwrap().text(), "hello");
    assert_eq!((server.count(), place.account.spent().tokens()), (2, 15));
}

#[tokio::test]
async fn streams_are_bounded() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
    for start in ["", "data: "] {
        let server = Server::start([Reaction::raw(format!("{head}{start}"), Then::Flood)]).await;
        let mut spec = spec(&server.url);
        spec.settings.num_retries = 1;
        let (reply, _) = stream(&Place::with(spec, |_| {})).await;
        assert_eq!(reply.unwrap_err().fault, ModelFault::BrokenResponse);
        assert_eq!(server.count(), 1);
    }
}

#[tokio::test]
async fn events_of_very_many_values_are_no_answer() {
    let many = format!("{{\"x\":[{}0]}}", "0,".repeat(30_000));
    let events = [&[FIRST], [many.as_str(); 10].as_slice(), &WHOLE[1..]].concat();
    let server = Server::start([Reaction::events(&events, Then::Close)]).await;
    let mut spec = spec(&server.url);
    spec.settings.num_retries = 1;
    let (reply, _) = stream(&Place::with(spec.clone(), |_| {})).await;
    let error = reply.unwrap_err();
    assert_eq!(error.fault, ModelFault::BrokenResponse);
    assert!(error.message().contains("250000 values"), "{error}");
    // Half of them are only strange.
    let events = [&[FIRST], [many.as_str(); 5].as_slice(), &WHOLE[1..]].concat();
    let server = Server::start([Reaction::events(&events, Then::Close)]).await;
    spec.base_url.clone_from(&server.url);
    let (reply, _) = stream(&Place::with(spec, |_| {})).await;
    assert_eq!(reply.unwrap().text(), "hello");
}

#[tokio::test]
async fn refusals_of_streams_are_refusals() {
    let server = Server::start([Reaction::error(401, "wrong key")]).await;
    let (reply, _) = stream(&Place::at(&server.url)).await;
    assert_eq!(reply.unwrap_err().fault, ModelFault::Authentication);
    assert_eq!(server.count(), 1);
}
