//! The system calls that programs inside do not have, those that they keep, and the keys that they never get.

use std::process::{Command, Stdio};

use agon_sandbox::Exit;
use agon_sandbox::local::spawn_lasting;

use crate::ground::{ground, text};

/// Prints the names of the errors that system calls end with.
const CALLS: &str = r#"
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
def call(*words):
    ctypes.set_errno(0)
    return errno.errorcode.get(ctypes.get_errno(), "?") if libc.syscall(*words) < 0 else "done"
"#;

#[tokio::test]
async fn refused_system_calls_say_so() {
    let ground = ground().await;
    let numbers = [
        ("keyctl", "250, 0, -3, 0", "EPERM"),
        ("add_key", "248, b'user', b'a', b'b', 1, -3", "EPERM"),
        ("request_key", "249, b'user', b'a', 0, -3", "EPERM"),
        ("bpf", "321, 0, 0, 0", "EPERM"),
        ("perf_event_open", "298, 0, 0, 0, 0, 0", "EPERM"),
        ("userfaultfd", "323, 1", "EPERM"),
        ("kexec_load", "246, 0, 0, 0, 0", "EPERM"),
        ("init_module", "175, 0, 0, 0", "EPERM"),
        ("mount", "165, b'a', b'/tmp', b'tmpfs', 0, 0", "EPERM"),
        ("fsopen", "430, b'tmpfs', 0", "EPERM"),
        ("setns", "308, 0, 0", "EPERM"),
        ("unshare", "272, 0x10000000", "EPERM"),
        ("clone", "56, 0x10000011, 0, 0, 0, 0", "EPERM"),
        ("clone3", "435, 0, 0", "ENOSYS"),
        ("io_uring_setup", "425, 1, 0", "ENOSYS"),
        ("one that nobody knows", "470, 0", "ENOSYS"),
        ("a vsock", "41, 40, 1, 0", "EAFNOSUPPORT"),
        ("a packet socket", "41, 17, 3, 0", "EAFNOSUPPORT"),
        ("a cipher socket", "41, 38, 5, 0", "EAFNOSUPPORT"),
        ("a Unix socket", "41, 1, 1, 0", "done"),
        ("an IPv6 socket", "41, 10, 1, 0", "done"),
        ("a netlink socket", "41, 16, 3, 0", "done"),
        ("io_setup", "206, 1, ctypes.byref(ctypes.c_ulong())", "done"),
    ];
    let calls: String = numbers
        .iter()
        .map(|(name, words, _)| format!("print('{name}:', call({words}))\n"))
        .collect();
    let wanted: String = numbers
        .iter()
        .map(|(name, _, answer)| format!("{name}: {answer}\n"))
        .collect();
    let said = ground
        .sh(&format!(
            "cat > /tmp/calls.py <<'END'\n{CALLS}{calls}END\npython3 /tmp/calls.py"
        ))
        .await;
    assert_eq!(text(&said.stdout.bytes), wanted, "{said:?}");
    let status = ground.sh("grep -E '^Seccomp:' /proc/self/status").await;
    assert_eq!(text(&status.stdout.bytes), "Seccomp:\t2\n");
}

/// Traces each other, each to be told of the other's exit: nobody could ever end them.
const CIRCLE: &str = r#"
import ctypes, os, signal, time
libc = ctypes.CDLL(None, use_errno=True)
parent, told, tell = os.getpid(), *os.pipe()
child = os.fork()
if child == 0:
    taken = [libc.ptrace(request, parent, 0, 0x40) for request in (0x4206, 16)]
    os.write(tell, bytes(it == 0 for it in taken))
    time.sleep(600)
taken = [libc.ptrace(request, child, 0, 0x40) for request in (0x4206, 16)]
print(taken, list(os.read(told, 2)), flush=True)
"#;

#[tokio::test]
async fn nobody_inside_can_make_processes_that_cannot_be_ended() {
    let mut ground = ground().await;
    let said = ground
        .sh(&format!(
            "cat > circle.py <<'END'\n{CIRCLE}END\npython3 circle.py"
        ))
        .await;
    assert_eq!(text(&said.stdout.bytes), "[-1, -1] [0, 0]\n", "{said:?}");
    ground.sandbox.freeze().await.unwrap();
}

#[tokio::test]
async fn programs_do_what_they_always_did() {
    let ground = ground().await;
    for command in [
        "strace -f -o /tmp/trace sh -c 'true; true | true' && grep -q 'exited with 0' /tmp/trace",
        "python3 -c 'import threading as t; [x.start() for x in [t.Thread(target=print) for _ in range(20)]]'",
        "python3 -c 'import subprocess; subprocess.run([\"true\"], check=True)'",
        "python3 -c 'import multiprocessing as m; m.Pool(4).map(abs, range(9))'",
        "git init -q repo && cd repo && git -c user.name=a -c user.email=b commit -q --allow-empty -m c",
        "setarch -R true",
        "ip addr || python3 -c 'import socket; socket.if_nameindex()'",
    ] {
        let done = ground.sh(command).await;
        assert_eq!(done.exit, Exit::Code(0), "`{command}`: {done:?}");
    }
}

/// The session keyring of whoever runs it, and whether a key of the operator's hangs on it.
const KEYS: &str = r#"
import ctypes
libc = ctypes.CDLL(None)
print(libc.syscall(250, 0, -3, 0), libc.syscall(250, 10, -3, b"user", b"agon-test", 0) > 0)
"#;

#[test]
fn what_is_started_has_a_session_keyring_of_its_own() {
    let join = keyutils_raw::keyctl_join_session_keyring(None).unwrap();
    keyutils_raw::add_key("user", "agon-test", b"secret", join).unwrap();
    let mut python = Command::new("/usr/bin/python3");
    python.args(["-c", KEYS]).stdout(Stdio::piped());
    let output = python.output().unwrap();
    let ours = String::from_utf8(output.stdout).unwrap();
    assert_eq!(ours, format!("{} True\n", join.get()));
    let started = || {
        let mut python = Command::new("/usr/bin/python3");
        python.args(["-c", KEYS]).stdout(Stdio::piped());
        let child = spawn_lasting(python).unwrap();
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    };
    let [first, second] = [started(), started()];
    assert_ne!(first, second);
    for said in [first, second] {
        assert!(said.ends_with(" False\n"), "{said}");
    }
}
