//! The models that read text in pictures: fetched by the program that will use them, so that there is
//! one way to do it and one place that pins them.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::console::{step, succeed};
use crate::debian::{self, PIP};
use crate::failure::Failure;
use crate::workspace;

/// Needs pip and the network the first time only.
pub(crate) fn install(agon: &Path) -> Result<(), Failure> {
    let folder = workspace::cache()?.join("ocr");
    let there = folder
        .read_dir()
        .is_ok_and(|mut files| files.next().is_some());
    if !there && !has_pip() {
        debian::install(&[PIP])?;
    }
    step("agon ocr install", || {
        succeed(
            Command::new(agon)
                .args(["ocr", "install"])
                .current_dir(workspace::root()),
        )
    })
}

fn has_pip() -> bool {
    Command::new("python3")
        .args(["-m", "pip", "--version"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}
