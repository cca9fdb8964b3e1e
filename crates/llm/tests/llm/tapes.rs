//! What was recorded is answered again without any service.

use agon_core::ModelFault;
use agon_llm::Request;

use crate::place::{Place, spec};
use crate::server::{Reaction, Server};

#[tokio::test]
async fn a_tape_answers_in_the_place_of_the_service() {
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("tape");
    let server = Server::start([Reaction::error(500, "not now"), Reaction::hello()]).await;
    let live = Place::with(spec(&server.url), |options| {
        options.record = Some(tape.clone())
    });
    let request = Request::user("hi");
    let said = live.model.ask(&request).await.unwrap();
    let recorded = live.record();
    drop((live, server));

    // Elsewhere, without a key, and streamed or not: it is the same request.
    let mut elsewhere = spec("https://models.invalid/v1");
    elsewhere.key = None;
    elsewhere.settings.not_ready = Some("there is no key".to_owned());
    let place = Place::with(elsewhere, |options| options.replay = Some(tape.clone()));
    for streams in [false, true] {
        let mut show = |_| {};
        let reply = if streams {
            place.model.ask_streaming(&request, &mut show).await
        } else {
            place.model.ask(&request).await
        };
        assert_eq!(reply.unwrap(), said);
        let record = place.record();
        assert!(record.taped);
        assert_eq!(record.tries, 0);
        assert_eq!(
            (&record.usage, &record.request),
            (&recorded.usage, &recorded.request)
        );
        assert_eq!(record.response, recorded.response);
    }
    let error = place
        .model
        .ask(&Request::user("something else"))
        .await
        .unwrap_err();
    assert_eq!(error.fault, ModelFault::NotOnTape);
    assert!(error.message().contains("something else"), "{error}");
    let record = place.record();
    assert_eq!((record.tries, record.taped), (0, false));
}

#[tokio::test]
async fn failures_are_not_on_a_tape() {
    let folder = tempfile::tempdir().unwrap();
    let tape = folder.path().join("tape");
    let server = Server::start([Reaction::error(400, "no")]).await;
    let live = Place::with(spec(&server.url), |options| {
        options.record = Some(tape.clone())
    });
    live.fails().await;
    assert!(!std::fs::read_to_string(&tape).unwrap().contains("\"hi\""));
}
