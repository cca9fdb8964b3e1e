//! Many calls at once: as many as a service takes, and no more.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use agon_core::ModelFault;
use agon_llm::Request;
use axum::Router;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;

use crate::place::{Place, spec};
use crate::server::{Reaction, Server, Then, hello};

/// A service with so much room; the most that were there at the same time are counted.
async fn service(room: usize) -> (String, Arc<AtomicUsize>, Arc<AtomicUsize>) {
    let (now, most, refused) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicUsize::new(0)),
        Arc::new(AtomicUsize::new(0)),
    );
    let counts = (Arc::clone(&most), Arc::clone(&refused));
    let answer = move || {
        let (now, (most, refused)) = (Arc::clone(&now), counts.clone());
        async move {
            let there = now.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(there, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_millis(2)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            if there > room {
                refused.fetch_add(1, Ordering::SeqCst);
                return Response::from((StatusCode::TOO_MANY_REQUESTS, "{}").into_response());
            }
            axum::Json(hello()).into_response()
        }
    };
    let router = Router::new().route("/v1/chat/completions", post(answer));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    (url, most, refused)
}

async fn ask_all(place: &Place, count: usize) {
    let calls = (0..count).map(|_| {
        let model = place.model.clone();
        tokio::spawn(async move {
            model
                .ask(&Request::user("hi"))
                .await
                .map(|reply| reply.text())
        })
    });
    for call in calls.collect::<Vec<_>>() {
        assert_eq!(call.await.unwrap().unwrap(), "hello");
    }
}

#[tokio::test]
async fn a_service_with_little_room_is_not_run_over() {
    let (url, _, refused) = service(10).await;
    let mut spec = spec(&url);
    spec.settings.num_retries = 200;
    spec.settings.timeout = Some(1e6);
    let place = Place::with(spec, |_| {});
    ask_all(&place, 300).await;
    let spent = place.account.spent();
    assert_eq!((spent.calls, spent.tokens()), (300, 4_500));
    assert!(refused.load(Ordering::SeqCst) > 0);
    let tries: u32 = place
        .account
        .take_calls()
        .iter()
        .map(|call| call.tries)
        .sum();
    assert_eq!(tries as usize, 300 + refused.load(Ordering::SeqCst));
}

#[tokio::test]
async fn a_service_with_room_gets_more_at_once() {
    let (url, most, _) = service(usize::MAX).await;
    let place = Place::at(&url);
    ask_all(&place, 2_000).await;
    let most = most.load(Ordering::SeqCst);
    assert!(most > 20 && most <= 200, "{most}");
    assert_eq!(place.account.spent().calls, 2_000);
}

#[tokio::test]
async fn the_wait_for_room_ends() {
    let server = Server::start([Reaction::raw("", Then::Hang)]).await;
    let mut spec = spec(&server.url);
    let short = Duration::from_millis(200);
    spec.settings.timeout = Some(short.as_secs_f64());
    let place = Place::with(spec.clone(), |options| {
        options.bounds.turn = short;
        options.bounds.headers = Duration::from_secs(60);
    });
    // The others have as much time as they want, and never end.
    spec.settings.timeout = Some(60.0);
    let others = place.session.model(spec).unwrap();
    let mut hanging = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let model = others.clone();
        hanging.spawn(async move { model.ask(&Request::user("hi")).await.map(drop) });
    }
    while server.count() < 20 {
        tokio::task::yield_now().await;
    }
    let error = place.fails().await;
    assert_eq!(error.fault, ModelFault::Timeout);
    assert!(error.message().contains("no room for 0.2 s"), "{error}");
    let record = place.record();
    assert_eq!((record.tries, server.count()), (0, 20));

    // One that gave up its wait has taken nobody's place.
    let model = place.model.clone();
    let waiting = tokio::spawn(async move { model.ask(&Request::user("hi")).await.map(drop) });
    tokio::task::yield_now().await;
    waiting.abort();
    assert!(waiting.await.unwrap_err().is_cancelled());
    hanging.shutdown().await;
    for _ in 0..20 {
        let model = others.clone();
        hanging.spawn(async move { model.ask(&Request::user("hi")).await.map(drop) });
    }
    while server.count() < 40 {
        tokio::task::yield_now().await;
    }
}
