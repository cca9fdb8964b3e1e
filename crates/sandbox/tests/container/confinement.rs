//! What a container may not do, and what it may use up.

use agon_core::ByteSize;
use agon_core::environment::Network;
use agon_sandbox::{Exit, Provider, ReadOnlyFolder};

use crate::fixture::{provider, request, run, sandbox, text};
use crate::open_network::leads_to_others_and_to_no_address_of_this_machine;
use crate::refused::refused;

#[tokio::test]
async fn closed_by_default() {
    let sandbox = sandbox().await;
    let devices = text(sandbox.as_ref(), "ls /sys/class/net").await;
    assert_eq!(devices, "lo\n");
    let status = text(
        sandbox.as_ref(),
        "grep -E 'CapEff|CapBnd|NoNewPrivs' /proc/self/status",
    )
    .await;
    assert!(status.contains("NoNewPrivs:\t1"), "{status}");
    for capability in ["CapEff", "CapBnd"] {
        assert!(
            status.contains(&format!("{capability}:\t00000000000004fb")),
            "{status}"
        );
    }
    for attempt in [
        "mknod /tmp/d b 8 0",
        "mount -t tmpfs x /mnt",
        "unshare -m true",
        "echo 1 >/proc/sys/kernel/panic",
    ] {
        refused(sandbox.as_ref(), attempt).await;
    }
    // What makes root useful still works.
    let useful = "touch f; chown 1000:1000 f; chmod 600 f; cat f; su nobody -s /bin/sh -c id";
    assert!(text(sandbox.as_ref(), useful).await.contains("nobody"));
    sandbox.destroy().await;
}

#[tokio::test]
async fn memory_is_limited() {
    let sandbox = sandbox().await;
    let take = |bytes: &str| format!("python3 -c 'x = bytearray({bytes}); print(len(x))'");
    let little = text(sandbox.as_ref(), &take("10**7")).await;
    assert_eq!(little, "10000000\n");
    let output = run(sandbox.as_ref(), &take("10**9")).await;
    assert!(
        !output.exit.success() && output.stdout.bytes.is_empty(),
        "{output:?}"
    );
    assert_eq!(text(sandbox.as_ref(), "echo alive").await, "alive\n");
    sandbox.destroy().await;
}

#[tokio::test]
async fn a_fork_bomb_is_limited_and_ends_with_the_freeze() {
    let mut sandbox = sandbox().await;
    let bomb = run(
        sandbox.as_ref(),
        "b() { b | b & wait; }; (b) >/dev/null 2>&1 & sleep 1",
    )
    .await;
    assert_ne!(bomb.exit, Exit::TimedOut);
    sandbox.freeze().await.unwrap();
    assert_eq!(
        text(sandbox.as_ref(), "ps -e -o stat= | grep -vc Z")
            .await
            .trim()
            .parse::<u32>()
            .unwrap(),
        5
    );
    sandbox.destroy().await;
}

#[tokio::test]
async fn an_open_network_leads_to_no_address_of_this_machine() {
    let mut request = request();
    request.environment.network = Network::Open;
    let sandbox = provider().await.prepare(&request).await.unwrap();
    leads_to_others_and_to_no_address_of_this_machine(sandbox.as_ref()).await;
    let names = text(sandbox.as_ref(), "cat /etc/resolv.conf").await;
    assert!(names.contains("nameserver 10."), "{names}");
    sandbox.destroy().await;
}

/// Takes every process that it may have, ends the one that the first process waits for, and takes its place at once:
/// again and again.
const CROWD: &str = r"
import os, signal, time
pids = []
def fill():
    while True:
        try:
            pid = os.fork()
        except OSError:
            return
        if pid == 0:
            signal.pause()
        pids.append(pid)
def waiting():
    for process in filter(str.isdigit, os.listdir('/proc')):
        try:
            words = open(f'/proc/{process}/stat').read().rsplit(')', 1)[1].split()
        except OSError:
            continue
        if words[1] == '1' and words[0] != 'Z':
            return int(process)
fill()
for _ in range(50):
    child = waiting()
    if child:
        os.kill(child, 9)
    fill()
print(len(pids) > 20, flush=True)
for pid in pids:
    os.kill(pid, 9)
";

#[tokio::test]
async fn the_first_process_outlives_a_lack_of_processes() {
    let sandbox = sandbox().await;
    sandbox.write("crowd.py", CROWD.as_bytes()).await.unwrap();
    let crowd = "setsid python3 crowd.py >crowd.txt 2>&1 & wait $!; cat crowd.txt";
    assert_eq!(text(sandbox.as_ref(), crowd).await, "True\n");
    sandbox.remains().await.unwrap();
    assert_eq!(text(sandbox.as_ref(), "echo alive").await, "alive\n");
    sandbox.destroy().await;
}

#[tokio::test]
async fn no_file_grows_beyond_the_disk() {
    let mut request = request();
    request.environment.disk = ByteSize::mib(1);
    let sandbox = provider().await.prepare(&request).await.unwrap();
    let output = run(
        sandbox.as_ref(),
        "head -c 5000000 /dev/zero >big; stat -c %s big",
    )
    .await;
    assert_eq!(output.stdout.bytes, b"1048576\n");
    sandbox.destroy().await;
}

#[tokio::test]
async fn shown_folders_are_read_only() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("given"), "text").unwrap();
    let mut request = request();
    request.read_only.push(ReadOnlyFolder {
        host: folder.path().to_owned(),
        inside: "/shown".to_owned(),
    });
    let sandbox = provider().await.prepare(&request).await.unwrap();
    assert_eq!(text(sandbox.as_ref(), "cat /shown/given").await, "text");
    refused(sandbox.as_ref(), "echo x >/shown/given").await;
    sandbox.destroy().await;
}
