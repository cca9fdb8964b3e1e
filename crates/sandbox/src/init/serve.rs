//! The init's own loop: one request after the other, until the host hangs up.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use rustix::fs::Mode;
use rustix::net::{RecvFlags, SendFlags};
use rustix::process::{
    DumpableBehavior, Resource, Rlimit, Signal, getpid, getrlimit, kill_process,
    set_dumpable_behavior, setrlimit,
};

use super::ARGUMENT;
use super::files;
use super::network;
use super::pack::{Room, pack, pack_nothing};
use super::programs::Programs;
use super::unpack::unpack;
use super::wire::{self, Ask, Packet, Reply, Request, Rlimits, Say, Start};
use crate::contract::WORK;

/// The id under which the init says hello.
const UNASKED: u64 = 0;

/// The most entries of a frozen working folder: far more than people make, and what takes no more
/// than a few seconds to pack, to look through and to unpack again.
const MOST_ENTRIES: u64 = 100_000;

const OPEN_FILES: u64 = 1024;

/// A program that uses local sandboxes is also the first process inside of each, and the one that starts those
/// with an open network: it must call this before anything else, and end with what it gets.
pub fn take_over() -> Option<ExitCode> {
    let asked = std::env::args_os().nth(1)?;
    if asked == ARGUMENT {
        Some(main())
    } else if asked == network::ARGUMENT {
        Some(network::main())
    } else {
        None
    }
}

/// Runs as process 1 of a sandbox with the host's socket as standard input.
pub fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // The host keeps our standard error and shows it when we are gone.
            let _ = writeln!(io::stderr(), "the sandbox's init failed: {error}");
            ExitCode::FAILURE
        }
    }
}

/// The first thread only reaps; a second one serves, and a third one watches over starts. Starting a program blocks signals in the
/// thread that does it, and a signal that the *first* thread of a process blocks can end it through
/// another thread, even if it is process 1: an agent could time that.
fn run() -> io::Result<()> {
    give_up_handlers()?;
    // Same user as the agent: without this it could look into us and take our descriptors.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    let socket = Arc::new(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?);
    rustix::stdio::dup2_stdin(File::open("/dev/null")?)?;
    rustix::process::umask(Mode::from_raw_mode(0o022));

    let programs = Arc::new(Programs::new());
    let mut init = Init {
        socket: Arc::clone(&socket),
        programs: Arc::clone(&programs),
        env: BTreeMap::new(),
    };
    let watched = Arc::clone(&programs);
    thread::Builder::new()
        .name("births".to_owned())
        .spawn(move || watched.watch_births())?;
    let server = thread::Builder::new()
        .name("server".to_owned())
        .spawn(move || {
            let served = init.serve();
            init.programs.close();
            served
        })?;
    while let Some(ended) = programs.reap() {
        for (id, ended) in ended {
            // A host that is gone takes us along: nothing to do about an error here.
            let _ = say(&socket, id, Say::Exited(ended));
        }
    }
    server
        .join()
        .unwrap_or_else(|_| Err(io::Error::other("the server panicked")))
}

/// Process 1 ignores what it has no handler for, and Rust gives it handlers of these two, on a stack
/// that is too small for both at once with a third on top: an agent that sends them together would
/// end us. They remove themselves at the first signal that is no fault of ours.
fn give_up_handlers() -> io::Result<()> {
    for signal in [Signal::BUS, Signal::SEGV] {
        kill_process(getpid(), signal)?;
    }
    Ok(())
}

struct Init {
    socket: Arc<OwnedFd>,
    programs: Arc<Programs>,
    /// What every program finds in its environment.
    env: BTreeMap<String, String>,
}

