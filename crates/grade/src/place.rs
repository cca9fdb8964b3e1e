//! Where commands of checks run: in a fresh sandbox over what the agent left, or inside of the environment
//! that it used. The only file here that starts anything.

use std::time::Duration;

use agon_core::files::FileTree;
use agon_core::{EnvironmentKind, Fault, FaultClass, RanCommand};
use agon_sandbox::error::ENDING;
use agon_sandbox::{
    Changes, Exec, ExecOutput, Provider, Request, Sandbox, SandboxError, Words, WorkArchive,
};

use crate::finding::{Finding, bad_check};
use crate::interpreter::Running;
use crate::reward;

#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// Nothing runs: the environment is a conversation.
    Nowhere,
    /// A sandbox made for each check, with what the agent left laid over it.
    Fresh {
        provider: &'a dyn Provider,
        request: &'a Request,
    },
    /// The sandbox that the agent used, after its freeze. What is found there is tainted.
    Inside(&'a dyn Sandbox),
    /// Nothing runs any more, or it ran elsewhere: commands have printed what they have. What is found
    /// there is as tainted as it was then.
    Recorded(&'a [RanCommand]),
}

/// What the agent left, for a check that has these words.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Left<'a> {
    pub(crate) work: Option<&'a WorkArchive>,
    pub(crate) changes: Option<&'a Changes>,
    pub(crate) words: &'a Words,
}

/// How a program of a check ended.
#[derive(Debug)]
pub(crate) enum Ran {
    Ended(ExecOutput),
    /// What the agent left behind made it impossible to run: the check has failed.
    Spoiled(String),
}

/// The time a place may take for its own part beside that of the program.
const GRACE: Duration = Duration::from_secs(30);

/// For looking at what became of an image.
const LOOKING: Duration = Duration::from_secs(60);

