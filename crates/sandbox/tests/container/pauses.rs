//! A container stands still, its display does not.

use agon_sandbox::archive::Entry;
use agon_sandbox::{DisplayMount, Provider, Sandbox};

use crate::fixture::{provider, request, run, sandbox, text};

/// Counts as fast as it can until it is ended.
const COUNT: &str = "i=0; while :; do i=$((i + 1)); echo $i; done";

async fn size(sandbox: &dyn Sandbox, file: &str) -> u64 {
    let line = format!("stat -c %s {file}");
    text(sandbox, &line).await.trim().parse().unwrap()
}

/// Waits inside, where the deadline is the command's.
async fn grows(sandbox: &dyn Sandbox, file: &str, from: u64) {
    let line = format!("until [ $(stat -c %s {file} || echo 0) -gt {from} ]; do sleep 0.01; done");
    run(sandbox, &line).await;
}

async fn begin(sandbox: &dyn Sandbox, script: &str) {
    run(sandbox, &format!("({script}) >/dev/null 2>&1 </dev/null &")).await;
}

#[tokio::test]
async fn a_counter_stands_still_goes_on_and_is_frozen_as_it_stands() {
    let mut sandbox = sandbox().await;
    begin(sandbox.as_ref(), &format!("{{ {COUNT}; }} >count")).await;
    for _ in 0..3 {
        grows(sandbox.as_ref(), "count", 0).await;
        sandbox.pause().await.unwrap();
        let before = size(sandbox.as_ref(), "count").await;
        run(sandbox.as_ref(), "sleep 0.1").await;
        assert_eq!(size(sandbox.as_ref(), "count").await, before);
        sandbox.resume().await.unwrap();
        grows(sandbox.as_ref(), "count", before).await;
    }
    sandbox.pause().await.unwrap();
    let counted = size(sandbox.as_ref(), "count").await;
    let frozen = sandbox.freeze().await.unwrap();
    let found = frozen.work.find("count", 1).unwrap();
    assert!(
        matches!(found, Some(Entry::File { size, .. }) if size == counted),
        "{found:?}"
    );
    sandbox.destroy().await;
}

#[tokio::test]
async fn what_serves_the_display_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let display = DisplayMount {
        folder: folder.path().to_owned(),
        start: format!("{{ {COUNT}; }} >/tmp/display"),
    };
    let request = agon_sandbox::Request {
        display: Some(display),
        ..request()
    };
    let whole = provider().await.prepare(&request).await.unwrap();
    let sandbox = whole.as_ref();
    begin(sandbox, &format!("{{ {COUNT}; }} >count")).await;
    grows(sandbox, "count", 0).await;
    sandbox.pause().await.unwrap();
    let (count, display) = (
        size(sandbox, "count").await,
        size(sandbox, "/tmp/display").await,
    );
    grows(sandbox, "/tmp/display", display).await;
    assert_eq!(size(sandbox, "count").await, count);
    sandbox.resume().await.unwrap();
    grows(sandbox, "count", count).await;
    whole.destroy().await;
}
