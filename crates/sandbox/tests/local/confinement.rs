//! What an agent tries and cannot do.

use std::fs;
use std::net::TcpListener;
use std::process::Command;

use agon_sandbox::{DisplayMount, Exit, LocalConfig, LocalProvider, Provider};

use crate::ground::{Ground, ground, init, request, sh, text};
use crate::refused::refused;

async fn fails(ground: &Ground, command: &str) -> String {
    refused(ground.sandbox.as_ref(), command).await
}

/// Asserts that a command works, so that others which fail do not fail for want of its tools.
async fn works(ground: &Ground, command: &str) {
    let done = ground.sh(command).await;
    let said = text(&done.stdout.bytes) + &text(&done.stderr.bytes);
    assert_eq!(done.exit, Exit::Code(0), "`{command}`: {said}");
}

#[tokio::test]
async fn the_system_cannot_be_changed() {
    let ground = ground().await;
    for command in [
        "touch /tmp/own; chown 1000:1000 /work",
        "mkdir /tmp/folder",
        "mknod /tmp/pipe p",
        "hostname",
        "date",
    ] {
        works(&ground, command).await;
    }
    for command in [
        "mount -o remount,rw /usr",
        "mount -o remount,rw,bind /usr",
        "mount -t tmpfs none /tmp",
        "umount -l /usr",
        "touch /usr/x",
        "touch /etc/x",
        "touch /x",
        "touch /dev/x",
        "mkdir /.agon/x",
        "mknod /tmp/disk b 8 0",
        "mknod /tmp/null c 1 3",
        "chroot / true",
        "hostname other",
        "chown 0:0 /work",
        "su -c true",
        "echo 1 > /proc/sys/kernel/core_pattern",
        "date -s 2000-01-01",
    ] {
        fails(&ground, command).await;
    }
    let status = ground
        .sh("grep -E '^(Cap(Prm|Eff|Bnd)|NoNewPrivs)' /proc/self/status")
        .await;
    let status = text(&status.stdout.bytes);
    assert_eq!(status.matches("0000000000000000").count(), 3, "{status}");
    assert!(status.contains("NoNewPrivs:\t1"), "{status}");
}

#[tokio::test]
async fn there_are_no_further_namespaces() {
    let ground = ground().await;
    works(&ground, "unshare true").await;
    for command in [
        "unshare -U true",
        "unshare -Ur true",
        "unshare -n true",
        "unshare -m true",
        "bwrap --ro-bind / / true",
        "nsenter -t 1 -m true",
    ] {
        fails(&ground, command).await;
    }
}

#[tokio::test]
async fn the_init_can_be_neither_traced_nor_read() {
    let ground = ground().await;
    let attach = "import ctypes; print(ctypes.CDLL(None).ptrace(16, 1, 0, 0))";
    let attached = ground.sh(&format!("python3 -c '{attach}'")).await;
    assert_eq!(text(&attached.stdout.bytes), "-1\n", "{attached:?}");
    for command in [
        "ls -l /proc/self/fd/",
        "cat /proc/self/environ",
        "ls /proc/self/root/",
    ] {
        works(&ground, command).await;
    }
    for command in [
        "ls -l /proc/1/fd/",
        "cat /proc/1/environ",
        "head -c 1 /proc/1/mem",
        "ls /proc/1/root/",
        ": > /proc/1/fd/3",
    ] {
        fails(&ground, command).await;
    }
}

/// All at once, since a signal that arrives while the init is busy is another matter than one that
/// finds it waiting.
#[tokio::test]
async fn no_signal_from_inside_ends_the_init() {
    let ground = ground().await;
    let storm = "for n in 1 2 3 4 5; do for s in KILL STOP TERM INT HUP ABRT SEGV BUS USR1 RTMIN; do \
                 kill -s $s 1; done; done 2>/dev/null; true";
    let storms = (0..40).map(|_| ground.sh(storm));
    for done in futures_util::future::join_all(storms).await {
        assert_eq!(done.exit, Exit::Code(0));
    }
    assert_eq!(ground.sh("echo alive").await.exit, Exit::Code(0));
}

