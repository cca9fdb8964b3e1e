//! Bodies that somebody else wrote go out as they are.

use agon_core::ModelFault;
use agon_llm::{Image, MediaType, Message, Part, Request, Role, Wire};
use serde_json::json;

use crate::place::Place;
use crate::server::{Reaction, Server};

/// With a picture that nobody here can read.
fn request() -> Request {
    let picture = Part::Image(Image {
        media: MediaType::Png,
        bytes: b"no picture".to_vec().into(),
    });
    Request::new([Message {
        role: Role::User,
        parts: vec![picture],
        cache: false,
    }])
}

#[tokio::test]
async fn a_picture_in_a_body_of_the_same_form_is_the_services_business() {
    let server = Server::start([Reaction::hello()]).await;
    let place = Place::at(&server.url);
    let url = "data:image/png;base64,bm8gcGljdHVyZQ==";
    let content = json!([{"type": "image_url", "image_url": {"url": url}}]);
    let messages = json!([{"role": "user", "content": content}]);
    let mut request = request();
    request.raw = Some((Wire::Chat, json!({ "messages": messages })));
    place.model.ask(&request).await.unwrap();
    assert_eq!(server.seen()[0].body["messages"], messages);
}

#[tokio::test]
async fn a_picture_that_is_written_anew_must_be_one() {
    let server = Server::start([Reaction::hello()]).await;
    let place = Place::at(&server.url);
    let mut request = request();
    for raw in [None, Some((Wire::Messages, json!({"messages": []})))] {
        request.raw = raw;
        let error = place.model.ask(&request).await.unwrap_err();
        assert_eq!(error.fault, ModelFault::BadRequest);
    }
    assert_eq!(server.count(), 0);
}
