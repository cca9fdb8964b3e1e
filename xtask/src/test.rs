//! `cargo xtask test`: everything that must hold, from formatting to tests with real sandboxes and
//! containers, on a machine that need not be prepared. `--all` adds the long tier: tests whose name says
//! `long_form`, weights on this machine, documentation and a release.

use std::num::NonZero;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::browser::{self, Browser};
use crate::console::{say, step, succeed};
use crate::debian::{
    self, BUBBLEWRAP, CODING, DESKTOP, DOCKER, MMDEBSTRAP, PYTHON, SLIRP, TOOLS, ZSTD,
};
use crate::docker_engine::DockerEngine;
use crate::failure::Failure;
use crate::rootfs::TestImage;
use crate::workspace::{self, cargo};
use crate::{axe, check, dist, local, models, rootfs, timings};

/// Which tests run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Selection {
    /// The long tier, too.
    all: bool,
    part: Option<Part>,
    /// Only the tests whose name contains it, and nothing but tests.
    filter: Option<String>,
}

/// Part `index` of `count`, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part {
    index: u32,
    count: u32,
}

impl Part {
    fn parse(text: &str) -> Option<Self> {
        let (index, count) = text.split_once('/')?;
        let (index, count) = (index.parse().ok()?, count.parse().ok()?);
        ((1..=count).contains(&index) && count <= 100).then_some(Self { index, count })
    }
}

impl Selection {
    /// From the words after `cargo xtask test`.
    pub(crate) fn parse(words: &[&str]) -> Result<Self, Failure> {
        let mut selection = Self::default();
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = || {
                let value = words.next().map(|value| (*value).to_owned());
                value.ok_or_else(|| Failure::usage(format!("`{word}` needs a value")))
            };
            match word {
                "--all" => selection.all = true,
                "--filter" => selection.filter = Some(value()?),
                "--part" => {
                    let text = value()?;
                    let part = Part::parse(&text).ok_or_else(|| {
                        Failure::usage(format!(
                            "`{text}` is not a part: say `2/4` for the second of four"
                        ))
                    });
                    selection.part = Some(part?);
                }
                other => {
                    return Err(Failure::usage(format!(
                        "`cargo xtask test` has no `{other}`; it takes --all, --part K/N and --filter NAME"
                    )));
                }
            }
        }
        Ok(selection)
    }

    /// Whether this run does what is not divided into parts: lints, documentation, weights, the release.
    fn has_single_steps(&self) -> bool {
        self.filter.is_none() && self.part.is_none_or(|part| part.index == 1)
    }
}

pub(crate) fn run(selection: &Selection) -> Result<(), Failure> {
    let started = Instant::now();
    install_packages()?;
    install_nextest()?;
    if selection.has_single_steps() {
        step("cargo fmt", || {
            succeed(&mut cargo(&["fmt", "--all", "--check"]))
        })?;
        step("cargo clippy", || succeed(&mut clippy()))?;
        step("cargo xtask check", check::run)?;
    }
    let agon = step("cargo build", workspace::test_binary)?;
    models::install_ocr(&agon)?;
    let axe = axe::install()?;
    let helper = if selection.all {
        Some(local::build()?)
    } else {
        None
    };
    if selection.all {
        models::install_smollm2(&agon)?;
    }
    if selection.all && selection.has_single_steps() {
        local::lint()?;
        step("cargo test --doc", || {
            let words = ["test", "--doc", "--workspace", "--exclude", local::PACKAGE];
            succeed(&mut cargo(&words))
        })?;
        step("cargo xtask dist --try", dist::run_and_try)?;
    }
    if selection.all && (selection.has_single_steps() || selection.filter.is_some()) {
        local::test(selection.filter.as_deref())?;
    }
    let engine = engine_with_images()?;
    let browser = step("start a browser", Browser::start)?;
    let root = debian::uid()? == 0;
    let docker_host = engine.api().docker_host();
    let profile = profile();
    let junit = timings::prepare(profile)?;
    let tests = step("cargo nextest run", || {
        let mut command = nextest(selection, profile, root);
        command.env("DOCKER_HOST", &docker_host);
        command.env(axe::VARIABLE, &axe);
        command.env(browser::VARIABLE, browser.address());
        if let Some(helper) = &helper {
            command.env(local::VARIABLE, helper);
        }
        succeed(&mut command)
    });
    step("stop what was started", || {
        drop(browser);
        drop(engine);
        Ok(())
    })?;
    // Also of a run that failed: a test that hangs is among the slowest. One that did not compile left
    // no timings.
    if junit.exists() {
        timings::print(&junit)?;
    }
    tests?;
    say(format!(
        "everything holds ({:.0} s)",
        started.elapsed().as_secs_f64()
    ));
    Ok(())
}

