//! How bubblewrap is called: what of the host is shown inside, what is private, what is given up.
//! An allow-list; nothing is shown because it was not forbidden.

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use agon_core::Environment;
use agon_core::environment::Network;

use super::scratch::{ETC_FOLDERS, ETC_OF_DISPLAYS, Scratch};
use super::seal::SEALED;
use crate::contract::{HOST, Request, WORK, WORKSPACE, X_SOCKETS};
use crate::error::SandboxError;
use crate::hidden::{Hidden, Seen};
use crate::init::network;
use crate::mounted::Mounted;

const FILTER: &str = "1";
const HOME: &str = "/home/agent";
const INIT: &str = "/.agon/init";
pub(super) const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Programs that the task brings come first.
fn search_path(environment: &Environment) -> String {
    match environment.programs.is_empty() {
        true => PATH.to_owned(),
        false => format!("{}:{PATH}", Environment::PROGRAMS),
    }
}

/// Private folders besides the working folder, which live in memory too.
const PRIVATE: [(&str, u64, &str); 4] = [
    ("/tmp", 128 << 20, "1777"),
    (HOME, 64 << 20, "0755"),
    ("/run", 8 << 20, "0755"),
    ("/dev/shm", 32 << 20, "1777"),
];

/// Folders of the root that are links into `/usr` on most systems, and folders on some.
const ROOTS: [&str; 6] = ["bin", "sbin", "lib", "lib32", "lib64", "libx32"];

const FONT_CACHE: &str = "/var/cache/fontconfig";

/// Whether a path of the host, without links in it, can be found inside.
pub(super) fn shows(path: &Path) -> bool {
    let root = Path::new("/");
    path.starts_with("/usr") || ROOTS.iter().any(|name| path.starts_with(root.join(name)))
}

/// Whom the init and its threads count as, beside the task's own processes.
const OWN_PROCESSES: u64 = 8;

pub(super) fn find() -> Result<PathBuf, SandboxError> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| PATH.into());
    std::env::split_paths(&path)
        .map(|folder| folder.join("bwrap"))
        .find(|program| program.is_file())
        .ok_or_else(|| {
            SandboxError::Missing(
                "bubblewrap is not installed: run `apt-get install bubblewrap` (or `cargo xtask \
                 demo`)"
                    .to_owned(),
            )
        })
}

/// Bytes that a sandbox may take: pages of its private folders count as memory.
pub(super) fn memory_limit(environment: &Environment) -> u64 {
    let private: u64 = PRIVATE.iter().map(|(_, size, _)| size).sum();
    environment
        .memory
        .0
        .saturating_add(environment.disk.0)
        .saturating_add(private)
}

pub(super) fn process_limit(environment: &Environment) -> u64 {
    u64::from(environment.processes) + OWN_PROCESSES
}

/// Everything but standard streams. Standard output is to be the filter of system calls: bubblewrap says nothing
/// there, and every program finds it without being told of another descriptor.
pub(super) fn command(
    program: &Path,
    scratch: &Scratch,
    hidden: &Hidden,
    init_args: &[String],
    user: Option<u32>,
    request: &Request,
    work: Option<&Mounted>,
) -> Command {
    let mut line = Line {
        words: Vec::new(),
        hidden,
    };
    line.add([
        "--unshare-user",
        "--unshare-pid",
        "--unshare-ipc",
        "--unshare-uts",
        "--unshare-cgroup-try",
        "--disable-userns",
        "--new-session",
        "--die-with-parent",
        "--as-pid-1",
    ]);
    line.add(["--cap-drop", "ALL", "--hostname", HOST]);
    line.add(["--seccomp", FILTER]);
    line.add(["--uid", "1000", "--gid", "1000"]);

    line.bind(Path::new("/usr"), "/usr");
    for name in ROOTS {
        line.root(name);
    }
    line.bind(&scratch.etc(), "/etc");
    for folder in ETC_FOLDERS {
        let path = format!("/etc/{folder}");
        line.add(["--ro-bind-try", &path, &path]);
    }
    line.add(["--symlink", "/tmp", "/var/tmp"]);
    line.add(["--proc", "/proc", "--dev", "/dev"]);
    for (folder, size, mode) in PRIVATE {
        line.tmpfs(folder, size, mode);
    }
    match work {
        None => line.tmpfs(WORK, request.environment.disk.0, "0755"),
        Some(work) => line.mount(work),
    }
    line.bind(&scratch.init(), INIT);
    line.bind(&scratch.sealed(), SEALED);
    for folder in &request.read_only {
        line.bind(&folder.host, &folder.inside);
    }
    if let Some(display) = &request.display {
        line.bind(&display.folder, X_SOCKETS);
        for folder in ETC_OF_DISPLAYS {
            let path = format!("/etc/{folder}");
            line.add(["--ro-bind-try", &path, &path]);
        }
        // Without it, each program would look at all fonts of the machine first.
        line.add(["--ro-bind-try", FONT_CACHE, FONT_CACHE]);
    }
    match request.environment.network {
        Network::None => line.add(["--unshare-net"]),
        // It is started in a network of its own.
        Network::Open => line.bind(&scratch.resolver(), "/etc/resolv.conf"),
    }
    // Both were made as writable folders in memory, without a limit.
    line.add(["--remount-ro", "/dev", "--remount-ro", "/"]);
    line.add(["--chdir", WORK, "--", INIT]);

    let mut command = match request.environment.network {
        Network::None => Command::new(program),
        Network::Open => in_a_network(program, scratch),
    };
    command
        .args(line.words)
        .args(init_args)
        .env_clear()
        .env("PATH", search_path(&request.environment))
        .env("HOME", HOME)
        .env("USER", "agent")
        .env("LANG", "C.UTF-8")
        .env("TERM", "dumb")
        .current_dir("/");
    match (user, work) {
        (Some(_), Some(owner)) => {
            command.uid(owner.user).gid(owner.group);
        }
        (Some(user), None) => {
            command.uid(user).gid(user);
        }
        (None, _) => {}
    }
    command
}

