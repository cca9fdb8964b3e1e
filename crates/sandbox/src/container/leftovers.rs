//! Containers of owners that died: who owns one is written on it.

use std::collections::HashMap;

use bollard::Docker;
use bollard::query_parameters::{ListContainersOptions, RemoveContainerOptions};

use super::engine::{failed, refused};
use super::spec::LABEL_OWNER;
use crate::error::SandboxError;
use crate::reaper::OwnerMark;

/// The value of the owner label for this process. Engines may serve several hosts, so it names ours.
pub(super) fn owner_label() -> Result<String, SandboxError> {
    let mark = OwnerMark::current().map_err(SandboxError::io("could not identify this process"))?;
    Ok(format!("{mark}@{}", host_name()))
}

fn host_name() -> String {
    rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned()
}

/// Whether a container with this label was left by a process of this host that has ended.
fn is_left(label: &str) -> bool {
    label
        .split_once('@')
        .filter(|(_, host)| *host == host_name())
        .and_then(|(mark, _)| mark.parse::<OwnerMark>().ok())
        .is_some_and(|mark| mark.is_dead())
}

/// Removes what dead owners left, and only that; says how many.
pub(super) async fn remove_dead_owners(docker: &Docker) -> Result<usize, SandboxError> {
    let labelled = ListContainersOptions {
        all: true,
        filters: Some(HashMap::from([(
            "label".to_owned(),
            vec![LABEL_OWNER.to_owned()],
        )])),
        ..ListContainersOptions::default()
    };
    let containers = docker
        .list_containers(Some(labelled))
        .await
        .map_err(failed("could not list containers"))?;
    let mut removed = 0;
    for container in containers {
        let left = container
            .labels
            .as_ref()
            .and_then(|labels| labels.get(LABEL_OWNER))
            .is_some_and(|label| is_left(label));
        if let (true, Some(id)) = (left, container.id) {
            remove(docker, &id).await?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Removes a container with all its processes; one that is gone already is fine.
pub(super) async fn remove(docker: &Docker, name: &str) -> Result<(), SandboxError> {
    let force = RemoveContainerOptions {
        force: true,
        v: true,
        link: false,
    };
    match docker.remove_container(name, Some(force)).await {
        // Not there, or somebody else is removing it.
        Err(error) if matches!(refused(&error), Some((404 | 409, _))) => Ok(()),
        other => other.map_err(failed("could not remove a container")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_living_and_strangers_keep_their_containers() {
        let ours = owner_label().unwrap();
        assert!(!is_left(&ours));
        for label in ["", "x", "@", "1-2-3@elsewhere", "4294967295-1@"] {
            assert!(!is_left(label), "{label}");
        }
    }

    #[test]
    fn a_dead_process_of_this_host_left_its_containers() {
        let mark = OwnerMark::current().unwrap().to_string();
        let mut parts: Vec<_> = mark.split('-').collect();
        parts[1] = "1";
        assert!(is_left(&format!("{}@{}", parts.join("-"), host_name())));
    }
}
