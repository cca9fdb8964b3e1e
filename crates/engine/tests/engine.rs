//! The engine played as a whole, with agents made for it.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

#[path = "engine/fixture.rs"]
mod fixture;

#[path = "engine/faults.rs"]
mod faults;
#[path = "engine/flow.rs"]
mod flow;
#[path = "engine/flow_pictures.rs"]
mod flow_pictures;
#[path = "engine/flow_place.rs"]
mod flow_place;
#[path = "engine/flow_users.rs"]
mod flow_users;
#[path = "engine/resuming.rs"]
mod resuming;
#[path = "engine/workbench.rs"]
mod workbench;
#[path = "engine/workbench_bounds.rs"]
mod workbench_bounds;
