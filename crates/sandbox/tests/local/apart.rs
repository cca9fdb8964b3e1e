//! Programs of the task, which no program of the agent can look into or write to.

use std::time::Duration;

use agon_sandbox::{DisplayMount, Exec, Exit, Provider};

use crate::ground::{Ground, provider, request, text};

/// Writes `exit_group(0)` where a sleeping process will go on, and wakes it; says so.
const FORGE: &str = r#"
import os, signal, subprocess, sys, time
pid = int(subprocess.run(["pgrep", "-f", "^sleep " + sys.argv[1]], stdout=subprocess.PIPE).stdout)
where = int(open(f"/proc/{pid}/syscall").read().split()[-1], 16)
with open(f"/proc/{pid}/mem", "r+b", buffering=0) as memory:
    memory.seek(where - 2)
    memory.write(bytes.fromhex("31ffb8e70000000f05"))
os.kill(pid, signal.SIGSTOP)
time.sleep(0.1)
os.kill(pid, signal.SIGCONT)
print("forged")
"#;

/// What else one process may do to another of the same user.
const LOOK: &str = r#"
import ctypes, os, subprocess, sys
pid = int(subprocess.run(["pgrep", "-f", "^sleep " + sys.argv[1]], stdout=subprocess.PIPE).stdout)
done = []
for name in ["mem", "environ", "maps", "fd/0", "auxv", "syscall"]:
    try:
        open(f"/proc/{pid}/{name}", "rb", buffering=0).read(1)
        done.append(name)
    except OSError:
        pass
libc = ctypes.CDLL(None)
if libc.ptrace(0x4206, pid, 0, 0) == 0:
    done.append("ptrace")
    libc.ptrace(17, pid, 0, 0)
if libc.syscall(438, os.pidfd_open(pid), 0, 0) >= 0:
    done.append("pidfd_getfd")
print(done)
"#;

async fn with_display(folder: &tempfile::TempDir) -> Ground {
    let provider = provider();
    let mut request = request();
    request.display = Some(DisplayMount {
        folder: folder.path().to_owned(),
        start: String::new(),
    });
    let sandbox = provider.prepare(&request).await.unwrap();
    for (path, code) in [("/tmp/forge.py", FORGE), ("/tmp/look.py", LOOK)] {
        sandbox.write(path, code.as_bytes()).await.unwrap();
    }
    Ground { sandbox, provider }
}

fn sleeping(seconds: &str) -> Exec {
    Exec::new(["sleep", seconds], Duration::from_secs(30))
}

#[tokio::test]
async fn how_a_program_of_the_task_ends_can_not_be_forged_through_its_memory() {
    let folder = tempfile::tempdir().unwrap();
    let ground = with_display(&folder).await;
    // What the agent runs itself is its own.
    let open = ground.sandbox.spawn(&sleeping("1001")).await.unwrap();
    let (closed, apart) = ground.sandbox.spawn_apart(&sleeping("1002")).await.unwrap();
    assert!(apart, "this kernel has no Landlock");
    let forged = ground.sh("python3 /tmp/forge.py 1001").await;
    assert_eq!(text(&forged.stdout.bytes), "forged\n", "{forged:?}");
    assert_eq!(open.exit.await.unwrap(), Exit::Code(0));

    let forged = ground.sh("python3 /tmp/forge.py 1002").await;
    let said = text(&forged.stderr.bytes);
    assert!(said.contains("PermissionError"), "{forged:?}");
    // Ending it is allowed, and looks so.
    ground.sh("pkill -TERM -f '^sleep 1002'").await;
    assert_eq!(closed.exit.await.unwrap(), Exit::Signal(15));
}

#[tokio::test]
async fn programs_of_the_task_can_not_look_into_each_other_either() {
    let folder = tempfile::tempdir().unwrap();
    let ground = with_display(&folder).await;
    let _open = ground.sandbox.spawn(&sleeping("1001")).await.unwrap();
    let _closed = ground.sandbox.spawn_apart(&sleeping("1002")).await.unwrap();
    for (victim, closed) in [("1001", false), ("1002", true)] {
        let looked = ground.sh(&format!("python3 /tmp/look.py {victim}")).await;
        let said = text(&looked.stdout.bytes);
        assert_eq!(said == "[]\n", closed, "{victim}: {looked:?}");
    }
    // An agent types into a terminal of the task: what runs there is of another program.
    let command = "python3 /tmp/look.py 1002 > looked; python3 /tmp/look.py 1001 >> looked";
    let exec = Exec::shell(command, Duration::from_secs(30));
    let (other, _) = ground.sandbox.spawn_apart(&exec).await.unwrap();
    assert_eq!(other.exit.await.unwrap(), Exit::Code(0));
    let looked = ground.sandbox.read("looked", 1000).await.unwrap();
    assert_eq!(text(&looked), "[]\n[]\n");
}

#[tokio::test]
async fn files_are_moved_and_signals_sent_as_ever() {
    let folder = tempfile::tempdir().unwrap();
    let ground = with_display(&folder).await;
    let moves =
        "mkdir -p a b && echo x > a/file && mv a/file b/ && ln b/file a/again && cat a/again";
    let (closed, apart) = ground.sandbox.spawn_apart(&sleeping("1002")).await.unwrap();
    assert!(apart);
    let moved = ground.sh(moves).await;
    assert_eq!(text(&moved.stdout.bytes), "x\n", "{moved:?}");
    let again = moves
        .replace("a/", "c/")
        .replace("-p a b", "-p c d")
        .replace("b/", "d/");
    let exec = Exec::shell(&again, Duration::from_secs(30));
    let (other, _) = ground.sandbox.spawn_apart(&exec).await.unwrap();
    assert_eq!(other.exit.await.unwrap(), Exit::Code(0));
    ground.sh("pkill -KILL -f '^sleep 1002'").await;
    assert_eq!(closed.exit.await.unwrap(), Exit::Signal(9));
}
