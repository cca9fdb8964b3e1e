//! An open network of a local sandbox.

use std::path::Path;
use std::process::Command;

use agon_core::environment::Network;
use agon_sandbox::Provider;

use crate::ground::{provider, request, sh, text};
use crate::open_network::leads_to_others_and_to_no_address_of_this_machine;

#[tokio::test]
async fn an_open_network_reaches_others_and_no_address_of_this_machine() {
    let provider = provider();
    let mut request = request();
    request.environment.network = Network::Open;
    let sandbox = provider.prepare(&request).await.unwrap();
    leads_to_others_and_to_no_address_of_this_machine(sandbox.as_ref()).await;
}

/// Mounts as a Docker Engine makes them: what it mounts for a container lies below a folder that is shared. Removed with
/// the test.
struct SharedMounts(tempfile::TempDir);

impl SharedMounts {
    fn new() -> Self {
        let mounts = Self(tempfile::tempdir().unwrap());
        let top = mounts.0.path();
        mount(&["-t", "tmpfs", "shared"], top);
        mount(&["--make-shared"], top);
        std::fs::create_dir(top.join("container")).unwrap();
        mount(&["-t", "tmpfs", "below"], &top.join("container"));
        std::fs::write(top.join("container/file"), "").unwrap();
        mounts
    }
}

impl Drop for SharedMounts {
    fn drop(&mut self) {
        let mut umount = Command::new("umount");
        let _ = umount.arg("--recursive").arg(self.0.path()).output();
    }
}

fn mount(words: &[&str], at: &Path) {
    let done = Command::new("mount").args(words).arg(at).output().unwrap();
    assert!(done.status.success(), "{done:?}");
}

#[tokio::test]
async fn needs_root_an_open_network_leaves_the_mounts_of_this_machine_alone() {
    let mounts = SharedMounts::new();
    let provider = provider();
    let mut request = request();
    request.environment.network = Network::Open;
    let sandbox = provider.prepare(&request).await.unwrap();
    assert!(mounts.0.path().join("container/file").exists());
    sandbox.destroy().await;
    assert!(mounts.0.path().join("container/file").exists());
}

#[tokio::test]
async fn nobody_inside_can_open_the_network_further() {
    let provider = provider();
    let mut request = request();
    request.environment.network = Network::Open;
    let sandbox = provider.prepare(&request).await.unwrap();
    let before = sh(sandbox.as_ref(), "cat /proc/net/route /proc/net/fib_trie").await;
    for command in [
        "ip route del unreachable 127.0.0.0/8",
        "ip route add 127.0.0.2 dev open0",
        "ip neigh add 127.0.0.2 lladdr 02:00:00:00:00:01 dev open0",
        "ip addr add 10.9.9.9/8 dev open0",
    ] {
        let said = sh(sandbox.as_ref(), command).await;
        let words = text(&said.stderr.bytes);
        assert!(
            words.contains("Operation not permitted"),
            "`{command}`: {said:?}"
        );
    }
    let after = sh(sandbox.as_ref(), "cat /proc/net/route /proc/net/fib_trie").await;
    assert_eq!(before.stdout, after.stdout);
}

#[tokio::test]
async fn an_open_network_goes_with_its_sandbox() {
    let provider = provider();
    let mut request = request();
    request.environment.network = Network::Open;
    let programs = || {
        let mut look = Command::new("pgrep");
        let found = look.args(["-P", &std::process::id().to_string(), "slirp4netns"]);
        String::from_utf8(found.output().unwrap().stdout).unwrap()
    };
    let sandbox = provider.prepare(&request).await.unwrap();
    assert_eq!(programs().lines().count(), 1);
    sandbox.destroy().await;
    assert_eq!(programs(), "");
}
