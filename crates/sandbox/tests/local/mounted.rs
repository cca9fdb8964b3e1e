//! A folder of the host as the working folder.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::time::Duration;

use agon_core::environment::Network;
use agon_sandbox::{Exec, LocalProvider, Provider, Request, Sandbox, SandboxError};

use crate::ground::{config, provider, request};
use crate::refused::refused;

/// Somebody who is neither root nor known on any machine.
const SOMEBODY: u32 = 54_321;

fn working_in(folder: &Path) -> Request {
    Request {
        work: Some(folder.to_owned()),
        ..request()
    }
}

async fn run(sandbox: &dyn Sandbox, command: &str) -> (bool, String) {
    let exec = Exec::shell(command, Duration::from_secs(30));
    let output = sandbox.exec(&exec).await.unwrap();
    let said = [output.stdout.bytes, output.stderr.bytes].concat();
    let said = String::from_utf8_lossy(&said).trim().to_owned();
    (output.exit.success(), said)
}

/// Root's folder and somebody's; whoever is not root can only work in folders of their own.
fn owners() -> Vec<u32> {
    match rustix::process::geteuid() {
        user if user.is_root() => vec![0, SOMEBODY],
        user => vec![user.as_raw()],
    }
}

fn folder_of(owner: u32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    chown(folder.path(), Some(owner), None).unwrap();
    folder
}

#[tokio::test]
async fn what_is_made_there_belongs_to_the_owner_and_stays() {
    for owner in owners() {
        let folder = folder_of(owner);
        let provider = provider();
        let request = working_in(folder.path());
        let mut sandbox = provider.prepare(&request).await.unwrap();
        fs::write(folder.path().join("given"), "from outside").unwrap();
        let made = "cat given && mkdir made && echo inside >made/file && chmod 600 made/file && \
                    cat /workspace/made/file && pwd";
        let (ended_well, said) = run(sandbox.as_ref(), made).await;
        assert!(ended_well, "{said}");
        assert_eq!(said, "from outsideinside\n/work");
        sandbox.write("written", b"by the host").await.unwrap();
        assert_eq!(sandbox.read("made/file", 100).await.unwrap(), b"inside\n");

        let frozen = sandbox.freeze().await.unwrap();
        assert!(frozen.work.find("made/file", 10).unwrap().is_none());
        assert_ne!(frozen.work.left_out(), 0);
        sandbox.destroy().await;
        for (name, content) in [("made/file", "inside\n"), ("written", "by the host")] {
            let path = folder.path().join(name);
            assert_eq!(fs::read_to_string(&path).unwrap(), content);
            assert_eq!(path.metadata().unwrap().uid(), owner, "{name}");
        }
    }
}

#[tokio::test]
async fn the_owners_name_opens_nothing_else() {
    for owner in owners() {
        let folder = folder_of(owner);
        let provider = provider();
        let request = working_in(folder.path());
        let sandbox = provider.prepare(&request).await.unwrap();
        let (_, capabilities) = run(sandbox.as_ref(), "grep ^Cap /proc/self/status").await;
        for line in capabilities.lines() {
            let bits = line.split_whitespace().next_back().unwrap();
            assert_eq!(u128::from_str_radix(bits, 16), Ok(0), "{line}");
        }
        for command in [
            "echo x >/proc/sys/kernel/core_pattern",
            "echo x >/proc/sys/kernel/hostname",
            "echo h >/proc/sysrq-trigger",
            "echo x >/usr/mine",
            "echo x >/etc/mine",
            "touch -c /.agon/init",
            "head -c 1 /proc/kcore",
            "mount -o remount,rw /usr",
            "chown 12345 . ",
        ] {
            refused(sandbox.as_ref(), command).await;
        }
    }
}

#[tokio::test]
async fn what_is_hidden_below_it_stays_hidden() {
    for owner in owners() {
        let folder = folder_of(owner);
        let runs = folder.path().join("closed/runs");
        fs::create_dir_all(&runs).unwrap();
        fs::write(runs.join("record"), "evidence").unwrap();
        for path in [folder.path().join("closed"), runs.clone()] {
            chown(&path, Some(owner), None).unwrap();
            fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
        }
        let provider = LocalProvider::new(config().hiding([runs.clone()])).unwrap();
        let request = working_in(folder.path());
        let sandbox = provider.prepare(&request).await.unwrap();
        let (_, listed) = run(sandbox.as_ref(), "ls -A closed/runs /workspace/closed/runs").await;
        assert!(!listed.contains("record"), "{listed}");
        refused(sandbox.as_ref(), "echo forged >closed/runs/record").await;
        let kept = fs::read_to_string(runs.join("record")).unwrap();
        assert_eq!(kept, "evidence");
    }
}

#[tokio::test]
async fn what_no_agent_may_have_is_refused() {
    let provider = provider();
    let scratch = std::env::temp_dir();
    for folder in ["/", "/proc", "/no/such/folder", &scratch.to_string_lossy()] {
        let error = provider.prepare(&working_in(folder.as_ref())).await;
        assert!(
            matches!(error, Err(SandboxError::Missing(_))),
            "{folder}: {error:?}"
        );
    }
    for owner in owners() {
        let folder = folder_of(owner);
        let mut request = working_in(folder.path());
        request.environment.network = Network::Open;
        let prepared = provider.prepare(&request).await;
        assert_eq!(prepared.is_err(), owner == 0, "{prepared:?}");
    }
}
