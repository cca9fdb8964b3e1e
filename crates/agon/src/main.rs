//! The `agon` program. It is also the first process inside of every local sandbox, which is decided
//! here before anything else runs.

use std::process::ExitCode;

fn main() -> ExitCode {
    agon::sandbox::init::take_over().unwrap_or_else(agon::cli::main)
}
