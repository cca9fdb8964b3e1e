//! Keys: where they go, and where they never go.

use agon_core::ModelFault;
use agon_llm::{Request, Session};
use serde_json::json;

use crate::place::{KEY, Place, TestPace, options, spec};
use crate::server::{Reaction, Server, hello};

#[tokio::test]
async fn a_redirect_is_not_followed_and_the_key_stays_here() {
    for status in [301, 302, 303, 307, 308] {
        let other = Server::start([Reaction::hello()]).await;
        let target = other.url.replace("127.0.0.1", "localhost");
        let server = Server::start([Reaction::new(status, &[("location", &target)], "")]).await;
        let place = Place::at(&server.url);
        let error = place.fails().await;
        assert_eq!(
            (error.fault, error.status),
            (ModelFault::BrokenResponse, Some(status))
        );
        assert!(error.message().contains("localhost"), "{error}");
        assert_eq!((server.count(), other.count()), (1, 0));
    }
}

#[tokio::test]
async fn the_key_goes_into_its_header_and_nowhere_else() {
    let server = Server::start([Reaction::hello()]).await;
    let place = Place::at(&server.url);
    place.ask().await.unwrap();
    let seen = &server.seen()[0];
    assert!(
        seen.head
            .to_lowercase()
            .contains(&format!("authorization: bearer {KEY}"))
    );
    assert_eq!(seen.head.matches(KEY).count(), 1);
    assert!(!seen.body.to_string().contains(KEY));
}

#[tokio::test]
async fn headers_of_the_configuration_are_sent_and_the_key_is_none_of_them() {
    let server = Server::start([Reaction::hello()]).await;
    let mut spec = spec(&server.url);
    let headers = [
        ("HTTP-Referer", "https://agon.example"),
        ("X-Title", "Agon"),
        ("Authorization", "Bearer another"),
    ];
    spec.settings.headers = headers
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
    Place::with(spec.clone(), |_| {}).ask().await.unwrap();
    let head = server.seen()[0].head.to_lowercase();
    assert!(
        head.contains("http-referer: https://agon.example\r\n"),
        "{head}"
    );
    assert!(head.contains("x-title: agon\r\n"), "{head}");
    assert_eq!(head.matches("authorization: ").count(), 1, "{head}");
    assert!(head.contains(KEY) && !head.contains("another"), "{head}");

    spec.settings.headers = vec![("X-Bad".to_owned(), "a\nb".to_owned())];
    let error = Place::with(spec, |_| {}).fails().await;
    assert_eq!(error.fault, ModelFault::Setup);
    assert!(error.message().contains("x-bad"), "{error}");
    assert_eq!(server.count(), 1);
}

#[tokio::test]
async fn a_key_that_is_echoed_is_shown_to_nobody() {
    let echo = format!("Incorrect API key provided: {KEY}.");
    for (status, body) in [
        (
            401,
            json!({ "error": { "message": echo, "code": "invalid_api_key" } }).to_string(),
        ),
        (500, echo.clone()),
        (200, format!("<html>{echo}</html>")),
        (200, json!({ "error": { "message": echo } }).to_string()),
    ] {
        let server = Server::start([Reaction::new(status, &[], &body)]).await;
        let place = Place::at(&server.url);
        let error = place.fails().await;
        let record = place.record();
        for text in [
            error.to_string(),
            format!("{error:?}"),
            format!("{record:?}"),
            format!("{:?}", place.model),
            format!("{:?}", place.account),
        ] {
            assert!(!text.contains(KEY), "{text}");
        }
        assert!(error.message().contains("[key]"), "{error}");
    }
}

#[tokio::test]
async fn a_key_in_what_is_said_is_not_recorded() {
    let mut answer = hello();
    answer["choices"][0]["message"]["content"] = json!(format!("it is {KEY}"));
    let server = Server::start([Reaction::json(200, &answer)]).await;
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("tape");
    let place = Place::with(spec(&server.url), |options| {
        options.record = Some(tape.clone())
    });
    let request = Request::user(format!("what is {KEY}?"));
    place.model.ask(&request).await.unwrap();
    let record = place.record();
    assert!(
        record
            .request
            .as_ref()
            .unwrap()
            .to_string()
            .contains("[key]")
    );
    assert!(
        record
            .response
            .as_ref()
            .unwrap()
            .to_string()
            .contains("[key]")
    );
    assert!(!format!("{record:?}").contains(KEY));
    assert!(!std::fs::read_to_string(&tape).unwrap().contains(KEY));
}

#[tokio::test]
async fn calls_are_logged_where_the_configuration_says_without_keys() {
    let mut answer = hello();
    answer["choices"][0]["message"]["content"] = json!(format!("it is {KEY}"));
    let server = Server::start([
        Reaction::json(200, &answer),
        Reaction::error(400, KEY),
        Reaction::hello(),
    ])
    .await;
    let folder = tempfile::tempdir().unwrap();
    let mut spec = spec(&server.url);
    spec.name = "openai/../m".to_owned();
    spec.settings.log_completions = true;
    spec.settings.log_completions_folder = Some(folder.path().join("a/b"));
    let place = Place::with(spec.clone(), |_| {});
    let request = Request::user(format!("what is {KEY}?"));
    place.model.ask(&request).await.unwrap();
    place.model.ask(&request).await.unwrap_err();
    let files = std::fs::read_dir(folder.path().join("a/b")).unwrap();
    let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
    files.sort();
    let texts: Vec<String> = files
        .iter()
        .map(|file| std::fs::read_to_string(file).unwrap())
        .collect();
    assert_eq!(texts.len(), 2, "{files:?}");
    assert!(!texts.concat().contains(KEY));
    let logged: Vec<serde_json::Value> = texts
        .iter()
        .map(|text| serde_json::from_str(text).unwrap())
        .collect();
    assert_eq!(logged[0]["request"]["messages"][0]["role"], "user");
    assert_eq!(logged[0]["response"]["id"], "x");
    assert_eq!(logged[0]["usage"]["input_tokens"], 10);
    assert_eq!(logged[1]["fault"], "bad_request");
    assert!(logged[1]["response"].is_null());

    // A place where nothing can be written is said.
    spec.settings.log_completions_folder = Some(files[0].join("c"));
    let place = Place::with(spec, |_| {});
    let error = place.model.ask(&request).await.unwrap_err();
    assert_eq!(error.fault, ModelFault::Setup, "{error}");
    assert_eq!(place.record().tries, 1);
}

#[tokio::test]
async fn a_key_that_no_header_can_carry_is_refused_without_being_shown() {
    let server = Server::start([Reaction::hello()]).await;
    let mut spec = spec(&server.url);
    spec.key = Some(agon_llm::Key::new("sk-broken\nkey"));
    let place = Place::with(spec, |_| {});
    let error = place.fails().await;
    assert_eq!(error.fault, ModelFault::Setup);
    assert!(!error.to_string().contains("sk-broken"), "{error}");
    assert_eq!(server.count(), 0);
}

#[test]
fn what_is_not_ready_is_said_at_once() {
    let session = Session::open(&options(&TestPace::new())).unwrap();
    let mut spec = spec("http://127.0.0.1:1/v1");
    spec.settings.not_ready = Some("there is no key".to_owned());
    let error = session.model(spec).unwrap_err();
    assert_eq!(error.fault, ModelFault::Setup);
    assert!(error.message().contains("there is no key"), "{error}");
}
