//! An agent's tools in real sandboxes, without an agent.

#[path = "workbench/browser.rs"]
mod browser;
#[path = "workbench/cells.rs"]
mod cells;
#[path = "workbench/ground.rs"]
mod ground;
