//! The open network of a sandbox: one of its own, whose packets a program of the system (slirp4netns) takes to the
//! world as ordinary calls of its own. No address of this machine answers there: neither its loopback nor any
//! other. Knows nothing of what is started in it.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use command_fds::{CommandFdExt, FdMapping};
use rustix::fs::{Access, access};
use rustix::net::{RecvFlags, SendFlags};
use rustix::process::{Pid, PidfdFlags, geteuid, pidfd_open};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncReadExt, sink};
use tokio::net::unix::pipe::Receiver;
use tokio::task::{JoinHandle, spawn_blocking};

use super::bubblewrap::PATH;
use super::readiness::register;
use super::run::pipe;
use super::worker::spawn_lasting;
use crate::error::SandboxError;
use crate::init::processes::ends;
use crate::init::routes::{Range, Routes};
use crate::init::wire::{self, LARGEST_ANSWER};

const PROGRAM: &str = "slirp4netns";
const TUN: &str = "/dev/net/tun";

/// The machine's addresses as the kernel's tables of routes name them.
const ADDRESSES: &str = "/proc/net/fib_trie";

/// How often they are looked at while a sandbox lives.
const LOOK: Duration = Duration::from_secs(1);

/// Where the program finds its two descriptors.
const READY: i32 = 3;
const EXIT: i32 = 4;

/// Never beyond the machine: "this network", loopback, the link (where clouds hand out the machine's own
/// credentials), groups, and what is reserved, with the broadcast.
const NEVER: [Range; 5] = [
    Range::new(Ipv4Addr::new(0, 0, 0, 0), 8),
    Range::new(Ipv4Addr::new(127, 0, 0, 0), 8),
    Range::new(Ipv4Addr::new(169, 254, 0, 0), 16),
    Range::new(Ipv4Addr::new(224, 0, 0, 0), 4),
    Range::new(Ipv4Addr::new(240, 0, 0, 0), 4),
];

/// For the network inside; the first that means nothing to the machine is taken.
const INSIDE: [Range; 4] = [
    Range::new(Ipv4Addr::new(10, 0, 2, 0), 24),
    Range::new(Ipv4Addr::new(10, 169, 219, 0), 24),
    Range::new(Ipv4Addr::new(172, 29, 241, 0), 24),
    Range::new(Ipv4Addr::new(192, 168, 233, 0), 24),
];

/// What open networks are made with on this machine, or what is missing.
pub fn open_networks() -> Result<String, SandboxError> {
    let uplink = Uplink::find()?;
    let Range { first, bits } = uplink.inside;
    Ok(format!("{PROGRAM}, {first}/{bits} inside"))
}

/// What open networks are made with on this machine.
#[derive(Debug)]
pub(crate) struct Uplink {
    program: PathBuf,
    /// Starts programs of root with a copy of the machine's mounts. slirp4netns makes one itself, but leaves mounts
    /// shared with the machine and then removes all of them: without this, it would unmount the containers of every
    /// Docker Engine here.
    unshare: Option<PathBuf>,
    /// Only root may open the device: then that is who the program starts as, to give up all rights but that to low
    /// ports.
    as_root: bool,
    inside: Range,
}

impl Uplink {
    pub(crate) fn find() -> Result<Self, SandboxError> {
        let program = find(PROGRAM, PROGRAM)?;
        let unshare = match geteuid().is_root() {
            true => Some(find("unshare", "util-linux")?),
            false => None,
        };
        let about = fs::metadata(TUN).map_err(|error| {
            missing(format_args!(
                "{TUN} is not there ({error}): run `modprobe tun`"
            ))
        })?;
        if access(TUN, Access::READ_OK | Access::WRITE_OK).is_err() {
            return Err(missing(format_args!(
                "{TUN} is closed to this user: run `chmod 666 {TUN}` as root, as most systems have it"
            )));
        }
        let addresses = read().map_err(SandboxError::io("cannot read this machine's addresses"))?;
        let taken = |range: &Range| addresses.taken.iter().any(|other| range.overlaps(*other));
        let inside = INSIDE.into_iter().find(|range| !taken(range));
        Ok(Self {
            program,
            unshare,
            as_root: geteuid().is_root() && about.mode() & 0o006 != 0o006,
            inside: inside
                .ok_or_else(|| missing(format_args!("no range of addresses is free for it")))?,
        })
    }

    /// The server that looks names up for programs inside.
    pub(crate) fn name_server(&self) -> Ipv4Addr {
        Ipv4Addr::from_bits(self.inside.first.to_bits() | 3)
    }

