//! What a local sandbox keeps from agents beyond files and processes: keys of the operator, rare system calls, this
//! machine's addresses; and that none of it can be turned into a fault.

use std::fs;
use std::io::{ErrorKind, Read};
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::process::{Child, Command, Stdio};

use agon::core::verdict::{Outcome, TurnEnd};
use serde_json::json;

use crate::support::{Bench, Called};

/// A task whose only check is what the last command of its solution left in `said`.
fn says(environment: &serde_json::Value, commands: &[String], wanted: &str) -> String {
    let actions: Vec<_> = commands
        .iter()
        .map(|command| json!({ "action": "run", "command": command }))
        .collect();
    json!({
        "task": "Look around.",
        "environment": environment,
        "actions": ["run", "finish"],
        "limits": { "command": 60, "quiet": 60, "step": 60, "steps": 20 },
        "checks": [{ "type": "file", "path": "said", "equals": wanted }],
        "solution": actions,
    })
    .to_string()
}

fn python(program: &str) -> String {
    format!("python3 - > said <<'END'\n{program}\nEND")
}

#[test]
fn the_operators_keys_are_neither_read_nor_a_channel_between_trials() {
    let bench = Bench::new();
    // A login of its own, with a key on its session keyring.
    let login = "import ctypes, os, sys\nlibc = ctypes.CDLL(None)\nlibc.syscall(250, 1, 0)\n\
                 assert libc.syscall(248, b'user', b'agon-test', b'secret', 6, -3) > 0\n\
                 os.execv(sys.argv[1], sys.argv[1:])";
    let look = "import ctypes\nlibc = ctypes.CDLL(None)\n\
                print(libc.syscall(250, 10, -3, b'user', b'agon-test', 0), \
                libc.syscall(249, b'user', b'agon-test', 0, 0), \
                libc.syscall(248, b'user', b'agon-next', b'word', 4, -3), \
                libc.syscall(250, 10, -3, b'user', b'agon-next', 0), \
                'agon-' in open('/proc/keys').read())";
    let local = json!({ "kind": "local" });
    let task = says(&local, &[python(look)], "-1 -1 -1 -1 False\n");
    bench.suite(&[("keys", &task)]);
    let agon = bench.agon(&["run", "suite", "--out", "run", "--agent", "oracle"]);
    let mut command = Command::new("/usr/bin/python3");
    command
        .args(["-c", login])
        .arg(agon.get_program())
        .args(agon.get_args())
        .args(["--epochs", "2", "--json"])
        .current_dir(bench.path(""));
    Called(command.output().unwrap()).expect(0);
    let outcomes: Vec<Outcome> = bench.trials().iter().map(|line| line.outcome).collect();
    assert_eq!(outcomes, [Outcome::Passed; 2]);
}

#[test]
fn programs_that_trace_each_other_are_graded_like_all_others() {
    let bench = Bench::new();
    let circle = "import ctypes, os, time\nlibc = ctypes.CDLL(None)\nparent = os.getpid()\n\
                  child = os.fork()\nother = child or parent\n\
                  print(*[libc.ptrace(r, other, 0, 0x40) for r in (0x4206, 16)], flush=True)\n\
                  if child == 0: time.sleep(600)\n\
                  time.sleep(0.5)";
    let local = json!({ "kind": "local" });
    let task = says(&local, &[python(circle)], "-1 -1\n-1 -1\n");
    bench.suite(&[("circle", &task)]);
    bench.run(&["--agent", "oracle"]).expect(0);
    assert_eq!(bench.trial().outcome, Outcome::Passed);
}

/// The number, outside of all sandboxes, of the process with this command line.
fn outside(line: &str) -> u32 {
    let line = format!("{line} ").replace(' ', "\0").into_bytes();
    loop {
        let folders = fs::read_dir("/proc").unwrap().flatten();
        let mut numbers = folders.filter_map(|it| it.file_name().to_str()?.parse().ok());
        let wanted =
            |pid: &u32| fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|it| it == line);
        if let Some(pid) = numbers.find(wanted) {
            return pid;
        }
    }
}

/// Holds a process as only a tracer can: killed, it waits in its exit until the tracer has ended.
struct Tracer(Child);

impl Tracer {
    fn of(pid: u32) -> Self {
        let hold = format!(
            "import ctypes, time\nheld = ctypes.CDLL(None).ptrace(0x4206, {pid}, 0, 0x40)\n\
             print(held, end='', flush=True)\ntime.sleep(600)"
        );
        let mut python = Command::new("/usr/bin/python3");
        python.args(["-c", &hold]).stdout(Stdio::piped());
        let mut tracer = python.spawn().unwrap();
        let mut held = [0];
        let mut said = tracer.stdout.take().unwrap();
        said.read_exact(&mut held).unwrap();
        assert_eq!(held, *b"0", "process {pid} can't be traced");
        Self(tracer)
    }
}

