//! What an agent can't see, reach or change: neither through its actions in the task's sandbox, nor
//! with its own program in the sandbox of a `cmd:` agent. Every probe is tried in both.

use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use agon::core::Action;
use agon::prelude::EventBody;
use serde_json::{Value, json};

use crate::probe::{refusal, watched};
use crate::secrets::Secret;
use crate::support::{Bench, Called};

/// Runs commands where the agent itself is, and thinks aloud what came of them.
const PROBER: &str = r#"
import json, subprocess, sys
start = json.loads(sys.stdin.readline())
said = [json.dumps(start)]
for command in json.load(open("/agent/probes.json")):
    done = subprocess.run(["bash", "-c", command], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said.append(done.stdout.decode(errors="replace") + f"status {done.returncode}\n")
for text in said:
    sys.stdin.readline()
    print(json.dumps({"action": "think", "thought": text}), flush=True)
sys.stdin.readline()
print(json.dumps({"action": "finish"}), flush=True)
"#;

/// A run whose secrets all hold the same token.
struct World {
    bench: Bench,
    token: String,
    home: Option<Planted>,
    bystander: Child,
}

/// A file of the host, gone with the test.
struct Planted(PathBuf);

impl Drop for Planted {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = self.bystander.kill();
        let _ = self.bystander.wait();
    }
}

impl World {
    fn new() -> Self {
        let bench = Bench::new();
        let name = bench.path("");
        let name = name.file_name().unwrap().to_string_lossy();
        let token = format!("canary{}", name.trim_start_matches(".tmp"));
        let home = std::env::var_os("HOME").and_then(|home| {
            let file = Path::new(&home).join(format!("isolation-{token}"));
            fs::write(&file, &token).ok().map(|()| Planted(file))
        });
        bench.write("secret.txt", &token);
        let bystander = Command::new("/usr/bin/python3")
            .args(["-c", "import time; time.sleep(600)", &token])
            .env("BYSTANDER", &token)
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        Self {
            bench,
            token,
            home,
            bystander,
        }
    }

    /// The token as a pattern that does not match itself.
    fn pattern(&self) -> String {
        self.token.replacen('c', "[c]", 1)
    }

    /// What came of the commands in both places.
    fn probe(&self, commands: &[String]) -> [Vec<String>; 2] {
        [self.in_task(commands), self.in_agent(commands)]
    }

    fn in_task(&self, commands: &[String]) -> Vec<String> {
        let mut actions: Vec<Value> = commands
            .iter()
            .map(|command| json!({ "action": "run", "command": format!("({command}\n) 2>&1") }))
            .collect();
        actions.push(json!({ "action": "finish", "result": self.token }));
        self.play("task", "oracle", &actions);
        self.events("task", |body| match body {
            EventBody::Observation(seen) => seen
                .exit_status
                .map(|status| format!("{}status {status}\n", seen.text)),
            _ => None,
        })
    }

    fn in_agent(&self, commands: &[String]) -> Vec<String> {
        self.bench.write("agents/prober.py", PROBER);
        let probes = serde_json::to_string(commands).unwrap();
        self.bench.write("agents/probes.json", &probes);
        let end = json!({ "action": "finish", "result": self.token });
        self.play("agent", "cmd:/usr/bin/python3 agents/prober.py", &[end]);
        let mut said = self.thoughts();
        said.remove(0);
        said
    }

    fn thoughts(&self) -> Vec<String> {
        self.events("agent", |body| match body {
            EventBody::Action(Action::Think { thought }) => Some(thought.clone()),
            _ => None,
        })
    }

