//! Agents that misbehave: whatever an agent does ends its own turn and nothing else. Its environment
//! is graded as it stands, the other trials of the run pass, nothing is left running, and the memory
//! of `agon` stays bounded. Each test plays a real run in real sandboxes.

#[path = "hostile/actions.rs"]
mod actions;
#[path = "hostile/arena.rs"]
mod arena;
#[path = "hostile/links.rs"]
mod links;
#[path = "hostile/programs.rs"]
mod programs;
#[path = "hostile/remains.rs"]
mod remains;