impl Drop for Tracer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A task that leaves a program behind.
fn leaves_behind(number: u32) -> String {
    let leave = format!("sleep {number} >/dev/null 2>&1 & sleep 6");
    says(&json!({ "kind": "local" }), &[leave], "")
}

#[test]
fn an_agent_whose_programs_cannot_be_ended_has_failed_and_clean_says_what_it_left() {
    let bench = Bench::new();
    let number = 4_000_000 + std::process::id();
    bench.suite(&[("left", &leaves_behind(number))]);
    let mut run = bench.agon(&["run", "suite", "--out", "run", "--agent", "oracle"]);
    let run = run.stdout(Stdio::piped()).stderr(Stdio::piped());
    let run = run.spawn().unwrap();
    let held = outside(&format!("sleep {number}"));
    let tracer = Tracer::of(held);
    Called(run.wait_with_output().unwrap()).expect(0);
    let trial = bench.trial();
    assert_eq!(trial.outcome, Outcome::Failed, "{trial:?}");
    assert_eq!(trial.end, Some(TurnEnd::BroughtDown));

    let cleaned = bench.call(&["clean"]).expect(0).stderr();
    let named = format!(
        "process {held} can't be ended: process {} traces it",
        tracer.0.id()
    );
    let line = cleaned.lines().find(|line| line.ends_with(&named));
    assert!(
        line.is_some_and(|line| line.starts_with("could not remove ")),
        "{cleaned}"
    );
    let left = bench.call(&["clean", "--json"]).expect(0).json();
    assert!(left["left"].to_string().contains(&named), "{left}");
    drop(tracer);
    while bench
        .call(&["clean"])
        .expect(0)
        .stderr()
        .contains("could not")
    {}
}

#[test]
fn an_open_network_does_not_lead_to_this_machine() {
    let bench = Bench::new();
    let listener = TcpListener::bind("0.0.0.0:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let addresses = Command::new("ip")
        .args(["-4", "-o", "addr"])
        .output()
        .unwrap();
    let addresses = String::from_utf8(addresses.stdout).unwrap();
    let addresses: Vec<&str> = addresses
        .lines()
        .filter_map(|line| line.split_ascii_whitespace().nth(3)?.split('/').next())
        .collect();
    assert!(addresses.contains(&"127.0.0.1"), "{addresses:?}");
    let call = format!(
        "import socket\nfor address in {addresses:?} + ['10.0.2.2']:\n    \
         try: socket.create_connection((address, {port}), 3); print(address)\n    \
         except OSError: pass\nprint('tried', len(socket.if_nameindex()))"
    );
    let desktop = json!({ "kind": "desktop", "network": "open", "screen": "640x480" });
    let local = json!({ "kind": "local", "network": "open" });
    let [local, desktop] = [local, desktop].map(|env| says(&env, &[python(&call)], "tried 2\n"));
    bench.suite(&[("local", &local), ("desktop", &desktop)]);
    bench.run(&["--agent", "oracle"]).expect(0);
    assert!(
        bench
            .trials()
            .iter()
            .all(|line| line.outcome == Outcome::Passed)
    );
    let error = listener.accept().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
}

#[test]
fn where_there_is_no_open_network_such_a_task_is_refused_by_name() {
    let bench = Bench::new();
    let local = json!({ "kind": "local", "network": "open" });
    bench.suite(&[("far", &says(&local, &[], ""))]);
    let programs = bench.path("bin");
    fs::create_dir(&programs).unwrap();
    for name in ["bwrap", "sh"] {
        symlink(format!("/usr/bin/{name}"), programs.join(name)).unwrap();
    }
    let call = |args: &[&str]| {
        let mut command = bench.agon(args);
        Called(command.env("PATH", &programs).output().unwrap())
    };
    let refused = call(&["run", "suite", "--out", "run", "--agent", "oracle"]).expect(2);
    let said = refused.stderr();
    for part in ["`test/far`", "network: open", "apt-get install slirp4netns"] {
        assert!(said.contains(part), "{said}");
    }
    let doctor = call(&["doctor"]).stdout();
    let line = doctor.lines().find(|line| line.contains("open network"));
    let line = line.unwrap_or_else(|| panic!("{doctor}"));
    assert!(
        line.starts_with("MISS") && line.contains("apt-get install slirp4netns"),
        "{line}"
    );
    let doctor = bench.call(&["doctor"]).stdout();
    assert!(doctor.contains("ok   open network"), "{doctor}");
}