    /// A run of the probed task beside another one that keeps the token in its own files.
    fn play(&self, out: &str, agent: &str, actions: &[Value]) {
        let token = &self.token;
        let probed = json!({
            "name": format!("Name {token}"),
            "task": "Look around.",
            "limits": { "steps": 100, "command": 60, "quiet": 60, "step": 60 },
            "checks": [{ "type": "returned_result", "equals": token }],
            "solution": actions,
        });
        let keep =
            format!("for to in /work /tmp ~ /dev/shm; do echo {token} > $to/own; done; sleep 0.5");
        let other = json!({
            "task": "Keep a secret.",
            "checks": [{ "type": "file", "path": "own", "contains": token }],
            "solution": [{ "action": "run", "command": keep }],
        });
        let suite = format!("suite_{out}/category_{token}");
        for (id, task) in [
            (format!("id_{token}"), &probed),
            ("other".to_owned(), &other),
        ] {
            self.bench
                .write(&format!("{suite}/{id}/task.yaml"), &task.to_string());
            self.bench
                .write(&format!("{suite}/{id}/verify/secret"), token);
        }
        let suite = format!("suite_{out}");
        let args = [
            "run",
            &suite,
            "--out",
            out,
            "--agent",
            agent,
            "--workers",
            "2",
            "--json",
        ];
        let mut command = self.bench.agon(&args);
        command.env("SECRET_KEY", format!("key_{token}"));
        Called(command.output().unwrap()).expect(0);
    }

    /// What the events of the probed trial say.
    fn events(&self, out: &str, pick: impl Fn(&EventBody) -> Option<String>) -> Vec<String> {
        let reader = agon::store::RunReader::open(&self.bench.path(out)).unwrap();
        let trials = reader.trials().unwrap();
        let probed = trials
            .iter()
            .find(|line| line.task.to_string().contains("id_"))
            .unwrap();
        let events = reader.events(probed).unwrap();
        events
            .iter()
            .filter_map(|event| pick(&event.body))
            .collect()
    }
}

/// What an agent tries to do, in this order.
#[derive(Default)]
struct Tries<'a> {
    /// The same with what is its own, which must work: the tools are there, and can be used.
    allowed: &'a [&'a str],
    refused: &'a [&'a str],
    /// Refused by programs whose own status is the one that else tells of a missing tool.
    refused_with: &'a [(&'a str, i32)],
}

impl Tries<'_> {
    /// Asserts what comes of them in both places.
    #[track_caller]
    fn check(&self) {
        let refused = self.refused.iter().map(|command| (*command, None));
        let named = self.refused_with.iter();
        let refused: Vec<_> = refused
            .chain(named.map(|(command, status)| (*command, Some(*status))))
            .collect();
        let allowed = self.allowed.iter().copied();
        let commands: Vec<String> = allowed
            .chain(refused.iter().map(|(command, _)| *command))
            .map(watched)
            .collect();
        for said in World::new().probe(&commands) {
            assert_eq!(said.len(), commands.len(), "{said:?}");
            let (allowed, rest) = said.split_at(self.allowed.len());
            for (command, said) in self.allowed.iter().zip(allowed) {
                assert_eq!(ended(said).0, Some(0), "`{command}`: {said}");
            }
            for ((command, own), said) in refused.iter().zip(rest) {
                let (status, text) = ended(said);
                assert_eq!(refusal(command, status, text, *own), Ok(()));
            }
        }
    }
}

/// The status and the words of a probe. Who was killed has no status.
fn ended(said: &str) -> (Option<i32>, &str) {
    let (text, status) = said.rsplit_once("status ").unwrap();
    let status = status.trim_end().parse().ok();
    (status.filter(|status| *status >= 0), text)
}

/// Asserts that a probe which only looks finds something where we are ourselves.
#[track_caller]
fn finds_here(command: &str) {
    let found = Command::new("bash").args(["-c", command]).output().unwrap();
    assert!(found.status.success(), "`{command}`: {found:?}");
}

/// Asserts what a Python program prints in both places.
#[track_caller]
fn prints(world: &World, program: &str, wanted: &str) {
    let command = format!("python3 - <<'END'\n{program}\nEND");
    for said in world.probe(&[command]) {
        assert_eq!(said, [format!("{wanted}\nstatus 0\n")]);
    }
}

