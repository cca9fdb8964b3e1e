//! Files in and out, and the frozen working folder.

use std::fs;
use std::time::Duration;

use agon_core::digest::Hasher;
use agon_core::files::{FileEntry, FileTree};
use agon_sandbox::archive::Entry;
use agon_sandbox::{Exec, Exit, Provider, SandboxError};

use crate::ground::{ground, request, sh, text};
use crate::refused::refused;

fn tree(files: &[(&str, &str, bool)]) -> (tempfile::TempDir, FileTree) {
    let folder = tempfile::tempdir().unwrap();
    let mut tree = FileTree::default();
    for (number, (path, content, executable)) in files.iter().enumerate() {
        let source = folder.path().join(number.to_string());
        fs::write(&source, content).unwrap();
        tree.push(FileEntry {
            path: path.into(),
            source,
            executable: *executable,
            size: content.len() as u64,
            digest: Hasher::default().finish(),
        })
        .unwrap();
    }
    (folder, tree)
}

#[tokio::test]
async fn files_are_written_and_read() {
    let ground = ground().await;
    let sandbox = &ground.sandbox;
    sandbox.write("a/b/c.txt", b"hello\n\xff").await.unwrap();
    assert_eq!(
        sandbox.read("/work/a/b/c.txt", 100).await.unwrap(),
        b"hello\n\xff"
    );
    assert_eq!(sandbox.read("a/b/c.txt", 2).await.unwrap(), b"he");
    sandbox.write("a/b/c.txt", b"x").await.unwrap();
    assert_eq!(sandbox.read("a/b/c.txt", 100).await.unwrap(), b"x");
    sandbox.write("empty", b"").await.unwrap();
    assert_eq!(sandbox.read("empty", 100).await.unwrap(), b"");
    for missing in ["nothing", "a", "/root/x"] {
        let error = sandbox.read(missing, 100).await.unwrap_err();
        assert!(
            matches!(&error, SandboxError::Denied(why) if why.contains(missing)),
            "{error}"
        );
    }
    // What is not there is told from what can't be read.
    let found = sandbox.find("a/b/c.txt", 100).await.unwrap();
    assert_eq!(found.as_deref(), Some(&b"x"[..]));
    for missing in ["nothing", "a/b/c.txt/below"] {
        assert_eq!(sandbox.find(missing, 100).await.unwrap(), None);
    }
    let folder = sandbox.find("a", 100).await.unwrap_err();
    assert!(matches!(folder, SandboxError::Denied(_)), "{folder}");
    let error = sandbox.write("/usr/x", b"").await.unwrap_err();
    assert!(matches!(error, SandboxError::Denied(_)), "{error}");
}

#[tokio::test]
async fn messages_about_hostile_paths_break_nothing() {
    let ground = ground().await;
    for hostile in ["\u{1}", "\"", "\\", "\u{1b}[2J", "\u{9b}", "é"] {
        let path = hostile.repeat(4000);
        let error = ground.sandbox.read(&path, 10).await.unwrap_err();
        let SandboxError::Denied(why) = error else {
            panic!("{error}");
        };
        assert!(!why.contains(char::is_control), "{why:?}");
        let exec = Exec::new([path], Duration::from_secs(60));
        let error = ground.sandbox.exec(&exec).await.unwrap_err();
        assert!(matches!(error, SandboxError::Denied(_)), "{error}");
    }
    assert_eq!(ground.sh("true").await.exit, Exit::Code(0));
}

