//! Services that break, lie or hang: the right fault, in bounded time and memory.

use std::time::Duration;

use agon_core::ModelFault;

use crate::place::{Place, spec};
use crate::server::{Reaction, Server, Then, hello};

/// What its question comes to, by our estimate.
const QUESTION: u64 = 11;
const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";

/// The fault of a service that always reacts so, and the requests that it saw.
async fn fault_of(reaction: Reaction) -> (ModelFault, usize, String) {
    let server = Server::start([reaction]).await;
    let mut spec = spec(&server.url);
    spec.settings.num_retries = 2;
    let short = Duration::from_millis(150);
    let place = Place::with(spec, |options| {
        (options.bounds.headers, options.bounds.stall) = (short, short);
    });
    let error = place.fails().await;
    let record = place.record();
    assert_eq!(
        (record.tries as usize, record.error.as_ref()),
        (server.count(), Some(&error))
    );
    // Where the service may have worked, it may be paid for: how much is a guess, and told to be one.
    let tries = server.count() as u64;
    let usage = &record.usage;
    match error.fault {
        ModelFault::Timeout => assert_eq!(usage.unpriced_calls, tries),
        ModelFault::BrokenResponse => {
            assert_eq!((usage.unpriced_calls, usage.calls), (tries, tries));
        }
        ModelFault::Network => {}
        fault => assert_eq!(usage.unpriced_calls, 0, "{fault}"),
    }
    let asked = QUESTION * usage.unpriced_calls;
    assert_eq!(usage.input_tokens, asked);
    // No more than the longest answer.
    assert!(usage.output_tokens <= tries * 16_384, "{usage:?}");
    assert_eq!(place.account.spent(), *usage);
    (error.fault, server.count(), error.to_string())
}

#[tokio::test]
async fn wrong_json() {
    for body in [
        "{\"choices\": [",
        "nonsense",
        "",
        "[]",
        "{}",
        "null",
        "{\"choices\": []}",
    ] {
        let (fault, count, text) = fault_of(Reaction::new(200, &[], body)).await;
        assert_eq!(
            (fault, count),
            (ModelFault::BrokenResponse, 2),
            "{body}: {text}"
        );
    }
}

#[tokio::test]
async fn a_web_page() {
    let page = "<!doctype html><title>Sign in</title>";
    let (fault, _, text) =
        fault_of(Reaction::new(200, &[("content-type", "text/html")], page)).await;
    assert_eq!(fault, ModelFault::BrokenResponse);
    assert!(text.contains("base_url"), "{text}");
    let (fault, _, _) = fault_of(Reaction::new(502, &[("content-type", "text/html")], page)).await;
    assert_eq!(fault, ModelFault::Overload);
}

#[tokio::test]
async fn a_huge_body() {
    let announced = format!("{HEAD}content-length: 99999999999\r\n\r\n");
    let (fault, _, text) = fault_of(Reaction::raw(announced, Then::Hang)).await;
    assert_eq!(fault, ModelFault::BrokenResponse);
    assert!(text.contains("1048576 bytes"), "{text}");
    // Without a length, and without an end.
    let endless = format!("{HEAD}connection: close\r\n\r\n");
    let (fault, _, _) = fault_of(Reaction::raw(endless, Then::Flood)).await;
    assert_eq!(fault, ModelFault::BrokenResponse);
}

#[tokio::test]
async fn a_body_of_very_many_values() {
    let many = format!("[{}0]", "0,".repeat(400_000));
    assert!(many.len() < 1 << 20);
    let (fault, count, text) = fault_of(Reaction::new(200, &[], &many)).await;
    assert_eq!((fault, count), (ModelFault::BrokenResponse, 2));
    assert!(text.contains("250000 values"), "{text}");
    // As many commas in a text are a long text.
    let mut long = hello();
    long["choices"][0]["message"]["content"] = ",".repeat(600_000).into();
    let server = Server::start([Reaction::json(200, &long)]).await;
    assert_eq!(Place::at(&server.url).ask().await.unwrap().len(), 600_000);
}

