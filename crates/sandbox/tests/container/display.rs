//! Containers with a display: its start, its folder, its end.

use std::os::unix::net::UnixStream;
use std::path::Path;

use agon_core::Environment;
use agon_sandbox::{DisplayMount, Provider, Request, Sandbox};
use bollard::Docker;
use bollard::query_parameters::KillContainerOptions;

use crate::fixture::{provider, request, run, text};

/// What `cargo xtask test` makes besides the plain image.
const DESKTOP: &str = "agon-test-desktop:1";

const SERVER: &str = "Xvfb :0 -screen 0 320x200x24 -noreset -nolisten tcp -s 0 -extension GLX";

/// Waits inside, where the deadline is the command's.
const UNTIL_READY: &str = "until [ -e /tmp/.X11-unix/ready ]; do sleep 0.02; done";

fn with_display(folder: &Path, start: &str) -> Request {
    Request {
        display: Some(DisplayMount {
            folder: folder.to_owned(),
            start: start.to_owned(),
        }),
        ..request()
    }
}

async fn processes(sandbox: &dyn Sandbox, name: &str) -> String {
    text(sandbox, &format!("pgrep -c '{name}' || true")).await
}

#[tokio::test]
async fn the_start_runs_once_beside_the_first_process_and_ends_with_a_freeze() {
    let folder = tempfile::tempdir().unwrap();
    let start = "echo \"it's 'quoted'\" >/tmp/.X11-unix/note; cat >/tmp/.X11-unix/input; \
                 sleep 86003 & :>/tmp/.X11-unix/ready; wait";
    let request = with_display(folder.path(), start);
    let mut sandbox = provider().await.prepare(&request).await.unwrap();
    run(sandbox.as_ref(), UNTIL_READY).await;
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert_eq!(read("note"), "it's 'quoted'\n");
    assert_eq!(read("input"), "");
    assert_eq!(processes(sandbox.as_ref(), "sleep").await, "1\n");
    // Whatever the agent leaves for the first process is no start.
    let left = "rm /tmp/.X11-unix/*; echo; echo mine >file; (sleep 86004 &) >/dev/null 2>&1; \
                printf 'x\\n\\n\\n' >/proc/1/fd/0";
    run(sandbox.as_ref(), left).await;
    let frozen = sandbox.freeze().await.unwrap();
    assert!(frozen.work.find("file", 10).unwrap().is_some());
    assert_eq!(processes(sandbox.as_ref(), "sleep").await, "0\n");
    assert_eq!(text(sandbox.as_ref(), "ls -A /tmp/.X11-unix").await, "");
    sandbox.destroy().await;
}

#[tokio::test]
async fn a_container_that_is_started_again_has_no_display() {
    let folder = tempfile::tempdir().unwrap();
    let start = ":>/tmp/.X11-unix/ready; sleep 86003";
    let request = with_display(folder.path(), start);
    let mut sandbox = provider().await.prepare(&request).await.unwrap();
    run(sandbox.as_ref(), UNTIL_READY).await;
    run(sandbox.as_ref(), "rm /tmp/.X11-unix/ready").await;
    let docker = Docker::connect_with_defaults().unwrap();
    let id = crate::life::labelled("agon.trial", &request.owner.trial)
        .await
        .remove(0)
        .id
        .unwrap();
    docker
        .kill_container(&id, None::<KillContainerOptions>)
        .await
        .unwrap();
    sandbox.freeze().await.unwrap();
    assert_eq!(processes(sandbox.as_ref(), "sleep").await, "0\n");
    // The one that waits for the line which never comes.
    assert_eq!(text(sandbox.as_ref(), "ps --ppid 1 -o comm=").await, "sh\n");
    assert!(!folder.path().join("ready").exists());
    sandbox.destroy().await;
}

#[tokio::test]
async fn an_x_server_inside_is_reached_from_outside_and_gone_after_a_freeze() {
    let folder = tempfile::tempdir().unwrap();
    let start = format!(
        "{SERVER} -displayfd 4 4>/tmp/.X11-unix/number & \
                         until [ -s /tmp/.X11-unix/number ]; do sleep 0.02; done; \
                         :>/tmp/.X11-unix/ready; wait"
    );
    let mut request = with_display(folder.path(), &start);
    request.environment = Environment {
        image: Some(DESKTOP.to_owned()),
        ..request.environment
    };
    let mut sandbox = provider().await.prepare(&request).await.unwrap();
    run(sandbox.as_ref(), UNTIL_READY).await;
    let socket = folder.path().join("X0");
    UnixStream::connect(&socket).unwrap();
    assert_eq!(
        text(sandbox.as_ref(), "ls /sys/class/net; ls /tmp/.X11-unix").await,
        "lo\nX0\nnumber\nready\n"
    );
    sandbox.freeze().await.unwrap();
    let refused = UnixStream::connect(&socket).unwrap_err();
    assert_eq!(refused.kind(), std::io::ErrorKind::ConnectionRefused);
    assert_eq!(text(sandbox.as_ref(), "echo graded").await, "graded\n");
    sandbox.destroy().await;
}
