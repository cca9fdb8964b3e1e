//! What an agent can do in a sandbox: run commands, run cells, read and change files.

mod bench;
mod files;
mod shell;

pub use bench::{Tools, Workbench};
