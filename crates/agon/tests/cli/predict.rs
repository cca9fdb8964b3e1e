//! `agon predict`: fixtures, files of one's own, pictures, going on, tapes and what a broken service means.

#[path = "predict/ends.rs"]
mod ends;
#[path = "predict/example.rs"]
mod example;
#[path = "predict/fixtures.rs"]
mod fixtures;
#[path = "predict/going_on.rs"]
mod going_on;
#[path = "predict/pictures.rs"]
mod pictures;
#[path = "predict/service.rs"]
mod service;
