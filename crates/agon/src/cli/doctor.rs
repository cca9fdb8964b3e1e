//! `agon doctor`: tries each part for real and says what to do where one is missing.

use std::fmt;
use std::time::Duration;

use agon_core::environment::Network;
use agon_core::{Environment, EnvironmentKind};
use agon_sandbox::container::ContainerProvider;
use agon_sandbox::{Exec, LocalProvider, Owner, Provider, Request, SandboxError};
use serde::Serialize;

use super::args::JsonArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::{desktop, host, ocr, output};

#[derive(Debug, Serialize)]
struct Finding {
    part: &'static str,
    works: bool,
    /// What there is, or what to do.
    says: String,
}

pub(super) async fn doctor(args: &JsonArgs) -> Result<Exit, Failure> {
    let stamp = host::stamp(String::new(), Vec::new());
    let machine = format!(
        "{}, kernel {}, {} cores, {} MiB",
        stamp.os, stamp.kernel, stamp.cpus, stamp.memory_mib
    );
    let findings = [
        Finding {
            part: "machine",
            works: true,
            says: machine,
        },
        finding("local sandbox", local().await),
        finding("open network", network().await),
        finding("containers", container().await),
        finding("desktops", desktop::describe().await),
        finding("reading text", ocr::describe()),
        finding("runs folder", writable()),
    ];
    for found in &findings {
        if args.json {
            output::json(found)?;
        } else {
            let mark = if found.works { "ok  " } else { "MISS" };
            output::data(&format!("{mark} {:<14} {}", found.part, found.says))?;
        }
    }
    // Needed only by suites that ask for them.
    let optional = ["open network", "containers", "desktops", "reading text"];
    let needed = findings
        .iter()
        .filter(|found| !optional.contains(&found.part));
    Ok(if needed.clone().all(|found| found.works) {
        Exit::Done
    } else {
        Exit::Faults
    })
}

fn finding(part: &'static str, tried: Result<String, impl fmt::Display>) -> Finding {
    match tried {
        Ok(says) => Finding {
            part,
            works: true,
            says,
        },
        Err(error) => Finding {
            part,
            works: false,
            says: error.to_string(),
        },
    }
}

async fn local() -> Result<String, SandboxError> {
    let provider = agon_engine::local(&[])?;
    works(&provider, &request()).await?;
    provider.describe().await
}

/// One in a sandbox that has it.
async fn network() -> Result<String, SandboxError> {
    let network = agon_sandbox::local::open_networks()?;
    let mut request = request();
    request.environment.network = Network::Open;
    works(&agon_engine::local(&[])?, &request).await?;
    Ok(format!("{network}; no address of this machine is in it"))
}

/// Starts a sandbox and runs a program in it.
async fn works(provider: &LocalProvider, request: &Request) -> Result<(), SandboxError> {
    let sandbox = provider.prepare(request).await?;
    let output = sandbox
        .exec(&Exec::shell("echo works", Duration::from_secs(10)))
        .await?;
    sandbox.destroy().await;
    if output.stdout.bytes != b"works\n" {
        return Err(SandboxError::Start(format!(
            "a trial command: {}",
            output.exit
        )));
    }
    Ok(())
}

fn request() -> Request {
    Request {
        environment: Environment::of_kind(EnvironmentKind::Local),
        owner: Owner {
            run: "doctor".to_owned(),
            trial: "doctor".to_owned(),
        },
        read_only: Vec::new(),
        display: None,
        work: None,
        start: Duration::from_secs(20),
    }
}

async fn container() -> Result<String, SandboxError> {
    ContainerProvider::connect().await?.describe().await
}

fn writable() -> Result<String, SandboxError> {
    let here = std::env::current_dir().map_err(SandboxError::io("no current folder"))?;
    tempfile::tempfile_in(&here).map_err(SandboxError::io(format!(
        "can't write to {}: use --out",
        here.display()
    )))?;
    let free = rustix::fs::statvfs(&here).map_or(0, |fs| fs.f_bavail * fs.f_frsize);
    Ok(format!(
        "{} ({} free)",
        here.join(super::report::RUNS).display(),
        agon_core::ByteSize(free)
    ))
}