    /// What programs inside find as `/etc/resolv.conf`.
    pub(super) fn resolver(&self) -> String {
        format!("nameserver {}\n", self.name_server())
    }

    /// Opens the network that the process behind `control` stands in, and lets it start the sandbox whose init will
    /// have the `socket`. `None` if that process was never there.
    pub(super) async fn open(
        &self,
        control: OwnedFd,
        socket: OwnedFd,
        user: Option<u32>,
    ) -> io::Result<Option<OpenNetwork>> {
        let control = register(control)?;
        let Some(pid) = hello(&control).await? else {
            return Ok(None);
        };
        let mut network = self.attach(pid, user).await?;
        let closed = closed()?;
        let first: Vec<Range> = closed.iter().copied().collect();
        let packet = wire::encode(&first)?;
        let none = SendFlags::empty();
        wire::send(control.get_ref(), &packet, &[socket.as_fd()], none)?;
        network.watch = Some(tokio::spawn(watch(closed, move |new| {
            let packet = wire::encode(&new)?;
            wire::send(control.get_ref(), &packet, &[], SendFlags::DONTWAIT)
        })));
        Ok(Some(network))
    }

    /// Opens the network of a process, whose routes are ours to change.
    pub(crate) async fn open_by_routes(&self, pid: Pid, routes: Routes) -> io::Result<OpenNetwork> {
        let mut network = self.attach(pid, None).await?;
        let closed = closed()?;
        let close = move |ranges: &[Range]| ranges.iter().try_for_each(|it| routes.close(*it));
        close(&closed.iter().copied().collect::<Vec<_>>())?;
        network.watch = Some(tokio::spawn(watch(closed, close)));
        Ok(network)
    }

    /// Starts the program that leads packets out of the network of a process, and waits until they get there.
    async fn attach(&self, pid: Pid, user: Option<u32>) -> io::Result<OpenNetwork> {
        let (ready, their_ready) = pipe()?;
        let (their_exit, exit) = pipe()?;
        let (said, their_words) = pipe()?;
        let mut command = self.command(pid, user, their_ready, their_exit)?;
        command.stderr(their_words);
        let child = spawn_blocking(move || spawn_lasting(command)).await;
        let network = OpenNetwork {
            child: child.map_err(io::Error::other)??,
            exit: Some(exit),
            watch: None,
        };
        works(ready, said).await?;
        Ok(network)
    }

    fn command(
        &self,
        pid: Pid,
        user: Option<u32>,
        ready: OwnedFd,
        exit: OwnedFd,
    ) -> io::Result<Command> {
        let Range { first, bits } = self.inside;
        let user = user.filter(|_| !self.as_root);
        let mut command = match &self.unshare {
            Some(unshare) if user.is_none() => {
                let mut command = Command::new(unshare);
                command.args(["--mount", "--propagation", "slave", "--"]);
                command.arg(&self.program);
                command
            }
            _ => Command::new(&self.program),
        };
        command
            .args(["--configure", "--mtu=65520", "--disable-host-loopback"])
            .args(["--enable-sandbox", "--enable-seccomp"])
            .arg(format!("--cidr={first}/{bits}"))
            .arg(format!("--ready-fd={READY}"))
            .arg(format!("--exit-fd={EXIT}"))
            .arg(pid.as_raw_nonzero().to_string())
            .arg("open0")
            .env_clear()
            .env("PATH", PATH)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        if let Some(user) = user {
            command.uid(user).gid(user);
        }
        let mapping = |parent_fd, child_fd| FdMapping {
            parent_fd,
            child_fd,
        };
        command
            .fd_mappings(vec![mapping(ready, READY), mapping(exit, EXIT)])
            .map_err(io::Error::other)?;
        Ok(command)
    }
}

/// A program on the `PATH`.
fn find(program: &str, package: &str) -> Result<PathBuf, SandboxError> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| PATH.into());
    std::env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|program| program.is_file())
        .ok_or_else(|| {
            missing(format_args!(
                "{program} is not installed: run `apt-get install {package}`"
            ))
        })
}

fn missing(what: std::fmt::Arguments<'_>) -> SandboxError {
    SandboxError::Missing(format!("there is no open network here: {what}"))
}

async fn hello(control: &AsyncFd<OwnedFd>) -> io::Result<Option<Pid>> {
    let mut buffer = vec![0; LARGEST_ANSWER];
    loop {
        let mut readable = control.readable().await?;
        let received =
            readable.try_io(|it| wire::receive::<String>(it, &mut buffer, RecvFlags::DONTWAIT));
        if let Ok(received) = received {
            return Ok(received?.and_then(|packet| packet.sender));
        }
    }
}