#[tokio::test]
async fn pipes_and_devices_make_nobody_wait() {
    let mut ground = ground().await;
    ground
        .sh("mkfifo pipe; ln -s /dev/zero zero; ln -s /dev/tty tty; ln -s loop loop; \
             python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"socket\")'; echo x > kept")
        .await;
    for path in ["pipe", "zero", "tty", "loop", "socket", "/dev/zero"] {
        let read = ground.sandbox.read(path, 100).await;
        assert!(
            matches!(read, Err(SandboxError::Denied(_))),
            "{path}: {read:?}"
        );
        let written = ground.sandbox.write(path, b"x").await;
        assert!(
            matches!(written, Err(SandboxError::Denied(_))),
            "{path}: {written:?}"
        );
    }
    let frozen = ground.sandbox.freeze().await.unwrap();
    let find = |path| frozen.work.find(path, 100).unwrap();
    assert_eq!(find("pipe"), Some(Entry::Other));
    assert_eq!(find("socket"), Some(Entry::Other));
    let target = "/dev/zero".to_owned();
    assert_eq!(find("zero"), Some(Entry::Link { target }));
    assert!(matches!(find("kept"), Some(Entry::File { size: 2, .. })));
}

#[tokio::test]
async fn a_frozen_folder_goes_on_in_a_fresh_sandbox() {
    let mut ground = ground().await;
    let (_sources, files) = tree(&[
        ("bin/hi", "#!/bin/sh\necho hi\n", true),
        ("data", "1", false),
    ]);
    ground.sandbox.copy_in(&files, "/work").await.unwrap();
    assert_eq!(text(&ground.sh("bin/hi").await.stdout.bytes), "hi\n");
    ground
        .sh(
            "mkdir -p deep/closed; echo secret > deep/closed/s; chmod 000 deep/closed/s; \
             chmod 000 deep/closed; ln -s ../data deep/link; touch 'odd name'; \
             dd if=/dev/zero of=sparse bs=1 count=1 seek=20000000 2>/dev/null; \
             ln sparse twin; sleep 1000 & :",
        )
        .await;
    let look = "chmod 700 deep/closed; ls -lR --time-style=+ | grep -v ^total; chmod 600 deep/closed/s; cat deep/closed/s";
    let frozen = ground.sandbox.freeze().await.unwrap();
    assert_eq!(
        text(&ground.sh("ps -e | wc -l").await.stdout.bytes).trim(),
        "5"
    );
    let before = ground.sh(look).await;

    let fresh = ground.provider.prepare(&request()).await.unwrap();
    fresh.unpack(&frozen.work).await.unwrap();
    let after = sh(fresh.as_ref(), look).await;
    assert_eq!(after.exit, Exit::Code(0));
    let links_count = |out: &[u8]| text(out).replace(" 2 agent", " 1 agent");
    assert!(text(&after.stdout.bytes).contains("secret"));
    assert_eq!(
        links_count(&after.stdout.bytes),
        links_count(&before.stdout.bytes)
    );
    fresh.destroy().await;
}

#[tokio::test]
async fn files_can_go_to_other_private_folders() {
    let ground = ground().await;
    let (_sources, files) = tree(&[("a/check.sh", "exit 0", false)]);
    ground.sandbox.copy_in(&files, "/tmp/verify").await.unwrap();
    assert_eq!(
        ground.sh("sh /tmp/verify/a/check.sh").await.exit,
        Exit::Code(0)
    );
    let error = ground.sandbox.copy_in(&files, "/etc/x").await.unwrap_err();
    assert!(matches!(error, SandboxError::Denied(_)), "{error}");
}

#[tokio::test]
async fn folders_of_the_host_are_shown_read_only() {
    let host = tempfile::tempdir().unwrap();
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o777);
    fs::set_permissions(host.path(), open).unwrap();
    fs::write(host.path().join("agent.py"), "print('here')").unwrap();
    let provider = crate::ground::provider();
    let mut request = request();
    request.read_only.push(agon_sandbox::ReadOnlyFolder {
        host: host.path().to_owned(),
        inside: "/agent".to_owned(),
    });
    let sandbox = provider.prepare(&request).await.unwrap();
    let done = sh(sandbox.as_ref(), "python3 /agent/agent.py").await;
    assert_eq!(text(&done.stdout.bytes), "here\n");
    refused(sandbox.as_ref(), "touch /agent/x").await;
    assert!(!host.path().join("x").exists());
}
