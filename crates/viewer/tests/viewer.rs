//! The viewer on real run folders, over real connections.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

#[path = "viewer/browser/mod.rs"]
mod browser;
#[path = "viewer/compare.rs"]
mod compare;
#[path = "viewer/exported.rs"]
mod exported;
#[path = "viewer/fixture.rs"]
mod fixture;
#[path = "viewer/http.rs"]
mod http;
#[path = "viewer/index.rs"]
mod index;
#[path = "viewer/index_query.rs"]
mod index_query;
#[path = "viewer/index_speed.rs"]
mod index_speed;
#[path = "viewer/index_trouble.rs"]
mod index_trouble;
#[path = "viewer/library.rs"]
mod library;
#[path = "viewer/live.rs"]
mod live;
#[path = "viewer/openapi.rs"]
mod openapi;
#[path = "viewer/schema.rs"]
mod schema;
#[path = "viewer/security.rs"]
mod security;
#[path = "viewer/served.rs"]
mod served;