/// Waits until the network works; the error is what the program said instead.
async fn works(ready: OwnedFd, said: OwnedFd) -> io::Result<()> {
    const LONGEST_WORDS: u64 = 2048;
    let mut said = Receiver::from_owned_fd(said)?;
    let mut byte = [0];
    if Receiver::from_owned_fd(ready)?.read(&mut byte).await? == byte.len() {
        // So that it never waits for somebody to hear it.
        tokio::spawn(async move { tokio::io::copy(&mut said, &mut sink()).await });
        return Ok(());
    }
    let mut words = Vec::new();
    said.take(LONGEST_WORDS).read_to_end(&mut words).await?;
    let words = String::from_utf8_lossy(&words);
    let last = words.trim().lines().last().unwrap_or("it says nothing");
    Err(io::Error::other(format!("{PROGRAM} failed: {last}")))
}

/// All that no network of a sandbox leads to.
fn closed() -> io::Result<BTreeSet<Range>> {
    let mut closed = read()?.closed;
    closed.extend(NEVER);
    Ok(closed)
}

/// Closes each address that the machine gets while the sandbox lives.
async fn watch(mut closed: BTreeSet<Range>, close: impl Fn(&[Range]) -> io::Result<()>) {
    loop {
        tokio::time::sleep(LOOK).await;
        let Ok(now) = read() else { continue };
        let new: Vec<Range> = now.closed.difference(&closed).copied().collect();
        if !new.is_empty() && close(&new).is_ok() {
            closed.extend(new);
        }
    }
}

/// A network that is open. Dropping it closes it, and waits for the end of the program behind it.
#[derive(Debug)]
pub(crate) struct OpenNetwork {
    child: Child,
    /// The program ends when this is closed, also when we are killed.
    exit: Option<OwnedFd>,
    /// Holds the socket of the process that stands in the network, which ends when that is closed.
    watch: Option<JoinHandle<()>>,
}

impl OpenNetwork {
    pub(super) fn program(&self) -> Pid {
        Pid::from_child(&self.child)
    }
}

impl Drop for OpenNetwork {
    fn drop(&mut self) {
        if let Some(watch) = self.watch.take() {
            watch.abort();
        }
        drop(self.exit.take());
        let ended = pidfd_open(self.program(), PidfdFlags::empty()).is_ok_and(|it| ends(&it));
        if !ended {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Addresses {
    /// The machine's own, and those by which it hears what is said to all.
    closed: BTreeSet<Range>,
    /// All that it has a route of its own to.
    taken: BTreeSet<Range>,
}

fn read() -> io::Result<Addresses> {
    Ok(parse(&fs::read_to_string(Path::new(ADDRESSES))?))
}

/// Each address stands above the routes that begin there: `|-- 192.0.2.2`, then `/32 host LOCAL`.
fn parse(text: &str) -> Addresses {
    let mut found = Addresses::default();
    let mut first = None;
    for line in text.lines() {
        let line = line.trim();
        if let Some(address) = line.strip_prefix("|-- ") {
            first = address.parse().ok();
            continue;
        }
        let mut words = line.split_ascii_whitespace();
        let bits = words.next().and_then(|word| word.strip_prefix('/'));
        let bits = bits.and_then(|bits| bits.parse::<u8>().ok());
        let (Some(first), Some(bits @ 1..=32)) = (first, bits) else {
            continue;
        };
        let range = Range::new(first, bits);
        found.taken.insert(range);
        if words.any(|word| matches!(word, "LOCAL" | "BROADCAST" | "ANYCAST")) {
            found.closed.insert(range);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_addresses_are_told_from_those_of_others() {
        let text = "Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 0.0.0.0\n        /0 universe UNICAST\n\
                    \x20    |-- 192.0.2.0\n        /24 link UNICAST\n     |-- 192.0.2.2\n        \
                    /32 host LOCAL\n     |-- 192.0.2.255\n        /32 link BROADCAST\nnonsense /99 LOCAL\n";
        let range = |last, bits| Range::new(Ipv4Addr::new(192, 0, 2, last), bits);
        let found = parse(text);
        assert_eq!(found.closed, [range(2, 32), range(255, 32)].into());
        assert_eq!(
            found.taken,
            [range(0, 24), range(2, 32), range(255, 32)].into()
        );
    }

    #[test]
    fn this_machine_has_addresses() {
        let loopback = Range::new(Ipv4Addr::LOCALHOST, 32);
        assert!(read().unwrap().closed.contains(&loopback));
    }
}
