//! The container sandbox, on the engine that DOCKER_HOST names.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "tests fail by panicking"
)]

#[path = "scenarios/open_network.rs"]
mod open_network;
#[path = "scenarios/refused.rs"]
mod refused;
#[path = "scenarios/session.rs"]
mod scenarios;

#[path = "container/confinement.rs"]
mod confinement;
#[path = "container/display.rs"]
mod display;
#[path = "container/fixture.rs"]
mod fixture;
#[path = "container/life.rs"]
mod life;
#[path = "container/listening.rs"]
mod listening;
#[path = "container/mounted.rs"]
mod mounted;
#[path = "container/pauses.rs"]
mod pauses;
#[path = "container/programs.rs"]
mod programs;
#[path = "container/recipes.rs"]
mod recipes;

session_scenarios!(fixture::sandbox);
