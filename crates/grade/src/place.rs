//! Where commands of checks run: in a fresh sandbox over the frozen working folder, or inside of the
//! environment that the agent used. The only file here that starts anything.

use std::time::Duration;

use agon_core::files::FileTree;
use agon_core::{EnvironmentKind, Fault, FaultClass};
use agon_sandbox::error::ENDING;
use agon_sandbox::{Exec, ExecOutput, Provider, Request, Sandbox, SandboxError, WorkArchive};

use crate::finding::bad_check;
use crate::interpreter::Running;
use crate::reward;
use crate::script::{Nonce, VERIFY};

#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// Nothing runs: the environment is a conversation.
    Nowhere,
    /// A sandbox made for each check, with the frozen working folder unpacked.
    Fresh {
        provider: &'a dyn Provider,
        request: &'a Request,
    },
    /// The sandbox that the agent used, after its freeze. What is found there is tainted.
    Inside(&'a dyn Sandbox),
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

impl Place<'_> {
    pub(crate) fn tainted(&self) -> bool {
        matches!(self, Self::Inside(_))
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

    /// Where a `verify` tree goes. The agent can't have put anything there before.
    pub(crate) fn verify(&self, nonce: &Nonce) -> String {
        match self {
            Self::Inside(_) => {
                // A digest, because the nonce itself must stay between us and the script.
                let name = agon_core::Digest::of(nonce.text().as_bytes()).short();
                format!("{VERIFY}-{name}")
            }
            _ => VERIFY.to_owned(),
        }
    }

    /// Runs one program, with the `verify` tree put where it belongs first, if there is one.
    pub(crate) async fn run(
        &self,
        work: Option<&WorkArchive>,
        verify: Option<(&FileTree, &str)>,
        exec: &Exec,
    ) -> Result<Ran, Fault> {
        let opened = match self.open(work, exec.timeout).await? {
            Ok(opened) => opened,
            Err(why) => return Ok(Ran::Spoiled(why)),
        };
        let ran = carry_out(opened.sandbox(), verify, exec).await;
        opened.close().await;
        ran
    }

    /// Runs a program that leaves its word in files, and reads those of [`reward::FILES`].
    pub(crate) async fn rewarded(
        &self,
        work: Option<&WorkArchive>,
        tests: &FileTree,
        exec: &Exec,
    ) -> Result<(Ran, Rewards), Fault> {
        let opened = match self.open(work, exec.timeout).await? {
            Ok(opened) => opened,
            Err(why) => return Ok((Ran::Spoiled(why), Rewards::default())),
        };
        let found = reward_in(opened.sandbox(), tests, exec).await;
        opened.close().await;
        found
    }

    /// The sandbox to look in, or why what the agent left made it impossible to look.
    async fn open(
        &self,
        work: Option<&WorkArchive>,
        limit: Duration,
    ) -> Result<Result<Opened<'_>, String>, Fault> {
        let (provider, request) = match self {
            Self::Nowhere => {
                return Err(bad_check(
                    "the environment is `none`: there is nothing to run commands in",
                ));
            }
            Self::Inside(sandbox) => return Ok(Ok(Opened::Inside(*sandbox))),
            Self::Fresh { provider, request } => (provider, request),
        };
        let work = work
            .ok_or_else(|| Fault::new(FaultClass::Evidence, "there is no frozen working folder"))?;
        let sandbox = in_time("a fresh sandbox", request.start, provider.prepare(request))
            .await?
            .map_err(trouble)?;
        let unpacked = unpack(&*sandbox, work, limit).await;
        let opened = Opened::Fresh(sandbox);
        match unpacked {
            Ok(None) => Ok(Ok(opened)),
            Ok(Some(why)) => {
                opened.close().await;
                Ok(Err(why))
            }
            Err(fault) => {
                opened.close().await;
                Err(fault)
            }
        }
    }
}

