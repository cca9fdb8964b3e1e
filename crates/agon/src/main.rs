//! The `agon` program. It is also the first process inside of every local sandbox, which is decided
//! here before anything else runs.

use std::process::ExitCode;

fn main() -> ExitCode {
    if std::env::args_os()
        .nth(1)
        .is_some_and(|first| first == agon::sandbox::init::ARGUMENT)
    {
        return agon::sandbox::init::main();
    }
    agon::cli::main()
}