#[test]
fn nothing_of_the_host_or_of_other_trials_is_found_inside() {
    let world = World::new();
    let pattern = world.pattern();
    let bench = world.bench.path("").display().to_string();
    let home = std::env::var("HOME").unwrap_or_else(|_| "/root".to_owned());
    // Outside of the sandbox all of it exists.
    let mut nothing = vec![
        format!("ls {bench}"),
        format!("cat {bench}/secret.txt"),
        format!(
            "cat /proc/*/environ /proc/*/cmdline 2>/dev/null | tr '\\0' '\\n' | grep '{pattern}'"
        ),
    ];
    if world.home.is_some() {
        nothing.push(format!("ls -A {home} | grep ."));
    }
    nothing.iter().for_each(|command| finds_here(command));
    nothing.extend([
        // Homes, suite, checks, solutions, run folders and other trials, by content and by name.
        format!("grep -rsl --devices=skip --exclude-dir={{proc,usr}} '{pattern}' / | grep ."),
        format!("find / -path /proc -prune -o -name '*{pattern}*' -print 2>/dev/null | grep ."),
        "find / -path /proc -prune -o \\( -name trials.jsonl -o -name verify -o -name solution \\) \
         -print 2>/dev/null | grep -v ^/usr"
            .to_owned(),
        format!("ls {bench}/suite_task"),
        format!("ls {bench}/suite_agent"),
        format!("ls {bench}/task"),
        format!("ls {bench}/agent"),
        "ls -A /root /srv /mnt /media /opt /var/lib /sys 2>/dev/null | grep -v :$ | grep .".to_owned(),
        "ls -A /home | grep -v ^agent$".to_owned(),
        "cat /etc/shadow /etc/ssh/* /etc/machine-id 2>/dev/null | grep .".to_owned(),
        // What the kernel tells about mounts.
        format!("cat /proc/*/mountinfo /proc/*/mounts 2>/dev/null | grep -F {bench}"),
        // Environments and command lines.
        format!("env | grep '{pattern}'"),
        "env | grep SECRET".to_owned(),
    ]);
    // It would be found if it were there.
    let (first, rest) = world.token.split_at(1);
    let mut probes: Vec<String> = nothing.iter().map(|command| watched(command)).collect();
    probes.push(format!(
        "printf %s%s {first} {rest} > /tmp/own; grep -rsl '{pattern}' /tmp"
    ));
    for mut said in world.probe(&probes) {
        assert_eq!(said.pop().as_deref(), Some("/tmp/own\nstatus 0\n"));
        assert_eq!(said.len(), nothing.len());
        for (command, said) in nothing.iter().zip(said) {
            let (status, text) = ended(&said);
            assert_eq!(refusal(command, status, text, None), Ok(()));
            assert!(!text.contains(&world.token), "{said}");
        }
    }
}

#[test]
fn the_hosts_processes_are_not_there() {
    let world = World::new();
    let (test, bystander) = (std::process::id(), world.bystander.id());
    let program = format!(
        r#"
import glob, os
names = {{open(name).read().strip() for name in glob.glob("/proc/[0-9]*/comm")}}
print(sorted(names - {{"bash", "python3", "init", "sandbox-init"}}))
for pid in [{test}, {bystander}]:
    try: os.kill(pid, 0); print("can be reached", open(f"/proc/{{pid}}/comm").read())
    except ProcessLookupError: pass
print(len(glob.glob("/proc/[0-9]*")) < 10)
"#
    );
    prints(&world, &program, "[]\nTrue");
    assert!(Path::new(&format!("/proc/{bystander}")).exists());
}

#[test]
fn no_network_and_no_service_of_the_host_is_reached() {
    let world = World::new();
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let everywhere = TcpListener::bind("0.0.0.0:0").unwrap();
    let name = SocketAddr::from_abstract_name(&world.token).unwrap();
    let hidden = UnixListener::bind_addr(&name).unwrap();
    let path = world.bench.path("socket");
    let shown = UnixListener::bind(&path).unwrap();
    let program = format!(
        r#"
import socket, urllib.request
def reached(family, address):
    with socket.socket(family) as it:
        it.settimeout(2)
        try: it.connect(address)
        except OSError: return False
        return True
inet, unix = socket.AF_INET, socket.AF_UNIX
own = socket.create_server(("127.0.0.1", 0))
print(reached(inet, own.getsockname()))
print([
    reached(inet, ("127.0.0.1", {port})),
    reached(inet, ("127.0.0.1", {other})),
    reached(inet, ("1.1.1.1", 53)),
    reached(inet, ("169.254.169.254", 80)),
    reached(unix, "\0{token}"),
    reached(unix, "{path}"),
])
print([name for _, name in socket.if_nameindex()])
print(open("/proc/net/route").read().count("\n"))
try: print(socket.getaddrinfo("example.org", 80))
except OSError: print("no names")
"#,
        port = tcp.local_addr().unwrap().port(),
        other = everywhere.local_addr().unwrap().port(),
        token = world.token,
        path = path.display(),
    );
    let none = "True\n[False, False, False, False, False, False]\n['lo']\n1\nno names";
    prints(&world, &program, none);
    for listener in [tcp, everywhere] {
        listener.set_nonblocking(true).unwrap();
        assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    }
    for listener in [hidden, shown] {
        listener.set_nonblocking(true).unwrap();
        assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
    }
}

