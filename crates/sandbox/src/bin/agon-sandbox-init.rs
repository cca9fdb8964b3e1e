//! The init alone, for this crate's own tests; the `agon` executable carries it too.

use std::process::ExitCode;

fn main() -> ExitCode {
    agon_sandbox::init::take_over().unwrap_or_else(agon_sandbox::init::main)
}
