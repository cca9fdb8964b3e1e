//! The child's side: reads what to play, plays it, says what came of it. Ends when its server does.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use agon_agent::play::{Cause, Player, Stop};
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};

use super::lines::Lines;
use super::message::{FromChild, Report, Start, ToChild};
use super::outlet::Outlet;
use crate::agent_server::{Agents, End, Outcome};
use crate::error::ArenaError;

/// In the environment of a child: the process that started it.
pub(super) const MARK: &str = "AGON_ARENA_CHILD";

/// When the server is gone, keys are released for this long before the process ends.
const LAST_KEYS: Duration = Duration::from_millis(500);

/// As good as for ever: the end of a play sets its stop.
const LONG: Duration = Duration::from_secs(3600);

/// Whether this process was started to play for a server; then `main` calls [`serve`].
pub fn is_child() -> bool {
    let parent = std::env::var(MARK).ok().and_then(|pid| pid.parse().ok());
    // What a child starts inherits the mark, but has another parent.
    parent.is_some() && parent == getppid().map(Pid::as_raw_pid)
}

/// Plays for the server that started this process, until it is gone. Standard input and output belong
/// to the server; what the agent prints goes to standard error.
pub fn serve(make: impl Fn() -> Box<dyn Player> + Send + Sync + 'static) -> Result<(), ArenaError> {
    set_parent_process_death_signal(Some(Signal::KILL))
        .map_err(|error| ArenaError::Runtime(error.into()))?;
    let (input, outlet) = take_pipes().map_err(ArenaError::Runtime)?;
    let child = Arc::new(Served {
        agents: Agents::made_by(make),
        outlet,
    });
    let played = child.listen(input);
    played.map_err(ArenaError::Runtime)
}

/// Nobody else reads or writes the lines of the server.
fn take_pipes() -> io::Result<(File, Outlet)> {
    let input = rustix::io::dup(rustix::stdio::stdin())?;
    let output = rustix::io::dup(rustix::stdio::stdout())?;
    rustix::io::fcntl_setfd(&input, rustix::io::FdFlags::CLOEXEC)?;
    rustix::io::fcntl_setfd(&output, rustix::io::FdFlags::CLOEXEC)?;
    let nothing = OwnedFd::from(File::open("/dev/null")?);
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(rustix::stdio::stderr())?;
    Ok((File::from(input), Outlet::new(output)?))
}

struct Served {
    agents: Agents,
    outlet: Outlet,
}

/// The play that is under way.
struct Live {
    task_id: String,
    stop: Stop,
    over: Receiver<()>,
}

impl Served {
    fn listen(self: &Arc<Self>, mut input: File) -> io::Result<()> {
        let mut lines = Lines::default();
        let mut live: Option<Live> = None;
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = match input.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            if read == 0 {
                break;
            }
            for line in lines.feed(&buffer[..read]) {
                match serde_json::from_slice(&line) {
                    Ok(ToChild::Start(start)) => live = Some(self.start(*start)?),
                    Ok(ToChild::Stop { task_id, operator }) => {
                        let played = live.as_ref().filter(|live| live.task_id == task_id);
                        if let Some(live) = played {
                            live.stop.ask(if operator {
                                Cause::Operator
                            } else {
                                Cause::Asked
                            });
                        }
                    }
                    // A newer server may say more.
                    Err(_) => {}
                }
            }
        }
        if let Some(live) = live {
            live.stop.ask(Cause::Asked);
            self.agents.abandon(&live.stop);
            let _ = live.over.recv_timeout(LAST_KEYS);
        }
        Ok(())
    }

    fn start(self: &Arc<Self>, start: Start) -> io::Result<Live> {
        let stop = Stop::new();
        let (tell, over) = channel();
        let live = Live {
            task_id: start.task.task_id.clone(),
            stop: stop.clone(),
            over,
        };
        let served = Arc::clone(self);
        std::thread::Builder::new()
            .name("arena-play".to_owned())
            .spawn(move || {
                served.play(&start, &stop);
                drop(tell);
            })?;
        Ok(live)
    }

    fn play(self: &Arc<Self>, start: &Start, stop: &Stop) {
        let task_id = start.task.task_id.clone();
        let served = Arc::clone(self);
        let steps_over = Box::new(move |outcome: &Outcome| {
            // A server that does not read kills us or is gone.
            let _ = served
                .outlet
                .send(&FromChild::StepsOver(Report::new(&task_id, outcome)));
        });
        let outcome = match (start.config(), self.watch(&start.task.task_id, stop)) {
            (Some(config), Ok(())) => self.agents.play(&config, &start.task, stop, steps_over),
            (None, _) => Outcome::failed("the display was not given by Agon"),
            (_, Err(error)) => Outcome::failed(format!("can't start a thread: {error}")),
        };
        // Lets go whoever waits for it.
        stop.ask(Cause::Asked);
        let report = Report::new(&start.task.task_id, &outcome);
        let _ = self.outlet.send(&FromChild::Ended(report));
    }

    /// The server hears of a stop by a person at once, be the agent stuck or not.
    fn watch(self: &Arc<Self>, task_id: &str, stop: &Stop) -> io::Result<()> {
        let (served, stop, task_id) = (Arc::clone(self), stop.clone(), task_id.to_owned());
        let watch = move || {
            while !stop.wait(LONG) {}
            if stop.cause() == Some(Cause::Operator) {
                let stopped = Outcome::of(End::Stopped(Cause::Operator));
                let report = Report::new(&task_id, &stopped);
                let _ = served.outlet.send(&FromChild::StepsOver(report));
            }
        };
        let thread = std::thread::Builder::new().name("arena-watch".to_owned());
        thread.spawn(watch).map(drop)
    }
}