#[tokio::test]
async fn an_error_without_an_end() {
    let endless = "HTTP/1.1 500 X\r\nconnection: close\r\n\r\n";
    let (fault, count, text) = fault_of(Reaction::raw(endless, Then::Flood)).await;
    assert_eq!((fault, count), (ModelFault::Overload, 2));
    assert!(text.len() < 3_000, "{}", text.len());
}

#[tokio::test]
async fn headers_without_an_end() {
    let (fault, _, _) = fault_of(Reaction::raw("HTTP/1.1 200 OK\r\nx: ", Then::Flood)).await;
    assert_eq!(fault, ModelFault::Network);
}

#[tokio::test]
async fn no_answer_at_all() {
    let (fault, count, text) = fault_of(Reaction::raw("", Then::Hang)).await;
    assert_eq!((fault, count), (ModelFault::Timeout, 2));
    assert!(text.contains("0.15 s"), "{text}");
    // Half of the headers are none.
    let (fault, _, _) = fault_of(Reaction::raw("HTTP/1.1 200 OK\r\ncontent-", Then::Hang)).await;
    assert_eq!(fault, ModelFault::Timeout);
}

#[tokio::test]
async fn a_body_that_stops() {
    let part = format!("{HEAD}content-length: 500\r\n\r\n{{\"id\":");
    let (fault, _, _) = fault_of(Reaction::raw(part, Then::Hang)).await;
    assert_eq!(fault, ModelFault::Timeout);
}

#[tokio::test]
async fn a_connection_that_ends_in_the_middle() {
    let part = format!("{HEAD}content-length: 500\r\n\r\n{{\"id\":");
    for then in [Then::Close, Then::Reset] {
        let (fault, count, _) = fault_of(Reaction::raw(part.clone(), then)).await;
        assert_eq!((fault, count), (ModelFault::Network, 2), "{then:?}");
    }
    for then in [Then::Close, Then::Reset] {
        let (fault, count, _) = fault_of(Reaction::raw("", then)).await;
        assert_eq!((fault, count), (ModelFault::Network, 2), "{then:?}");
    }
}

#[tokio::test]
async fn something_that_is_no_http() {
    let (fault, _, _) = fault_of(Reaction::raw("220 mail ready\r\n\r\n", Then::Close)).await;
    assert_eq!(fault, ModelFault::Network);
}

#[tokio::test]
async fn nobody_there() {
    // A port that was free a moment ago.
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let place = Place::at(&format!("http://127.0.0.1:{port}/v1"));
    let error = place.fails().await;
    assert_eq!(error.fault, ModelFault::Network);
    assert!(
        error.message().to_lowercase().contains("refused"),
        "{error}"
    );
    assert_eq!(place.record().tries, 5);
}

#[tokio::test]
async fn compressed_answers_are_not_unpacked() {
    // Whatever it would have become.
    let bomb = Reaction::raw(
        [
            format!("{HEAD}content-encoding: gzip\r\ncontent-length: 20\r\n\r\n").as_bytes(),
            b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0",
        ]
        .concat(),
        Then::Keep,
    );
    let (fault, _, text) = fault_of(bomb).await;
    assert_eq!(fault, ModelFault::BrokenResponse);
    assert!(text.contains("gzip"), "{text}");
    let server = Server::start([Reaction::hello()]).await;
    Place::at(&server.url).ask().await.unwrap();
    assert!(server.seen()[0].head.contains("accept-encoding: identity"));
}

#[tokio::test]
async fn a_server_that_closes_behind_every_answer_loses_nothing() {
    let mut hello = Reaction::hello();
    hello.then = Then::Close;
    let server = Server::start([hello]).await;
    let place = Place::at(&server.url);
    for _ in 0..30 {
        assert_eq!(place.ask().await.unwrap(), "hello");
    }
    assert_eq!(server.count(), 30);
    let spent = place.account.spent();
    assert_eq!((spent.calls, spent.tokens()), (30, 450));
}