#[test]
fn only_its_own_places_can_be_written() {
    // One place each: whether a single one is refused does not show in the status of many.
    Tries {
        allowed: &[
            "touch /work/own /tmp/own ~/own /dev/shm/own",
            "echo x >> /tmp/own",
            "mv /tmp/own /tmp/other",
            "chmod 777 /tmp/other",
            "mkdir /tmp/folder",
            "hostname",
            "date",
        ],
        refused: &[
            "touch /x",
            "touch /usr/x",
            "touch /usr/bin/x",
            "touch /usr/local/bin/x",
            "touch /bin/x",
            "touch /etc/x",
            "echo 'root::0:0::/:/bin/sh' >> /etc/passwd",
            "mv /etc/passwd /etc/x",
            "touch /.agon/x",
            "echo x >> /.agon/init",
            "chmod 777 /usr",
            "chmod 777 /etc",
            "chmod 777 /",
            "touch /dev/x",
            "touch /agent/x",
            "echo x >> /agent/prober.py",
            "mkdir /home/x",
            "mkdir /var/x",
            "echo x > /proc/sys/kernel/hostname",
            "echo x > /proc/sys/kernel/core_pattern",
            "echo b > /proc/sysrq-trigger",
            "echo 0 > /proc/sys/vm/panic_on_oom",
            "hostname x",
            "date -s 2000-01-01",
        ],
        ..Tries::default()
    }
    .check();
}

#[test]
fn no_rights_can_be_gained() {
    Tries {
        allowed: &[
            "mkdir /tmp/m /tmp/p",
            "mknod /tmp/pipe p",
            "chown 1000:1000 /work",
            "cp /bin/true /tmp/t && chmod u+s /tmp/t && [ $(stat -c %u /tmp/t) = 1000 ]",
            "setpriv --no-new-privs true",
            "unshare true",
            "head -c 1 /dev/zero",
            "dd if=/dev/zero of=/dev/null bs=8k count=1",
        ],
        refused: &[
            "mount -t tmpfs none /tmp/m",
            "mount -t proc none /tmp/p",
            "mount --bind / /tmp",
            "mount -o remount,rw /",
            "mount -o remount,rw,bind /usr",
            "mount -o remount,rw,bind /etc",
            "mount -o remount,size=100G /tmp",
            "umount /tmp",
            "umount -l /usr",
            "mknod /tmp/disk b 8 0",
            "mknod /tmp/memory c 1 1",
            "unshare -U true",
            "unshare -r true",
            "unshare -m true",
            "unshare -n true",
            "unshare -p -f true",
            "nsenter -t 1 -a true",
            "chroot / true",
            "chown 0:0 /work",
            "[ $(stat -c %u /tmp/t) = 0 ]",
            "su -c true",
            "head -c 1 /dev/mem",
            // It gives whole lines or nothing.
            "dd if=/dev/kmsg of=/dev/null bs=8k count=1",
            "head -c 1 /dev/sda",
            "head -c 1 /dev/vda",
        ],
        refused_with: &[
            ("setpriv --reuid 0 true", 127),
            ("setpriv --clear-groups true", 127),
        ],
    }
    .check();
    // A user or group that does not exist here is invalid.
    let gain = "\
import errno, os
for gain in [lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setgroups([0])]:
    try: print(gain())
    except OSError as error: print(error.errno in (errno.EPERM, errno.EINVAL))";
    prints(&World::new(), gain, "True\nTrue\nTrue");
    let world = World::new();
    let status =
        "grep -E '^(Uid|Gid|CapInh|CapPrm|CapEff|CapBnd|CapAmb|NoNewPrivs):' /proc/self/status";
    let none = "0000000000000000";
    let wanted = format!(
        "Uid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\nCapInh:\t{none}\n\
         CapPrm:\t{none}\nCapEff:\t{none}\nCapBnd:\t{none}\nCapAmb:\t{none}\nNoNewPrivs:\t1\n\
         status 0\n"
    );
    for said in world.probe(&[status.to_owned()]) {
        assert_eq!(said, std::slice::from_ref(&wanted));
    }
}