impl Place<'_> {
    pub(crate) fn tainted(&self) -> bool {
        match self {
            Self::Inside(_) => true,
            Self::Recorded(commands) => commands.iter().any(|ran| ran.tainted),
            Self::Nowhere | Self::Fresh { .. } => false,
        }
    }

    /// Only local sandboxes have sealed interpreters.
    pub(crate) fn running(&self) -> Running {
        match self {
            Self::Fresh { request, .. } if request.environment.kind == EnvironmentKind::Local => {
                Running::Sealed
            }
            _ => Running::Plain,
        }
    }

    /// Whether the record of a trial may not be enough to run its commands again.
    pub(crate) fn is_lost_with_the_trial(&self) -> bool {
        match self {
            Self::Inside(_) => true,
            Self::Fresh { request, .. } => request.environment.is_container(),
            Self::Nowhere | Self::Recorded(_) => false,
        }
    }

    /// Whether the image has a program of this name at all: asked where nothing of the agent is.
    pub(crate) async fn image_has(&self, name: &str) -> Result<bool, Fault> {
        let Self::Fresh { provider, request } = self else {
            return Ok(true);
        };
        let prepared = in_time("a fresh sandbox", request.start, provider.prepare(request));
        let opened = Opened::fresh(prepared.await?.map_err(trouble)?, request);
        let mut exec = Exec::new(["sh", "-c", r#"command -v "$1""#, "sh", name], LOOKING);
        exec.cwd = "/".to_owned();
        let found = in_time(
            "looking for a program",
            LOOKING,
            opened.sandbox().exec(&exec),
        )
        .await;
        opened.close().await;
        Ok(found?.map_err(trouble)?.exit.success())
    }

    /// Runs one program, with the `verify` tree put where it belongs first, if there is one.
    pub(crate) async fn run(
        &self,
        left: Left<'_>,
        verify: Option<(&FileTree, &str)>,
        exec: &Exec,
    ) -> Result<Ran, Fault> {
        let ran = match self.open(left, exec.timeout).await {
            Ok(opened) => {
                let ran = opened.carry_out(verify, exec).await;
                opened.close().await;
                ran
            }
            Err(stop) => Err(stop),
        };
        match ran {
            Ok(output) => Ok(Ran::Ended(output)),
            Err(stop) => stop.spoiled(),
        }
    }

    /// Says what the agent has made of the programs that a check relies on, where it could.
    pub(crate) async fn replaced(&self) -> Result<Option<Finding>, Fault> {
        let Self::Inside(sandbox) = self else {
            return Ok(None);
        };
        let found = in_time("looking for replaced programs", LOOKING, sandbox.replaced()).await?;
        match found {
            Ok(names) => Ok(reward::replaced(&names)),
            Err(SandboxError::Denied(why)) => Ok(Some(Finding {
                tainted: true,
                ..Finding::tampered(&why, why.clone())
            })),
            Err(error) => Err(trouble(error)),
        }
    }

    /// Runs a program that leaves its word in files, and reads those of [`reward::FILES`].
    pub(crate) async fn rewarded(
        &self,
        left: Left<'_>,
        tests: &FileTree,
        exec: &Exec,
    ) -> Result<(Ran, Rewards), Fault> {
        let found = match self.open(left, exec.timeout).await {
            Ok(opened) => {
                let found = opened.reward(tests, exec).await;
                opened.close().await;
                found
            }
            Err(stop) => Err(stop),
        };
        match found {
            Ok((output, rewards)) => Ok((Ran::Ended(output), rewards)),
            Err(stop) => Ok((stop.spoiled()?, Rewards::default())),
        }
    }

    /// The sandbox to look in.
    async fn open(&self, left: Left<'_>, limit: Duration) -> Result<Opened<'_>, Stop> {
        let (provider, request) = match self {
            Self::Nowhere => {
                let why = "the environment is `none`: there is nothing to run commands in";
                return Err(Stop::Fault(bad_check(why)));
            }
            Self::Recorded(_) => {
                let why = "the environment is gone, and the record does not show this";
                return Err(Stop::Fault(bad_check(why)));
            }
            Self::Inside(sandbox) => return Ok(Opened::Inside(*sandbox)),
            Self::Fresh { provider, request } => (provider, request),
        };
        let work = left
            .work
            .ok_or_else(|| Fault::new(FaultClass::Evidence, "there is no frozen working folder"))?;
        let sandbox = in_time("a fresh sandbox", request.start, provider.prepare(request))
            .await?
            .map_err(trouble)?;
        let unpacked = match unpack("the working folder", limit, sandbox.unpack(work)).await {
            Ok(()) => match left.changes {
                Some(changes) => {
                    let laid = sandbox.lay_over(changes, left.words);
                    unpack("what was changed beside it", limit, laid).await
                }
                None => Ok(()),
            },
            stopped => stopped,
        };
        let opened = Opened::fresh(sandbox, request);
        match unpacked {
            Ok(()) => Ok(opened),
            Err(stop) => {
                opened.close().await;
                Err(stop)
            }
        }
    }
}

/// Why no program of a check came to its end.
enum Stop {
    /// The agent's doing.
    Spoiled(String),
    Fault(Fault),
}

impl Stop {
    fn spoiled(self) -> Result<Ran, Fault> {
        match self {
            Self::Spoiled(why) => Ok(Ran::Spoiled(why)),
            Self::Fault(fault) => Err(fault),
        }
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// A sandbox to look in.
enum Opened<'a> {
    Inside(&'a dyn Sandbox),
    Fresh {
        sandbox: Box<dyn Sandbox>,
        /// What the agent left is everywhere in it, not in the working folder alone.
        overlaid: bool,
    },
}

/// What stands in the files that say a reward.
pub(crate) type Rewards = [Option<Vec<u8>>; 2];

impl Opened<'_> {
    fn fresh(sandbox: Box<dyn Sandbox>, request: &Request) -> Self {
        let overlaid = request.environment.is_container();
        Self::Fresh { sandbox, overlaid }
    }

    fn sandbox(&self) -> &dyn Sandbox {
        match self {
            Self::Inside(sandbox) => *sandbox,
            Self::Fresh { sandbox, .. } => sandbox.as_ref(),
        }
    }

    async fn close(self) {
        match self {
            Self::Inside(_) => {}
            // It goes while nobody waits, and at the latest with its provider.
            Self::Fresh {
                overlaid: true,
                sandbox,
            } => drop(sandbox),
            Self::Fresh { sandbox, .. } => {
                // What is found is found; leftovers are removed by the next start.
                let _ = in_time("removing a sandbox", Duration::ZERO, sandbox.destroy()).await;
            }
        }
    }

    async fn carry_out(
        &self,
        verify: Option<(&FileTree, &str)>,
        exec: &Exec,
    ) -> Result<ExecOutput, Stop> {
        if let Some((tree, into)) = verify {
            self.copy_in("copying verify/", tree, into, exec.timeout)
                .await?;
        }
        self.exec("the check", exec).await
    }

    async fn reward(&self, tests: &FileTree, exec: &Exec) -> Result<(ExecOutput, Rewards), Stop> {
        let cleared = self.exec("clearing /tests", &reward::clear()).await?;
        if !cleared.exit.success() {
            return Err(Stop::Spoiled(format!(
                "what was in the way of the tests can't be removed: {}",
                cleared.exit
            )));
        }
        let blank = reward::blank()?;
        self.copy_in("clearing rewards", &blank, "/", exec.timeout)
            .await?;
        let output = self.carry_out(Some((tests, reward::TESTS)), exec).await?;
        let mut rewards = Rewards::default();
        for (reward, path) in rewards.iter_mut().zip(reward::FILES) {
            let read = self.sandbox().read(path, reward::MOST);
            *reward = match in_time("reading a reward", exec.timeout, read).await? {
                Ok(bytes) => Some(bytes),
                // It was there before: whatever is wrong with it now is no reward.
                Err(SandboxError::Denied(_) | SandboxError::OutOfMemory) => None,
                Err(error) => return Err(self.stopped(error)),
            };
        }
        Ok((output, rewards))
    }

    async fn copy_in(
        &self,
        what: &str,
        tree: &FileTree,
        into: &str,
        limit: Duration,
    ) -> Result<(), Stop> {
        in_time(what, limit, self.sandbox().copy_in(tree, into))
            .await?
            .map_err(|error| self.stopped(error))
    }

    async fn exec(&self, what: &str, exec: &Exec) -> Result<ExecOutput, Stop> {
        in_time(what, exec.timeout, self.sandbox().exec(exec))
            .await?
            .map_err(|error| self.stopped(error))
    }

    /// Whose doing an error is. Where the agent was, or where all that it left is, it could put anything in
    /// the way of files and programs, and its programs can end the whole; in the folder of a fresh sandbox
    /// only the task itself can.
    fn stopped(&self, error: SandboxError) -> Stop {
        let within_reach = match self {
            Self::Inside(_) => true,
            Self::Fresh { overlaid, .. } => *overlaid,
        };
        match error {
            SandboxError::OutOfMemory | SandboxError::Timeout { what: ENDING, .. } => {
                Stop::Spoiled(error.to_string())
            }
            SandboxError::Denied(_) | SandboxError::Ended(_) if within_reach => {
                Stop::Spoiled(error.to_string())
            }
            error => Stop::Fault(trouble(error)),
        }
    }
}

/// What is unpacked is the agent's, so it is the agent's doing if it is too much.
async fn unpack(
    what: &str,
    limit: Duration,
    unpacking: impl Future<Output = Result<(), SandboxError>>,
) -> Result<(), Stop> {
    let why = match in_time("it", limit, unpacking).await {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(
            error @ (SandboxError::Denied(_)
            | SandboxError::OutOfMemory
            | SandboxError::Timeout { .. }),
        )) => error.to_string(),
        Ok(Err(error)) => return Err(Stop::Fault(trouble(error))),
        Err(late) => late.message,
    };
    Err(Stop::Spoiled(format!(
        "{what} could not be unpacked: {why}"
    )))
}

/// A backstop: sandboxes keep their own deadlines, and should one not, this frees the worker.
async fn in_time<T>(
    what: &str,
    expected: Duration,
    work: impl Future<Output = T>,
) -> Result<T, Fault> {
    let most = expected + GRACE;
    tokio::time::timeout(most, work).await.map_err(|_| {
        let message = format!("{what} took longer than {} s", most.as_secs_f64());
        Fault::new(FaultClass::Timeout, message)
    })
}

fn trouble(error: SandboxError) -> Fault {
    let class = match error.fault_class() {
        class @ (FaultClass::Start | FaultClass::Timeout) => class,
        _ => FaultClass::Check,
    };
    Fault::new(class, format!("a check could not run: {error}"))
}

#[cfg(test)]
mod tests;
