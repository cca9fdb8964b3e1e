//! From the start of a container to its removal.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use agon_core::files::FileTree;
use agon_sandbox::archive::Entry;
use agon_sandbox::{Provider, SandboxError, SessionOptions, ShellSession, Timeouts};
use bollard::Docker;
use bollard::models::{ContainerCreateBody, ContainerSummary};
use bollard::query_parameters::{
    CreateContainerOptions, KillContainerOptions, ListContainersOptions, RemoveContainerOptions,
    WaitContainerOptions,
};
use futures_util::StreamExt;

use crate::fixture::{IMAGE, provider, request, run, sandbox, text};

fn docker() -> Docker {
    Docker::connect_with_defaults().unwrap()
}

pub(crate) async fn labelled(label: &str, value: &str) -> Vec<ContainerSummary> {
    let filters = HashMap::from([("label".to_owned(), vec![format!("{label}={value}")])]);
    let options = ListContainersOptions {
        all: true,
        filters: Some(filters),
        ..ListContainersOptions::default()
    };
    docker().list_containers(Some(options)).await.unwrap()
}

#[tokio::test]
async fn it_says_what_it_is() {
    let provider = provider().await;
    let described = provider.describe().await.unwrap();
    assert!(described.contains("(API 1."), "{described}");
    assert!(
        provider
            .image_digest(IMAGE)
            .await
            .unwrap()
            .contains("sha256:")
    );
}

#[tokio::test]
async fn a_missing_image_is_named() {
    let provider = provider().await;
    let mut request = request();
    request.environment.image = Some("agon-no-such-image:7".to_owned());
    let errors = [
        provider.prepare(&request).await.unwrap_err(),
        provider
            .image_digest("agon-no-such-image:7")
            .await
            .unwrap_err(),
    ];
    for error in errors {
        assert!(matches!(error, SandboxError::Missing(_)));
        assert!(
            error
                .to_string()
                .contains("docker pull agon-no-such-image:7"),
            "{error}"
        );
    }
    request.environment.image = None;
    assert!(matches!(
        provider.prepare(&request).await,
        Err(SandboxError::Missing(_))
    ));
    assert!(
        labelled("agon.trial", &request.owner.trial)
            .await
            .is_empty()
    );
}

#[tokio::test]
async fn environment_variables_and_labels_are_set() {
    let mut request = request();
    request
        .environment
        .env
        .insert("GIVEN".to_owned(), "yes".to_owned());
    let sandbox = provider().await.prepare(&request).await.unwrap();
    assert_eq!(
        text(sandbox.as_ref(), "echo $GIVEN; pwd").await,
        "yes\n/work\n"
    );
    let containers = labelled("agon.trial", &request.owner.trial).await;
    let labels = containers[0].labels.as_ref().unwrap();
    assert_eq!(labels["agon.run"], "tests");
    assert!(labels.contains_key("agon.owner"));
    sandbox.destroy().await;
    assert!(
        labelled("agon.trial", &request.owner.trial)
            .await
            .is_empty()
    );
}

#[tokio::test]
async fn a_dropped_sandbox_is_removed() {
    let request = request();
    let sandbox = provider().await.prepare(&request).await.unwrap();
    let id = labelled("agon.trial", &request.owner.trial)
        .await
        .remove(0)
        .id
        .unwrap();
    let docker = docker();
    let removed = WaitContainerOptions {
        condition: "removed".to_owned(),
    };
    let mut wait = docker.wait_container(&id, Some(removed));
    drop(sandbox);
    // Ends with the container; a killed one has a status that counts as an error.
    let _ = tokio::time::timeout(Duration::from_secs(60), wait.next())
        .await
        .unwrap();
    assert!(
        labelled("agon.trial", &request.owner.trial)
            .await
            .is_empty()
    );
}

