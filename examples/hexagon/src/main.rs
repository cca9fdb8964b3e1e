//! The `hexagon` program.

use std::io::Write as _;
use std::process::ExitCode;

use agon_hexagon::options::Options;
use agon_hexagon::run;
use clap::Parser as _;

fn main() -> ExitCode {
    match run::run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Without a place to complain there is still the exit code.
            let _ = writeln!(std::io::stderr(), "hexagon: {error}");
            ExitCode::FAILURE
        }
    }
}