impl Init {
    fn serve(&mut self) -> io::Result<()> {
        say(&self.socket, UNASKED, Say::Hello)?;
        let socket = Arc::clone(&self.socket);
        let mut buffer = vec![0; wire::MOST];
        loop {
            match wire::receive(&socket, &mut buffer, RecvFlags::empty()) {
                Ok(Some(packet)) => self.answer(packet)?,
                Ok(None) => return Ok(()),
                // Its sender waits no longer than its deadline.
                Err(error) if error.kind() == io::ErrorKind::InvalidData => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn answer(&mut self, packet: Packet<Request>) -> io::Result<()> {
        let Request { id, ask } = packet.body;
        let mut descriptors = packet.descriptors;
        let said = match ask {
            Ask::Go { limits, env, apart } => {
                self.env = env;
                if apart {
                    self.programs.keep_apart();
                }
                return apply(&limits);
            }
            Ask::Kill { program } => {
                self.programs.kill(program);
                return Ok(());
            }
            Ask::Spawn(start) => {
                let started = || say(&self.socket, id, Say::Started);
                let spawned = self
                    .programs
                    .spawn(id, &start, &self.env, descriptors, started);
                match spawned {
                    Ok(()) => return Ok(()),
                    Err(error) => not_started(&start, &error),
                }
            }
            Ask::SpawnApart(start) => {
                let said = match self.programs.keeps_apart() {
                    true => Say::StartedApart,
                    false => Say::Started,
                };
                let started = || say(&self.socket, id, said);
                let spawned =
                    self.programs
                        .spawn_apart(id, &start, &self.env, descriptors, started);
                match spawned {
                    Ok(()) => return Ok(()),
                    Err(error) => not_started(&start, &error),
                }
            }
            Ask::Terminal(start) => {
                let started = |terminal: OwnedFd| self.hand_over(id, Say::Started, &terminal);
                match self.programs.terminal(id, &start, &self.env, started) {
                    Ok(()) => return Ok(()),
                    Err(error) => not_started(&start, &error),
                }
            }
            Ask::KillCommand { shell, since } => {
                Say::Killed(self.programs.kill_command(shell, since))
            }
            Ask::Listen { port } => match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
                Ok(listener) => return self.hand_over(id, Say::Done, &listener.into()),
                Err(error) => Say::failed(&format!("cannot listen on port {port}: {error}")),
            },
            Ask::Pause => done("cannot pause the sandbox", self.programs.pause()),
            Ask::Resume => {
                self.programs.resume();
                Say::Done
            }
            Ask::Read { path, limit } => {
                let read = only(&mut descriptors).and_then(|into| files::read(&path, limit, into));
                match read {
                    Err(error) if names_nothing(&error) => {
                        Say::no_file(&format!("cannot read `{path}`: {error}"))
                    }
                    read => done(&format!("cannot read `{path}`"), read),
                }
            }
            Ask::Write { path } => done(
                &format!("cannot write `{path}`"),
                only(&mut descriptors).and_then(|content| files::write(&path, content)),
            ),
            Ask::Unpack { into } => done(
                &format!("cannot put files into `{into}`"),
                only(&mut descriptors).and_then(|archive| unpack(archive, &files::resolve(&into))),
            ),
            Ask::Freeze { .. } if !self.programs.end_all() => Say::Stuck,
            Ask::Freeze { budget } => {
                let packed = only(&mut descriptors).and_then(|into| match budget {
                    Some(bytes) => {
                        let entries = MOST_ENTRIES;
                        pack(WORK.as_ref(), into, Room { bytes, entries })
                    }
                    None => pack_nothing(into),
                });
                match packed {
                    Ok(left_out) => Say::Packed { left_out },
                    Err(error) => Say::failed(&format!("cannot pack the working folder: {error}")),
                }
            }
        };
        say(&self.socket, id, said)
    }

    fn hand_over(&self, id: u64, say: Say, what: &OwnedFd) -> io::Result<()> {
        let bytes = wire::encode(&Reply { id, say })?;
        let none = SendFlags::empty();
        wire::send(&self.socket, &bytes, &[what.as_fd()], none)
    }
}

fn say(socket: &OwnedFd, id: u64, say: Say) -> io::Result<()> {
    let bytes = wire::encode(&Reply { id, say })?;
    wire::send(socket, &bytes, &[], SendFlags::empty())
}

fn only(descriptors: &mut Vec<OwnedFd>) -> io::Result<OwnedFd> {
    let missing = || io::Error::other("a descriptor is missing");
    descriptors.pop().ok_or_else(missing)
}

fn done(what: &str, result: io::Result<()>) -> Say {
    match result {
        Ok(()) => Say::Done,
        Err(error) => Say::failed(&format!("{what}: {error}")),
    }
}

/// Whether there is no file of a name; one that leads through another file names none.
fn names_nothing(error: &io::Error) -> bool {
    use io::ErrorKind::{NotADirectory, NotFound};
    matches!(error.kind(), NotFound | NotADirectory)
}

fn not_started(start: &Start, error: &io::Error) -> Say {
    let program = start.argv.first().map_or("", String::as_str);
    Say::failed(&format!(
        "cannot start `{program}` in `{}`: {error}",
        start.cwd
    ))
}

fn apply(limits: &Rlimits) -> io::Result<()> {
    let set = |resource, most: u64| {
        // A limit that we were started under may be lower already, and cannot be raised.
        let inherited = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let most = Some(most.min(inherited));
        let limit = Rlimit {
            current: most,
            maximum: most,
        };
        setrlimit(resource, limit)
    };
    set(Resource::Core, 0)?;
    set(Resource::Nofile, OPEN_FILES)?;
    set(Resource::Fsize, limits.file_size)?;
    if let Some(processes) = limits.processes {
        set(Resource::Nproc, processes)?;
    }
    if let Some(bytes) = limits.memory {
        // Not the address space, of which some runtimes reserve far more than they use.
        set(Resource::Data, bytes)?;
    }
    Ok(())
}
