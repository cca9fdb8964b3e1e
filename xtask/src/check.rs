//! `cargo xtask check`: the house rules that no compiler knows. Each rule looks at text or data
//! alone and is tested on small inputs; this file finds the text and prints what the rules find.

mod crates;
mod dependencies;
mod manifests;
mod sources;

use std::fmt;
use std::path::{Path, PathBuf};

use crate::console;
use crate::failure::{Failure, Trying};
use crate::workspace;

/// A broken rule and the place where it is broken.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Finding {
    file: PathBuf,
    line: usize,
    message: String,
}

impl Finding {
    fn new(file: impl Into<PathBuf>, line: usize, message: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line,
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file.display(), self.line, self.message)
    }
}

pub(crate) fn run() -> Result<(), Failure> {
    let root = workspace::root();
    let members = manifests::members(&workspace::metadata()?, &root)?;
    let mut findings = crates::check(&members);
    for member in &members {
        findings.extend(manifests::check(member));
    }
    findings.extend(dependencies::check(
        &read(&root, "Cargo.toml")?,
        &read(&root, "docs/dependencies.md")?,
    )?);
    let files = sources::files(&root)?;
    for file in &files {
        findings.extend(sources::check(file, &read(&root, file)?));
    }
    findings.sort();
    for finding in &findings {
        console::complain(finding);
    }
    if findings.is_empty() {
        console::say(format!(
            "{} crates and {} files keep the house rules",
            members.len(),
            files.len()
        ));
        Ok(())
    } else {
        Err(Failure::new(format!("{} broken rules", findings.len())))
    }
}

fn read(root: &Path, file: impl AsRef<Path>) -> Result<String, Failure> {
    let path = root.join(file);
    std::fs::read_to_string(&path).trying(format!("read {}", path.display()))
}

/// The line on which `what` first stands at the beginning, or the first line.
fn line_of(text: &str, what: &str) -> usize {
    text.lines()
        .position(|line| line.trim_start().starts_with(what))
        .map_or(1, |index| index + 1)
}
