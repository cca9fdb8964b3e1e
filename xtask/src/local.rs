//! `agon-local`, which runs models on this machine: built, linted and tested apart from everything else,
//! because llama.cpp takes minutes. The release profile sees to it that it is built once for all of that.

use std::path::PathBuf;

use crate::console::{step, succeed};
use crate::debian::{self, LLAMA};
use crate::failure::Failure;
use crate::workspace::{self, cargo};

pub(crate) const PACKAGE: &str = "agon-local";
/// Tells `agon` where the program is.
pub(crate) const VARIABLE: &str = "AGON_LOCAL";

/// Builds the program, and says where it is.
pub(crate) fn build() -> Result<PathBuf, Failure> {
    debian::install(&LLAMA)?;
    let built = "build agon-local (llama.cpp takes minutes the first time)";
    step(built, || {
        let words = ["build", "--package", PACKAGE, "--release"];
        workspace::binary(&words, "release/agon-local")
    })
}

pub(crate) fn lint() -> Result<(), Failure> {
    debian::install(&LLAMA)?;
    step(
        "lint agon-local (llama.cpp takes minutes the first time)",
        || {
            let words = ["clippy", "--package", PACKAGE, "--all-targets"];
            succeed(cargo(&words).args(["--release", "--", "-D", "warnings"]))
        },
    )
}

/// Needs the model.
pub(crate) fn test(filter: Option<&str>) -> Result<(), Failure> {
    step("test agon-local", || {
        let words = ["nextest", "run", "--package", PACKAGE, "--release"];
        let mut command = cargo(&words);
        // A filter may be meant for the other tests.
        command.args(["--no-tests", "pass"]).args(filter);
        succeed(&mut command)
    })
}
