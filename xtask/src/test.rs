//! `cargo xtask test`: everything that must hold, from formatting to tests with real sandboxes and
//! containers, on a machine that need not be prepared.

use std::process::{Command, Stdio};
use std::time::Instant;

use crate::console::{say, step, succeed};
use crate::debian::{self, BUBBLEWRAP, CHROMEDRIVER, CODING, DESKTOP, DOCKER, MMDEBSTRAP, PYTHON};
use crate::docker_engine::DockerEngine;
use crate::failure::Failure;
use crate::rootfs::TestImage;
use crate::workspace::{self, cargo};
use crate::{axe, check, local, models, rootfs};

/// With a filter only the tests run whose name contains it, and nothing but tests.
pub(crate) fn run(filter: Option<&str>) -> Result<(), Failure> {
    let started = Instant::now();
    install_packages()?;
    install_nextest()?;
    if filter.is_none() {
        step("cargo fmt", || {
            succeed(&mut cargo(&["fmt", "--all", "--check"]))
        })?;
        step("cargo clippy", || succeed(&mut clippy()))?;
        local::lint()?;
        step("cargo xtask check", check::run)?;
    }
    let agon = step("cargo build", workspace::test_binary)?;
    models::install_ocr(&agon)?;
    let helper = local::build()?;
    models::install_smollm2(&agon)?;
    let axe = axe::install()?;
    if filter.is_none() {
        step("cargo test --doc", || {
            let words = ["test", "--doc", "--workspace", "--exclude", local::PACKAGE];
            succeed(&mut cargo(&words))
        })?;
    }
    local::test(filter)?;
    let engine = engine_with_images()?;
    let root = debian::uid()? == 0;
    let docker_host = engine.api().docker_host();
    step("cargo nextest run", || {
        succeed(
            nextest(filter, root)
                .env("DOCKER_HOST", &docker_host)
                .env(local::VARIABLE, &helper)
                .env(axe::VARIABLE, &axe),
        )
    })?;
    step("stop what was started", || {
        drop(engine);
        Ok(())
    })?;
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
    let mut packages = vec![BUBBLEWRAP, PYTHON, CHROMEDRIVER];
    packages.extend(DESKTOP);
    packages.extend(CODING);
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

/// Tests whose name says `needs_root` mount file systems; without root they are left out, and nextest
/// counts them as skipped.
fn nextest(filter: Option<&str>, root: bool) -> Command {
    let words = ["nextest", "run", "--workspace", "--exclude", local::PACKAGE];
    let mut command = cargo(&words);
    if std::env::var("CI").is_ok_and(|value| value == "true") {
        command.args(["--profile", "ci"]);
    }
    if !root {
        command.args(["--filterset", "not test(/needs_root/)"]);
    }
    command.args(filter);
    command
}
