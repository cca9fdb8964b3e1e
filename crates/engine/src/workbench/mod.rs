//! What an agent can do in a sandbox: run commands, run cells, read and change files.

mod bench;
mod browser;
mod cells;
mod drawn;
mod files;
mod inside;
mod shell;
mod trouble;

pub use bench::{Tools, Workbench};