/// Makes a network, and in it the one process that may change it, which starts `program` with what follows.
fn in_a_network(program: &Path, scratch: &Scratch) -> Command {
    let mut command = Command::new(program);
    command
        .args(["--unshare-user", "--unshare-net", "--die-with-parent"])
        .args(["--cap-drop", "ALL", "--cap-add", "CAP_NET_ADMIN"])
        // The name that slirp4netns takes on when it comes here to give up its rights; and the right to
        // give it another one in the sandbox.
        .args(["--uid", "0", "--gid", "0", "--cap-add", "CAP_SETFCAP"])
        .args(["--dev-bind", "/", "/", "--"])
        .arg(scratch.init())
        .arg(network::ARGUMENT)
        .arg(program);
    command
}

struct Line<'a> {
    words: Vec<OsString>,
    hidden: &'a Hidden,
}

impl Line<'_> {
    fn add<const N: usize>(&mut self, parts: [&str; N]) {
        self.words.extend(parts.map(OsString::from));
    }

    /// Shows a file or folder of the host, without what is hidden below it.
    fn bind(&mut self, host: &Path, inside: &str) {
        self.words
            .extend(["--ro-bind".into(), host.into(), inside.into()]);
        for seen in self.hidden.within(host, Path::new(inside)) {
            self.cover(seen);
        }
    }

    /// Makes a folder of the host the working folder.
    fn mount(&mut self, work: &Mounted) {
        self.words
            .extend(["--bind".into(), work.folder.clone().into(), WORK.into()]);
        for seen in self.hidden.within_reach_of(work, Path::new(WORK)) {
            self.cover(seen);
        }
        self.add(["--symlink", WORK, WORKSPACE]);
        if work.is_roots() {
            self.add(["--remount-ro", "/proc"]);
        }
    }

    /// Lays something empty over a file or folder.
    fn cover(&mut self, Seen { inside, folder }: Seen) {
        if folder {
            let [tmpfs, read_only] = ["--tmpfs", "--remount-ro"].map(OsString::from);
            self.add(["--size", "4096", "--perms", "0555"]);
            self.words
                .extend([tmpfs, inside.clone().into(), read_only, inside.into()]);
        } else {
            self.add(["--ro-bind", "/dev/null"]);
            self.words.push(inside.into());
        }
    }

    fn tmpfs(&mut self, folder: &str, size: u64, mode: &str) {
        let size = size.to_string();
        self.add(["--size", &size, "--perms", mode, "--tmpfs", folder]);
    }

    /// Shows a folder of the root as the host has it: as a link or as itself.
    fn root(&mut self, name: &str) {
        let path = Path::new("/").join(name);
        if let Ok(target) = fs::read_link(&path) {
            self.words
                .extend(["--symlink".into(), target.into(), path.into()]);
        } else if path.is_dir() {
            self.bind(&path, &format!("/{name}"));
        }
    }
}

/// Why bubblewrap has ended before the init was there.
pub(super) fn explain(stderr: &str) -> SandboxError {
    let said = stderr.trim();
    let forbidden = ["namespace", "uid map"]
        .iter()
        .any(|word| said.contains(word));
    if forbidden {
        SandboxError::Missing(format!(
            "user namespaces are not allowed here: run `sysctl -w \
             kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000` (on Ubuntu also \
             `kernel.apparmor_restrict_unprivileged_userns=0`); bubblewrap says: {said}"
        ))
    } else if said.is_empty() {
        SandboxError::Start("bubblewrap ended without a word".to_owned())
    } else {
        SandboxError::Start(said.to_owned())
    }
}