#[tokio::test]
async fn only_containers_of_dead_owners_are_removed() {
    let request = request();
    let provider = provider().await;
    let sandbox = provider.prepare(&request).await.unwrap();
    let ours = labelled("agon.trial", &request.owner.trial).await.remove(0);
    let owner = ours.labels.unwrap()["agon.owner"].clone();
    let (mark, host) = owner.split_once('@').unwrap();
    let dead = mark
        .splitn(3, '-')
        .enumerate()
        .map(|(at, part)| if at == 1 { "1" } else { part });
    let dead: Vec<_> = dead.collect();
    let left = [
        (format!("{}@{host}", dead.join("-")), false),
        (format!("{}@another-host", dead.join("-")), true),
        ("not an owner".to_owned(), true),
    ];
    let mut ids = Vec::new();
    for (label, stays) in left {
        let body = ContainerCreateBody {
            image: Some(IMAGE.to_owned()),
            cmd: Some(vec!["true".to_owned()]),
            labels: Some(HashMap::from([("agon.owner".to_owned(), label)])),
            ..ContainerCreateBody::default()
        };
        let created = docker()
            .create_container(None::<CreateContainerOptions>, body)
            .await
            .unwrap();
        ids.push((created.id, stays));
    }
    assert!(provider.remove_dead_owners().await.unwrap() >= 1);
    for (id, stays) in ids {
        assert_eq!(docker().inspect_container(&id, None).await.is_ok(), stays);
        if stays {
            docker()
                .remove_container(&id, None::<RemoveContainerOptions>)
                .await
                .unwrap();
        }
    }
    assert_eq!(text(sandbox.as_ref(), "echo alive").await, "alive\n");
    sandbox.destroy().await;
}

#[tokio::test]
async fn a_freeze_ends_all_processes_and_takes_the_work() {
    let mut first = sandbox().await;
    let long = "d".repeat(150);
    let work = format!(
        "mkdir -p sub/{long} && echo text >sub/{long}/file && ln -s /etc/passwd link && echo h >one && ln one two; \
         printf '\\377' >raw; chmod 751 raw; (setsid sleep 86001 &) ; nohup sleep 86002 >/dev/null 2>&1 &"
    );
    run(first.as_ref(), &work).await;
    let frozen = first.freeze().await.unwrap();
    assert_eq!(text(first.as_ref(), "pgrep -c sleep || true").await, "0\n");
    let find = |path: &str| frozen.work.find(path, 100).unwrap();
    let file = Entry::File {
        content: b"text\n".to_vec(),
        size: 5,
    };
    assert_eq!(find(&format!("sub/{long}/file")), Some(file));
    assert_eq!(find("sub"), Some(Entry::Folder));
    assert_eq!(
        find("link"),
        Some(Entry::Link {
            target: "/etc/passwd".to_owned()
        })
    );
    for name in ["one", "two"] {
        assert!(matches!(find(name), Some(Entry::File { content, .. }) if content == b"h\n"));
    }
    assert_eq!(find("work/raw"), None);

    let second = sandbox().await;
    second.unpack(&frozen.work).await.unwrap();
    let seen = text(
        second.as_ref(),
        &format!(
            "cat sub/{long}/file; stat -c %a raw; od -An -tx1 raw; readlink link; stat -c %h one"
        ),
    )
    .await;
    assert_eq!(seen, "text\n751\n ff\n/etc/passwd\n2\n");
    first.destroy().await;
    second.destroy().await;
}

#[tokio::test]
async fn a_missing_or_replaced_working_folder_is_an_empty_one() {
    for command in [
        "cd / && rm -rf work",
        "cd / && rm -rf work && ln -s /etc work",
    ] {
        let mut sandbox = sandbox().await;
        run(sandbox.as_ref(), command).await;
        let frozen = sandbox.freeze().await.unwrap();
        assert_eq!(frozen.work.find("passwd", 10).unwrap(), None, "{command}");
        assert_eq!(sandbox.read("/etc/hostname", 100).await.unwrap(), b"agon\n");
        sandbox.destroy().await;
    }
}

/// Where no agent was, nothing that an agent left can take the folder away.
#[tokio::test]
async fn a_folder_that_stays_missing_is_trouble_of_the_engine() {
    let mut first = sandbox().await;
    let work = first.freeze().await.unwrap().work;
    let second = sandbox().await;
    run(second.as_ref(), "cd / && rm -rf work").await;
    let error = second.unpack(&work).await.unwrap_err();
    assert!(matches!(error, SandboxError::Io { .. }), "{error}");
    first.destroy().await;
    second.destroy().await;
}

