//! What a container is made of: closed by default, limited, labelled with its owner.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::path::Path;

use agon_core::environment::Network;
use bollard::models::{
    ContainerCreateBody, HostConfig, HostConfigLogConfig, Mount, MountTmpfsOptions, MountType,
    ResourcesUlimits,
};

use super::folder::Folder;
use super::processes;
use super::run_as::{PLACES, RunAs};
use crate::contract::{HOST, Request, X_SOCKETS};
use crate::error::SandboxError;
use crate::hidden::Seen;

pub(super) const LABEL_RUN: &str = "agon.run";
pub(super) const LABEL_TRIAL: &str = "agon.trial";
pub(super) const LABEL_OWNER: &str = "agon.owner";

/// What root needs to install packages, own files of several users and serve low ports. Nothing
/// here reaches beyond the container; devices, raw sockets and tracing of others stay out.
const CAPABILITIES: [&str; 8] = [
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "NET_BIND_SERVICE",
    "SETGID",
    "SETUID",
];

/// The first process and its child are ours.
const OWN_PROCESSES: u32 = 2;

/// What a display takes, as the engine counts, that is: with threads. An X server with OpenGL has
/// one of them for each core, and more.
const OF_DISPLAY: u32 = 32;

/// Files that one process may hold open.
const OPEN_FILES: i64 = 4096;

/// For the whole machine's root, which is the user inside: what counts is `pids_limit`.
const OWN_LIMIT_OF_PROCESSES: i64 = 32_768;

pub(super) fn create_body(
    request: &Request,
    folder: &Folder,
    run_as: &RunAs,
    owner: &str,
    name_server: Option<Ipv4Addr>,
) -> Result<ContainerCreateBody, SandboxError> {
    let environment = &request.environment;
    let image = environment.image.clone().ok_or_else(|| {
        SandboxError::Missing(
            "the task names no image; add `image:` to its `environment`".to_owned(),
        )
    })?;
    let mut env = environment.env.clone();
    if !run_as.is_root() {
        // No image knows this user, or has a home for it.
        env.entry("HOME".to_owned())
            .or_insert_with(|| "/tmp".to_owned());
    }
    let labels = [
        (LABEL_RUN, request.owner.run.as_str()),
        (LABEL_TRIAL, &request.owner.trial),
        (LABEL_OWNER, owner),
    ];
    Ok(ContainerCreateBody {
        image: Some(image),
        entrypoint: Some(match &request.display {
            None => words(["sh", "-c", processes::FIRST]),
            Some(display) => words([
                "sh",
                "-c",
                processes::FIRST_WITH_DISPLAY,
                "sh",
                &display.start,
            ]),
        }),
        cmd: Some(Vec::new()),
        // The first process waits on this for ever.
        open_stdin: Some(true),
        user: Some(run_as.to_string()),
        hostname: Some(HOST.to_owned()),
        working_dir: Some(folder.path().to_owned()),
        env: Some(assignments(&env)),
        labels: Some(HashMap::from(
            labels.map(|(key, value)| (key.to_owned(), value.to_owned())),
        )),
        host_config: Some(host_config(request, run_as, name_server)),
        ..ContainerCreateBody::default()
    })
}

fn ulimit(name: &str, most: i64) -> ResourcesUlimits {
    ResourcesUlimits {
        name: Some(name.to_owned()),
        soft: Some(most),
        hard: Some(most),
    }
}

/// With a name server the network is opened by us, and the engine leaves it closed.
fn host_config(request: &Request, run_as: &RunAs, name_server: Option<Ipv4Addr>) -> HostConfig {
    let environment = &request.environment;
    let memory = whole(environment.memory.0);
    let network = match (environment.network, name_server) {
        (Network::None, _) | (Network::Open, Some(_)) => "none",
        (Network::Open, None) => "default",
    };
    let shown = request.read_only.iter();
    let shown = shown.map(|folder| mount(&folder.host, &folder.inside, true));
    let display = request.display.iter();
    let display = display.map(|display| mount(&display.folder, X_SOCKETS, false));
    let work = run_as.work.iter();
    let work = work.flat_map(|work| PLACES.map(|inside| mount(&work.folder, inside, false)));
    let covers = run_as.covers.iter().map(cover);
    // With a folder of the host in reach, whoever is inside must not be more than its owner.
    let capabilities = match &run_as.work {
        None => words(CAPABILITIES),
        Some(_) => Vec::new(),
    };
    let own_processes = OWN_PROCESSES + request.display.as_ref().map_or(0, |_| OF_DISPLAY);
    HostConfig {
        network_mode: Some(network.to_owned()),
        dns: name_server.map(|server| vec![server.to_string()]),
        memory: Some(memory),
        // Memory and swap together: no swap.
        memory_swap: Some(memory),
        // In billionths.
        nano_cpus: environment.cpus.map(|cpus| (cpus * 1e9) as i64),
        pids_limit: Some(i64::from(
            environment.processes.saturating_add(own_processes),
        )),
        ulimits: Some(vec![
            // The engines have no quota on most file systems; this bounds at least a single file.
            ulimit("fsize", whole(environment.disk.0)),
            // Said, because an engine's own default may be more than it is allowed to give.
            ulimit("nofile", OPEN_FILES),
            ulimit("nproc", OWN_LIMIT_OF_PROCESSES),
        ]),
        cap_drop: Some(words(["ALL"])),
        cap_add: Some(capabilities),
        security_opt: Some(words(["no-new-privileges"])),
        log_config: Some(HostConfigLogConfig {
            typ: Some("none".to_owned()),
            config: None,
        }),
        mounts: Some(shown.chain(display).chain(work).chain(covers).collect()),
        userns_mode: run_as.real_users.then(|| "host".to_owned()),
        ..HostConfig::default()
    }
}

fn mount(host: &Path, inside: &str, read_only: bool) -> Mount {
    Mount {
        typ: Some(MountType::BIND),
        source: Some(host.to_string_lossy().into_owned()),
        target: Some(inside.to_owned()),
        read_only: Some(read_only),
        ..Mount::default()
    }
}

/// Something empty over a file or folder.
fn cover(Seen { inside, folder }: &Seen) -> Mount {
    let target = inside.to_string_lossy();
    if !folder {
        return mount(Path::new("/dev/null"), &target, true);
    }
    Mount {
        typ: Some(MountType::TMPFS),
        target: Some(target.into_owned()),
        read_only: Some(true),
        tmpfs_options: Some(MountTmpfsOptions {
            size_bytes: Some(4096),
            mode: Some(0o555),
            ..MountTmpfsOptions::default()
        }),
        ..Mount::default()
    }
}

pub(super) fn assignments<'a>(
    env: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> Vec<String> {
    env.into_iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect()
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

fn whole(bytes: u64) -> i64 {
    i64::try_from(bytes).unwrap_or(i64::MAX)
}
