//! What runs by a sealed interpreter is closed to everybody else in the sandbox.

use std::time::Duration;

use agon_sandbox::{Exec, Exit, SEALED};

use crate::ground::{Ground, ground, text};
use crate::refused::refused;

/// Tries to look into the process that started it, and says what it could do.
const LOOK: &str = r#"
import ctypes, os
parent, done = os.getppid(), []
for name in ["mem", "environ", "maps", "fd/3", "fd/0", "auxv"]:
    try:
        open(f"/proc/{parent}/{name}", "rb", buffering=0)
        done.append(name)
    except OSError:
        pass
try:
    done += os.listdir(f"/proc/{parent}/fd")
except OSError:
    pass
libc = ctypes.CDLL(None)
if libc.ptrace(0x4206, parent, 0, 0) == 0:
    done.append("ptrace")
pidfd = os.pidfd_open(parent)
if libc.syscall(438, pidfd, 3, 0) >= 0:
    done.append("pidfd_getfd")
try:
    open("/proc/self/fd/3", "rb", buffering=0)
    done.append("verdict")
except OSError:
    pass
print(done)
"#;

/// What a program that `argv` starts could do to it.
async fn done_to(ground: &Ground, argv: &[&str]) -> String {
    let mut exec = Exec::new(argv.iter().copied(), Duration::from_secs(30));
    exec.verdict_channel = true;
    let done = ground.sandbox.exec(&exec).await.unwrap();
    let said = text(&done.stdout.bytes) + &text(&done.stderr.bytes);
    assert_eq!(done.exit, Exit::Code(0), "{said}");
    said.trim().to_owned()
}

#[tokio::test]
async fn a_sealed_interpreter_can_be_neither_read_nor_traced() {
    let ground = ground().await;
    ground
        .sandbox
        .write("/tmp/look.py", LOOK.as_bytes())
        .await
        .unwrap();
    let shell = "python3 /tmp/look.py; true";
    let python = "import os, sys; os.set_inheritable(3, True); \
                  os.spawnlp(os.P_WAIT, 'python3', 'python3', '/tmp/look.py')";
    for (name, code) in [("bash", shell), ("sh", shell), ("python3", python)] {
        let open = done_to(&ground, &[name, "-c", code]).await;
        // Not all systems let a child trace its parent, but all let it look at it.
        assert!(open.contains("'maps'"), "{name}: {open}");
        assert!(!open.contains("verdict"), "{name}: {open}");
        let sealed = format!("{SEALED}/{name}");
        assert_eq!(
            done_to(&ground, &[&sealed, "-c", code]).await,
            "[]",
            "{name}"
        );
    }
}

#[tokio::test]
async fn a_seal_can_not_be_broken() {
    let ground = ground().await;
    for name in ["bash", "sh", "python3"] {
        let sealed = format!("{SEALED}/{name}");
        for command in [
            format!("cat {sealed}"),
            format!("chmod u+r {sealed}"),
            format!("rm -f {sealed}"),
            format!("echo > {sealed}"),
            format!("mv {SEALED} /.agon/other"),
        ] {
            refused(ground.sandbox.as_ref(), &command).await;
        }
    }
}

#[tokio::test]
async fn sealed_python_finds_its_libraries() {
    let ground = ground().await;
    let code = format!(
        "{SEALED}/python3 -I -c 'import ctypes, decimal, hashlib, json, random, sqlite3, ssl, subprocess'"
    );
    let done = ground.sh(&code).await;
    assert_eq!(done.exit, Exit::Code(0), "{}", text(&done.stderr.bytes));
}
