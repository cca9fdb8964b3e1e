//! The models that read text in pictures: fetched by the program that will use them, so that there is
//! one way to do it and one place that pins them.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::console::{step, succeed};
use crate::debian::{self, PIP};
use crate::failure::Failure;
use crate::workspace;

/// In the format of `sha256sum`: the package that has the models, detection, recognition.
const PINNED: &str = include_str!("../../crates/vision/models.sha256");

/// Needs pip and the network the first time only.
pub(crate) fn install(agon: &Path) -> Result<(), Failure> {
    let folder = workspace::cache()?.join("ocr");
    if !are_in(&folder) && !has_pip() {
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

/// Whether there is nothing to fetch.
fn are_in(folder: &Path) -> bool {
    let mut models = PINNED
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once("  "));
    models.all(|(_, name)| folder.join(name).is_file())
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn they_are_there_when_both_are() {
        let folder = std::env::temp_dir().join(format!("xtask-ocr-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("left over"), "").unwrap();
        let names: Vec<&str> = PINNED
            .lines()
            .skip(1)
            .map(|line| line.split_once("  ").unwrap().1)
            .collect();
        assert_eq!(names.len(), 2);
        let mut there = vec![are_in(&folder)];
        for name in names {
            fs::write(folder.join(name), "").unwrap();
            there.push(are_in(&folder));
        }
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(there, [false, false, true]);
    }
}
