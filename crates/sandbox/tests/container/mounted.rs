//! A folder of the host as the working folder of a container.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::time::Duration;

use agon_core::Digest;
use agon_core::files::{FileEntry, FileTree};
use agon_sandbox::session::{SessionOptions, ShellSession, Timeouts};
use agon_sandbox::{Exec, Provider, Request, WORK};

use crate::fixture::{provider, request, run, text};
use crate::refused::refused;

/// Somebody whom no image knows.
const SOMEBODY: u32 = 54_321;

/// Root's folder and somebody's; whoever is not root has only folders of their own.
fn owners() -> Vec<u32> {
    match rustix::process::geteuid() {
        user if user.is_root() => vec![0, SOMEBODY],
        user => vec![user.as_raw()],
    }
}

fn folder_of(owner: u32) -> (tempfile::TempDir, Request) {
    let folder = tempfile::tempdir().unwrap();
    chown(folder.path(), Some(owner), None).unwrap();
    let request = Request {
        work: Some(folder.path().to_owned()),
        ..request()
    };
    (folder, request)
}

#[tokio::test]
async fn in_a_container_what_is_made_belongs_to_the_owner_and_stays() {
    for owner in owners() {
        let (folder, request) = folder_of(owner);
        let mut sandbox = provider().await.prepare(&request).await.unwrap();
        fs::write(folder.path().join("given"), "from outside\n").unwrap();
        let mut tree = FileTree::default();
        tree.push(FileEntry {
            path: "brought/in".into(),
            source: folder.path().join("given"),
            executable: false,
            size: 13,
            digest: Digest::of(b"from outside\n"),
        })
        .unwrap();
        sandbox.copy_in(&tree, WORK).await.unwrap();
        let script = "cat given; mkdir made && echo inside >made/file; echo more >>brought/in; \
                      cat /workspace/made/file; pwd; echo ~ | grep -v '^/$' | wc -l";
        let said = text(sandbox.as_ref(), script).await;
        assert_eq!(said, "from outside\ninside\n/work\n1\n");
        sandbox.write("written", b"by the host").await.unwrap();
        let options = SessionOptions::new(Box::new(|_: &[u8]| Ok(())));
        let mut shell = ShellSession::open(sandbox.as_ref(), options).await.unwrap();
        let long = Timeouts {
            hard: Duration::from_secs(60),
            quiet: Duration::from_secs(60),
            wait: None,
            patience: None,
        };
        let ran = shell
            .run(sandbox.as_ref(), "echo typed >typed; (sleep 86005 &)", long)
            .await
            .unwrap();
        assert_eq!(ran.exit, Some(0));

        let frozen = sandbox.freeze().await.unwrap();
        assert!(frozen.work.find("made/file", 10).unwrap().is_none());
        assert_ne!(frozen.work.left_out(), 0);
        assert_eq!(
            text(sandbox.as_ref(), "pgrep -c sleep || true").await,
            "0\n"
        );
        sandbox.destroy().await;
        for (name, content) in [
            ("made/file", "inside\n"),
            ("brought/in", "from outside\nmore\n"),
            ("written", "by the host"),
            ("typed", "typed\n"),
        ] {
            let path = folder.path().join(name);
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
            assert_eq!(path.metadata().unwrap().uid(), owner, "{name}");
        }
    }
}

#[tokio::test]
async fn in_a_container_the_owners_name_opens_nothing_else() {
    for owner in owners() {
        let (folder, request) = folder_of(owner);
        let private = folder.path().join("private");
        fs::write(&private, "of nobody").unwrap();
        fs::set_permissions(&private, fs::Permissions::from_mode(0o000)).unwrap();
        let sandbox = provider().await.prepare(&request).await.unwrap();
        let capabilities = text(sandbox.as_ref(), "grep ^CapEff /proc/self/status").await;
        assert!(
            capabilities.ends_with("\t0000000000000000\n"),
            "{capabilities}"
        );
        for command in ["cat private", "chown 12345 .", "mknod device c 1 3"] {
            refused(sandbox.as_ref(), command).await;
        }
        let exec = Exec::shell("kill -9 1; kill -TERM 1", Duration::from_secs(9));
        sandbox.exec(&exec).await.unwrap();
        sandbox.remains().await.unwrap();
        sandbox.destroy().await;
    }
}

#[tokio::test]
async fn in_a_container_what_is_hidden_below_it_stays_hidden() {
    for owner in owners() {
        let (folder, request) = folder_of(owner);
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("sub/runs")).unwrap();
        for path in ["sub/runs/record", "key"] {
            fs::write(at(path), "evidence").unwrap();
        }
        let provider = provider().await.hiding(vec![at("sub/runs"), at("key")]);
        let sandbox = provider.prepare(&request).await.unwrap();
        for place in ["/work", "/workspace"] {
            let look = format!("ls -A {place}/sub/runs; cat {place}/key");
            assert_eq!(text(sandbox.as_ref(), &look).await, "");
            let forge = format!("echo forged >{place}/sub/runs/record");
            refused(sandbox.as_ref(), &forge).await;
        }
        run(sandbox.as_ref(), "echo forged >key").await;
        for path in ["sub/runs/record", "key"] {
            assert_eq!(fs::read_to_string(at(path)).unwrap(), "evidence");
        }
        sandbox.destroy().await;
    }
}