/// A Docker Engine that has the image without a desktop.
pub(crate) fn engine_with_image() -> Result<DockerEngine, Failure> {
    engine_with(&[rootfs::plain()])
}

/// A Docker Engine that has the image with a desktop.
pub(crate) fn engine_with_desktop() -> Result<DockerEngine, Failure> {
    engine_with(&[rootfs::desktop()])
}

/// A Docker Engine that has all images of the tests.
pub(crate) fn engine_with_images() -> Result<DockerEngine, Failure> {
    engine_with(&rootfs::images())
}

fn engine_with(images: &[TestImage]) -> Result<DockerEngine, Failure> {
    let engine = match DockerEngine::running()? {
        Some(engine) => engine,
        None => step("start a Docker Engine", DockerEngine::start)?,
    };
    for image in images {
        image.ensure(engine.api())?;
    }
    Ok(engine)
}

/// What tests with containers need; an engine that answers spares us from bringing one.
pub(crate) fn install_packages() -> Result<(), Failure> {
    let mut packages = vec![BUBBLEWRAP, PYTHON, SLIRP, ZSTD];
    packages.extend(DESKTOP);
    packages.extend(CODING);
    packages.extend(TOOLS);
    if DockerEngine::running()?.is_none() {
        packages.push(DOCKER);
    }
    for image in rootfs::images() {
        if !image.tar()?.exists() {
            packages.push(MMDEBSTRAP);
            break;
        }
    }
    debian::install(&packages)
}

fn install_nextest() -> Result<(), Failure> {
    let there = cargo(&["nextest", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    if there {
        return Ok(());
    }
    step("cargo install cargo-nextest", || {
        succeed(&mut cargo(&["install", "cargo-nextest", "--locked"]))
    })
}

fn clippy() -> Command {
    let words = ["clippy", "--workspace", "--exclude", local::PACKAGE];
    let mut command = cargo(&words);
    command.args(["--all-targets", "--", "-D", "warnings"]);
    command
}

/// The profile of nextest.
fn profile() -> &'static str {
    if std::env::var("CI").is_ok_and(|value| value == "true") {
        "ci"
    } else {
        "default"
    }
}

/// Tests whose name says `needs_root` mount file systems; without root they are left out, and nextest
/// counts them as skipped.
fn nextest(selection: &Selection, profile: &str, root: bool) -> Command {
    let mut command = cargo(&["nextest", "run", "--profile", profile]);
    command.args(workspace::TESTED);
    // Most tests wait for programs and deadlines more than they compute.
    if std::env::var_os("NEXTEST_TEST_THREADS").is_none() {
        let cores = std::thread::available_parallelism().map_or(2, NonZero::get);
        command.args(["--test-threads", &(cores * 2).to_string()]);
    }
    if selection.all {
        command.arg("--ignore-default-filter");
    }
    if let Some(Part { index, count }) = selection.part {
        command.arg("--partition");
        command.arg(format!("slice:{index}/{count}"));
    }
    if !root {
        command.args(["--filterset", "not test(/needs_root/)"]);
    }
    command.args(&selection.filter);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &str) -> Result<Selection, Failure> {
        Selection::parse(&words.split_whitespace().collect::<Vec<_>>())
    }

    #[test]
    fn words_select_tests() {
        assert_eq!(parse("").unwrap(), Selection::default());
        let selection = parse("--all --part 2/4 --filter wilson").unwrap();
        assert_eq!(selection.part, Some(Part { index: 2, count: 4 }));
        assert!(selection.all);
        assert_eq!(selection.filter.as_deref(), Some("wilson"));
    }

    #[test]
    fn wrong_words_are_refused() {
        for words in [
            "--part",
            "--part 0/4",
            "--part 5/4",
            "--part 2",
            "--part 1/1000",
            "--filter",
            "wilson",
            "--every",
        ] {
            assert!(parse(words).is_err(), "{words}");
        }
    }

    #[test]
    fn one_part_alone_does_what_is_not_divided() {
        let single = |words| parse(words).unwrap().has_single_steps();
        assert!(single("") && single("--all") && single("--all --part 1/4"));
        assert!(!single("--all --part 2/4") && !single("--filter wilson"));
    }
}
