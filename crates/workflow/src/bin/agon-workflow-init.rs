//! The first process of local sandboxes, for this crate's own tests; the `agon` executable carries it too.

use std::process::ExitCode;

fn main() -> ExitCode {
    agon_sandbox::init::main()
}