#[test]
fn process_1_can_be_neither_looked_into_nor_ended() {
    Tries {
        allowed: &[
            "cat /proc/self/environ",
            "cat /proc/self/maps",
            "ls /proc/self/fd/",
            "ls /proc/self/cwd/",
            "ls /proc/self/root/",
            "strace -V",
        ],
        refused: &[
            "cat /proc/1/environ",
            "cat /proc/1/maps",
            "head -c 1 /proc/1/mem",
            "ls /proc/1/fd/",
            "ls /proc/1/cwd/",
            "ls /proc/1/root/",
            // A program that gets in stays until the time is over.
            "timeout 5 strace -p 1 -o /dev/null; [ $? = 124 ]",
        ],
        ..Tries::default()
    }
    .check();
    let trace = "\
import ctypes
libc = ctypes.CDLL(None)
process = libc.syscall(434, 1, 0)
print(process >= 0, libc.ptrace(16, 1, 0, 0), libc.ptrace(0x4206, 1, 0, 0), libc.syscall(438, process, 0, 0))";
    prints(&World::new(), trace, "True -1 -1 -1");
    let world = World::new();
    let kill = "for signal in {1..64}; do kill -$signal 1; done 2>/dev/null; sleep 0.2; echo alive";
    for said in world.probe(&[kill.to_owned()]) {
        assert_eq!(said, ["alive\nstatus 0\n"]);
    }
}

#[test]
fn limits_cannot_be_raised() {
    Tries {
        allowed: &[
            "ulimit -c 0",
            "ulimit -n 64",
            "ulimit -f 100",
            "[ $(nice -n 5 nice) -gt $(nice) ]",
            "echo 500 > /proc/self/oom_score_adj",
            "renice -n 5 $BASHPID",
            "chrt -o 0 true",
        ],
        refused: &[
            "ulimit -Hc unlimited",
            "ulimit -Hn 1000000",
            "ulimit -Hf unlimited",
            // Where it is refused, `nice` says so and runs the program all the same.
            "[ $(nice -n -5 nice) -lt $(nice) ]",
            "ls /sys/fs/cgroup",
            "echo max > /sys/fs/cgroup/memory.max",
            "echo -1000 > /proc/self/oom_score_adj",
            "renice -n -5 $BASHPID",
            "chrt -f 10 true",
        ],
        ..Tries::default()
    }
    .check();
}

#[test]
fn the_brief_tells_nothing_but_the_task() {
    let world = World::new();
    world.in_agent(&[]);
    let start: Value = serde_json::from_str(&world.thoughts()[0]).unwrap();
    let keys: Vec<&str> = start["task"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(
        keys,
        [
            "actions",
            "environment",
            "instruction",
            "max_seconds",
            "max_steps",
            "seed",
            "trial"
        ]
    );
    assert_eq!(start["task"]["instruction"], "Look around.");
    // Name, id, category, checks, solution and paths all hold the token.
    assert!(!start.to_string().contains(&world.token), "{start}");
}

#[test]
fn keys_of_the_environment_are_never_recorded() {
    let world = World::new();
    world.in_task(&["env; cat /proc/*/environ".to_owned()]);
    world.in_agent(&["env; cat /proc/*/environ".to_owned()]);
    for folder in [world.bench.path("task"), world.bench.path("agent")] {
        let with = |text: &str| Secret::new(text).files_with(&folder);
        let key = format!("key_{}", world.token);
        assert_eq!(with(&key), Vec::<PathBuf>::new());
        // What is there is found: the task's id ends with the token too.
        assert_ne!(with(&format!("id_{}", world.token)), Vec::<PathBuf>::new());
    }
}