/// A sandbox to look in.
enum Opened<'a> {
    Inside(&'a dyn Sandbox),
    Fresh(Box<dyn Sandbox>),
}

impl Opened<'_> {
    fn sandbox(&self) -> &dyn Sandbox {
        match self {
            Self::Inside(sandbox) => *sandbox,
            Self::Fresh(sandbox) => sandbox.as_ref(),
        }
    }

    async fn close(self) {
        if let Self::Fresh(sandbox) = self {
            // What is found is found; leftovers are removed by the next start.
            let _ = in_time("removing a sandbox", Duration::ZERO, sandbox.destroy()).await;
        }
    }
}

/// Says why it was impossible, where that is the agent's doing: what is unpacked is the agent's, so it is
/// the agent's doing if it is too much.
async fn unpack(
    sandbox: &dyn Sandbox,
    work: &WorkArchive,
    limit: Duration,
) -> Result<Option<String>, Fault> {
    let why = match in_time("it", limit, sandbox.unpack(work)).await {
        Ok(Ok(())) => return Ok(None),
        Ok(Err(
            error @ (SandboxError::Denied(_)
            | SandboxError::OutOfMemory
            | SandboxError::Timeout { .. }),
        )) => error.to_string(),
        Ok(Err(error)) => return Err(trouble(error)),
        Err(late) => late.message,
    };
    Ok(Some(format!(
        "the working folder could not be unpacked: {why}"
    )))
}

/// What stands in the files that say a reward.
pub(crate) type Rewards = [Option<Vec<u8>>; 2];

async fn reward_in(
    sandbox: &dyn Sandbox,
    tests: &FileTree,
    exec: &Exec,
) -> Result<(Ran, Rewards), Fault> {
    let clear = reward::clear();
    match in_time("clearing /tests", clear.timeout, sandbox.exec(&clear)).await? {
        Ok(output) if output.exit.success() => {}
        Ok(output) => {
            let why = format!(
                "what was in the way of the tests can't be removed: {}",
                output.exit
            );
            return Ok((Ran::Spoiled(why), Rewards::default()));
        }
        Err(error @ SandboxError::OutOfMemory) => {
            return Ok((Ran::Spoiled(error.to_string()), Rewards::default()));
        }
        Err(error) => return Err(trouble(error)),
    }
    let blank = reward::blank()?;
    let copied = in_time(
        "clearing rewards",
        exec.timeout,
        sandbox.copy_in(&blank, "/"),
    );
    copied.await?.map_err(trouble)?;
    let ran = carry_out(sandbox, Some((tests, reward::TESTS)), exec).await?;
    let mut rewards = Rewards::default();
    if let Ran::Ended(_) = &ran {
        for (reward, path) in rewards.iter_mut().zip(reward::FILES) {
            let read = in_time(
                "reading a reward",
                exec.timeout,
                sandbox.read(path, reward::MOST),
            );
            // It was there before: whatever is wrong with it now is no reward.
            *reward = read.await?.ok();
        }
    }
    Ok((ran, rewards))
}

async fn carry_out(
    sandbox: &dyn Sandbox,
    verify: Option<(&FileTree, &str)>,
    exec: &Exec,
) -> Result<Ran, Fault> {
    if let Some((tree, into)) = verify {
        let copied = in_time("copying verify/", exec.timeout, sandbox.copy_in(tree, into));
        match copied.await? {
            Ok(()) => {}
            Err(error @ SandboxError::OutOfMemory) => return Ok(Ran::Spoiled(error.to_string())),
            Err(error) => return Err(trouble(error)),
        }
    }
    match in_time("the check", exec.timeout, sandbox.exec(exec)).await? {
        Ok(output) => Ok(Ran::Ended(output)),
        Err(error @ (SandboxError::OutOfMemory | SandboxError::Timeout { what: ENDING, .. })) => {
            Ok(Ran::Spoiled(error.to_string()))
        }
        Err(error) => Err(trouble(error)),
    }
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
