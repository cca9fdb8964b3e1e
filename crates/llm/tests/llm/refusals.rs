//! Services that say no: what it means, how long is waited, and when it is given up.

use agon_core::ModelFault;
use agon_llm::Key;

use crate::place::{Place, spec};
use crate::server::{Reaction, Server};

#[tokio::test]
async fn too_many_requests_are_waited_out_as_the_service_asks() {
    let slow = |name, value| {
        Reaction::new(
            429,
            &[(name, value)],
            r#"{"error":{"message":"slow down"}}"#,
        )
    };
    let server = Server::start([
        slow("retry-after", "7"),
        slow("retry-after-ms", "1500"),
        Reaction::hello(),
    ])
    .await;
    let place = Place::at(&server.url);
    assert_eq!(place.ask().await.unwrap(), "hello");
    // Each with half of its tenth on top.
    assert_eq!(place.pace.waits(), [7.35, 1.575]);
    assert_eq!(server.count(), 3);
    assert_eq!(place.record().tries, 3);
}

#[tokio::test]
async fn too_many_requests_without_a_word_are_waited_out_longer_and_longer() {
    let server = Server::start([
        Reaction::error(429, "slow down"),
        Reaction::error(429, "slow down"),
        Reaction::hello(),
    ])
    .await;
    let place = Place::at(&server.url);
    assert_eq!(place.ask().await.unwrap(), "hello");
    assert_eq!(place.pace.waits(), [4.0, 32.0]);
    assert_eq!(server.count(), 3);
}

#[tokio::test]
async fn a_wait_beyond_the_deadline_is_not_begun() {
    let server = Server::start([Reaction::new(429, &[("retry-after", "900")], "{}")]).await;
    let place = Place::at(&server.url);
    let error = place.fails().await;
    assert_eq!(error.fault, ModelFault::RateLimit);
    assert!(error.message().contains("900 s"), "{error}");
    assert_eq!((server.count(), place.pace.waits().len()), (1, 0));
}

#[tokio::test]
async fn a_service_that_stays_broken_is_given_up() {
    for (status, fault) in [
        (500, ModelFault::Overload),
        (502, ModelFault::Overload),
        (503, ModelFault::Overload),
        (529, ModelFault::Overload),
        (408, ModelFault::Timeout),
        (504, ModelFault::Timeout),
        (429, ModelFault::RateLimit),
    ] {
        let server = Server::start([Reaction::error(status, "not now")]).await;
        let place = Place::at(&server.url);
        let error = place.fails().await;
        assert_eq!((error.fault, error.status), (fault, Some(status)));
        assert_eq!(server.count(), 5, "{status}");
        let record = place.record();
        assert_eq!((record.tries, record.error), (5, Some(error)));
        assert!(record.usage.is_empty(), "{:?}", record.usage);
    }
}

#[tokio::test]
async fn one_broken_moment_is_no_failure() {
    for status in [500, 529] {
        let server = Server::start([Reaction::error(status, "not now"), Reaction::hello()]).await;
        let place = Place::at(&server.url);
        assert_eq!(place.ask().await.unwrap(), "hello");
        assert_eq!(place.pace.waits(), [0.25]);
        assert_eq!(server.count(), 2);
    }
}

#[tokio::test]
async fn a_service_that_wants_a_key_and_got_none_is_told_of() {
    let ask = async |key: Option<Key>| {
        let server = Server::start([Reaction::error(401, "Missing API key")]).await;
        let mut spec = spec(&server.url);
        spec.key = key;
        let place = Place::with(spec, |_| {});
        place.ask().await.unwrap_err().to_string()
    };
    let none = ask(None).await;
    assert!(none.contains("no key was sent"), "{none}");
    let wrong = ask(Some(Key::new("sk-0123456789abcdef"))).await;
    assert!(!wrong.contains("no key was sent"), "{wrong}");
}

#[tokio::test]
async fn what_asking_again_can_not_help_is_asked_once() {
    for (status, body, fault) in [
        (
            400,
            r#"{"error":{"message":"messages is missing"}}"#,
            ModelFault::BadRequest,
        ),
        (
            401,
            r#"{"error":{"message":"wrong key"}}"#,
            ModelFault::Authentication,
        ),
        (
            402,
            r#"{"error":{"message":"no credit"}}"#,
            ModelFault::RateLimit,
        ),
        (
            403,
            r#"{"error":{"message":"not yours"}}"#,
            ModelFault::Authentication,
        ),
        (
            404,
            r#"{"error":{"message":"no such model"}}"#,
            ModelFault::Setup,
        ),
        (413, "too large", ModelFault::ContextOverflow),
        (
            400,
            r#"{"error":{"message":"too long","code":"context_length_exceeded"}}"#,
            ModelFault::ContextOverflow,
        ),
        (
            429,
            r#"{"error":{"message":"no money left","code":"insufficient_quota"}}"#,
            ModelFault::RateLimit,
        ),
    ] {
        let server = Server::start([Reaction::new(status, &[], body)]).await;
        let place = Place::at(&server.url);
        let error = place.fails().await;
        assert_eq!(error.fault, fault, "{status} {body}");
        assert_eq!(server.count(), 1, "{status} {body}");
        assert_eq!(place.record().error, Some(error));
    }
}

#[tokio::test]
async fn an_error_inside_of_a_success_is_an_error() {
    let overload = r#"{"error":{"message":"Provider returned error","code":529}}"#;
    let server = Server::start([Reaction::new(200, &[], overload), Reaction::hello()]).await;
    let place = Place::at(&server.url);
    assert_eq!(place.ask().await.unwrap(), "hello");
    assert_eq!(server.count(), 2);
    assert_eq!(place.account.spent().tokens(), 15);

    let key = r#"{"error":{"message":"No auth credentials found","code":401}}"#;
    let server = Server::start([Reaction::new(200, &[], key)]).await;
    let place = Place::at(&server.url);
    assert_eq!(place.fails().await.fault, ModelFault::Authentication);
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn the_deadline_is_over_all_tries() {
    let server = Server::start([Reaction::error(500, "not now")]).await;
    let mut spec = spec(&server.url);
    spec.settings.num_retries = 1000;
    spec.settings.timeout = Some(30.0);
    let place = Place::with(spec, |_| {});
    let error = place.fails().await;
    assert_eq!(error.fault, ModelFault::Overload);
    assert!(place.pace.waits().iter().sum::<f64>() <= 30.0);
    assert!(
        server.count() > 3 && server.count() < 20,
        "{}",
        server.count()
    );
}