/// Without its own mount of the container's files an engine does what one under load was seen to do.
#[tokio::test]
async fn needs_root_an_engine_that_sees_no_files_is_a_fault_and_no_empty_folder() {
    let request = request();
    let mut sandbox = provider().await.prepare(&request).await.unwrap();
    run(sandbox.as_ref(), "echo kept > it").await;
    let found = labelled("agon.trial", &request.owner.trial).await;
    let id = found[0].id.clone().unwrap();
    let found = docker().inspect_container(&id, None).await.unwrap();
    let merged = found.graph_driver.unwrap().data["MergedDir"].clone();
    let unmount = std::process::Command::new("umount")
        .args(["--lazy", &merged])
        .status();
    assert!(unmount.unwrap().success(), "{merged}");
    let mut tree = FileTree::default();
    tree.push_made("visible.txt".into(), Arc::from(*b"shown"))
        .unwrap();
    for error in [
        sandbox.copy_in(&tree, "/work").await.unwrap_err(),
        sandbox.snapshot().await.unwrap_err(),
    ] {
        assert!(matches!(error, SandboxError::Io { .. }), "{error}");
    }
    // A killed container is mounted anew.
    let work = sandbox.kill(true).await.unwrap().work;
    assert!(work.find("it", 100).unwrap().is_some());
    sandbox.destroy().await;
}

#[tokio::test]
async fn a_container_that_was_removed_is_gone() {
    let request = request();
    let sandbox = provider().await.prepare(&request).await.unwrap();
    let id = labelled("agon.trial", &request.owner.trial)
        .await
        .remove(0)
        .id
        .unwrap();
    let force = RemoveContainerOptions {
        force: true,
        ..RemoveContainerOptions::default()
    };
    docker().remove_container(&id, Some(force)).await.unwrap();
    let error = sandbox
        .exec(&crate::fixture::shell("true"))
        .await
        .unwrap_err();
    assert!(matches!(error, SandboxError::Gone(_)), "{error:?}");
    sandbox.destroy().await;
}

#[tokio::test]
async fn who_breaks_the_images_shell_is_cut_off_all_the_same() {
    let mut sandbox = sandbox().await;
    let options = SessionOptions::new(Box::new(|_: &[u8]| Ok(())));
    let mut session = ShellSession::open(sandbox.as_ref(), options).await.unwrap();
    let timeouts = Timeouts {
        hard: Duration::from_secs(2),
        quiet: Duration::from_secs(60),
        wait: None,
        patience: None,
    };
    let broken = "echo mine >file; (setsid sleep 86001 &); ln -sf /bin/false /bin/sh; sleep 86002";
    let error = session
        .run(sandbox.as_ref(), broken, timeouts)
        .await
        .unwrap_err();
    assert!(matches!(error, SandboxError::Denied(_)), "{error:?}");
    let frozen = sandbox.freeze().await.unwrap();
    let file = Entry::File {
        content: b"mine\n".to_vec(),
        size: 5,
    };
    assert_eq!(frozen.work.find("file", 100).unwrap(), Some(file));
    sandbox.destroy().await;
}

#[tokio::test]
async fn a_container_whose_first_process_does_not_answer_is_started_again() {
    let request = request();
    let mut sandbox = provider().await.prepare(&request).await.unwrap();
    run(sandbox.as_ref(), "echo mine >file").await;
    let container = labelled("agon.trial", &request.owner.trial).await.remove(0);
    let id = container.id.unwrap();
    docker()
        .kill_container(&id, None::<KillContainerOptions>)
        .await
        .unwrap();
    let frozen = sandbox.freeze().await.unwrap();
    assert!(frozen.work.find("file", 100).unwrap().is_some());
    assert_eq!(text(sandbox.as_ref(), "cat file").await, "mine\n");
    sandbox.destroy().await;
}