#[tokio::test]
async fn the_hosts_processes_and_folders_are_not_there() {
    let ground = ground().await;
    let processes = ground.sh("ls /proc | grep -c '^[0-9]'").await;
    let count: u32 = text(&processes.stdout.bytes).trim().parse().unwrap();
    assert!(count <= 5, "{count} processes");
    // Our own command line, as a pattern that does not match itself.
    let us = std::env::current_exe().unwrap();
    let us = us.file_name().unwrap().to_str().unwrap();
    let look = format!("ps -eo args | grep -- '[{}]{}'", &us[..1], &us[1..]);
    let here = Command::new("sh").args(["-c", &look]).output().unwrap();
    assert!(here.status.success(), "`{look}`: {here:?}");
    fails(&ground, &look).await;

    let here = env!("CARGO_MANIFEST_DIR");
    let secret = tempfile::tempdir().unwrap();
    let name = format!("answer-{}", std::process::id());
    let answer = secret.path().join(&name);
    fs::write(&answer, "42").unwrap();
    works(&ground, "ls /usr").await;
    for path in [
        "/root",
        "/etc/shadow",
        "/var/lib",
        "/sys",
        "/boot",
        "/mnt",
        "/opt",
    ] {
        fails(&ground, &format!("ls {path}")).await;
    }
    fails(&ground, &format!("ls {here}/src")).await;
    fails(&ground, &format!("cat {}", answer.display())).await;
    let homes = ground
        .sh("ls /home; ls -A /tmp /home/agent /run /work | grep -v :")
        .await;
    assert_eq!(text(&homes.stdout.bytes).trim(), "agent");
    // On all its file systems; one of its own is found.
    let found = ground
        .sh(&format!(
            "mkdir /dev/shm/own; touch /dev/shm/own/{name}; \
             find / -path /proc -prune -o -name {name} -print 2>/dev/null"
        ))
        .await;
    assert_eq!(text(&found.stdout.bytes), format!("/dev/shm/own/{name}\n"));
    let variables = text(&ground.sh("env | cut -d= -f1 | sort").await.stdout.bytes);
    assert_eq!(variables, "HOME\nLANG\nPATH\nPWD\nTERM\nUSER\n");
}

#[tokio::test]
async fn nobody_listens_on_its_loopback_and_nothing_is_beyond() {
    let ground = ground().await;
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = |host: &str, port: u16| {
        format!("python3 -c 'import socket; socket.create_connection((\"{host}\", {port}), 3)'")
    };
    for (host, port) in [("127.0.0.1", port), ("8.8.8.8", 53)] {
        let said = fails(&ground, &connect(host, port)).await;
        let unreachable = ["ConnectionRefusedError", "Network is unreachable"];
        assert!(unreachable.iter().any(|why| said.contains(why)), "{said}");
    }
    let devices = ground.sh("tail -n +3 /proc/net/dev | cut -d: -f1").await;
    assert_eq!(text(&devices.stdout.bytes).trim(), "lo");
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err());
}

#[tokio::test]
async fn sandboxes_do_not_see_each_other() {
    let ground = ground().await;
    let other = ground.provider.prepare(&request()).await.unwrap();
    ground
        .sh("echo mine > /work/f; echo mine > /tmp/f; sleep 5001 &")
        .await;
    while ground.count("sleep 5001").await != Some(1) {}
    for look in [
        "cat /work/f",
        "cat /tmp/f",
        "ps -eo args | grep '^sleep 5001'",
    ] {
        works(&ground, look).await;
        refused(other.as_ref(), look).await;
    }
    assert_eq!(
        sh(other.as_ref(), "kill -9 -1; true").await.exit,
        Exit::Code(0)
    );
    assert_eq!(ground.count("sleep 5001").await, Some(1));
}

#[tokio::test]
async fn it_has_what_programs_expect() {
    let ground = ground().await;
    let done = ground
        .sh(
            "set -e; python3 -c 'import ssl, json, pty'; git --version; perl -e 1; awk 'BEGIN{}'; \
             test -w /dev/null; test -w /dev/shm; test -w /var/tmp; test -w /tmp; test -w /run; \
             test \"$(hostname)\" = agon; getent passwd agent; date; tty -s || echo no tty",
        )
        .await;
    assert_eq!(done.exit, Exit::Code(0), "{}", text(&done.stderr.bytes));
}

#[tokio::test]
async fn suites_and_runs_below_shown_folders_are_hidden() {
    let shown = tempfile::tempdir().unwrap();
    let mut hidden = vec![shown.path().join("suite"), shown.path().join("answers.txt")];
    // Where we may: the system's own folders are shown too.
    let system = tempfile::tempdir_in("/usr/local").ok();
    hidden.extend(system.as_ref().map(|folder| folder.path().join("runs")));
    for path in &hidden {
        let open = || std::os::unix::fs::PermissionsExt::from_mode(0o755);
        if path.extension().is_none() {
            fs::create_dir(path).unwrap();
            fs::write(path.join("check.sh"), "secret").unwrap();
        } else {
            fs::write(path, "secret").unwrap();
        }
        fs::set_permissions(path, open()).unwrap();
        fs::set_permissions(path.parent().unwrap(), open()).unwrap();
    }
    fs::write(shown.path().join("agent.py"), "shown").unwrap();
    let closed = shown.path().join("closed");
    fs::create_dir_all(closed.join("suite")).unwrap();
    fs::set_permissions(&closed, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();

    let mut request = request();
    request.read_only.push(agon_sandbox::ReadOnlyFolder {
        host: shown.path().to_owned(),
        inside: "/agent".to_owned(),
    });
    let look = "cat /agent/agent.py; grep -r secret /agent/suite /agent/answers.txt /usr/local; \
                touch /agent/suite/x && echo written";
    let seen = |config: LocalConfig| {
        let request = request.clone();
        async move {
            let provider = LocalProvider::new(config).unwrap();
            let sandbox = provider.prepare(&request).await.unwrap();
            text(&sh(sandbox.as_ref(), look).await.stdout.bytes)
        }
    };
    let config = LocalConfig {
        init: init(),
        init_args: Vec::new(),
        hidden: Vec::new(),
    };
    let open = seen(config.clone()).await;
    assert_eq!(open.matches("secret").count(), hidden.len(), "{open}");
    let more = [closed.join("suite"), "/nowhere/at/all".into()];
    let config = config.hiding(hidden).hiding(more);
    assert_eq!(seen(config).await, "shown");
}

#[tokio::test]
async fn the_folder_of_a_display_is_shown_but_cannot_be_changed() {
    let folder = tempfile::tempdir().unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(folder.path(), mode).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(folder.path().join("X0")).unwrap();
    let anybody = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(folder.path().join("X0"), anybody).unwrap();
    let secret = folder.path().join("secret");
    fs::write(&secret, "42").unwrap();
    let provider = LocalProvider::new(LocalConfig {
        init: init(),
        init_args: Vec::new(),
        hidden: vec![secret],
    })
    .unwrap();
    let mut request = request();
    request.display = Some(DisplayMount {
        folder: folder.path().to_owned(),
        start: "touch /tmp/started".to_owned(),
    });
    let sandbox = provider.prepare(&request).await.unwrap();
    let connect = "import socket; socket.socket(socket.AF_UNIX).connect('/tmp/.X11-unix/X0')";
    let reached = sh(sandbox.as_ref(), &format!("python3 -c \"{connect}\"")).await;
    assert_eq!(reached.exit, Exit::Code(0), "{reached:?}");
    socket.accept().unwrap();
    for command in [
        "rm -f /tmp/.X11-unix/X0",
        "touch /tmp/.X11-unix/X1",
        "mv /tmp/.X11-unix /tmp/other",
        "grep 42 /tmp/.X11-unix/secret",
        "ls /tmp/started",
    ] {
        refused(sandbox.as_ref(), command).await;
    }
    assert_eq!(
        sh(sandbox.as_ref(), "touch /tmp/mine").await.exit,
        Exit::Code(0)
    );
}
