//! Where commands of checks run: in a fresh sandbox over the frozen working folder, or inside of the
//! environment that the agent used. The only file here that starts anything.

use std::time::Duration;

use agon_core::files::FileTree;
use agon_core::{EnvironmentKind, Fault, FaultClass};
use agon_sandbox::error::ENDING;
use agon_sandbox::{Exec, ExecOutput, Provider, Request, Sandbox, SandboxError, WorkArchive};

use crate::finding::bad_check;
use crate::interpreter::Running;
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
        match self {
            Self::Nowhere => Err(bad_check(
                "the environment is `none`: there is nothing to run commands in",
            )),
            Self::Inside(sandbox) => carry_out(*sandbox, verify, exec).await,
            Self::Fresh { provider, request } => {
                let work = work.ok_or_else(|| {
                    Fault::new(FaultClass::Evidence, "there is no frozen working folder")
                })?;
                let sandbox = in_time("a fresh sandbox", request.start, provider.prepare(request))
                    .await?
                    .map_err(trouble)?;
                let ran = in_fresh(&*sandbox, work, verify, exec).await;
                // What is found is found; leftovers are removed by the next start.
                let _ = in_time("removing a sandbox", Duration::ZERO, sandbox.destroy()).await;
                ran
            }
        }
    }
}

async fn in_fresh(
    sandbox: &dyn Sandbox,
    work: &WorkArchive,
    verify: Option<(&FileTree, &str)>,
    exec: &Exec,
) -> Result<Ran, Fault> {
    let spoiled = |why: String| {
        Ok(Ran::Spoiled(format!(
            "the working folder could not be unpacked: {why}"
        )))
    };
    // What is unpacked is the agent's, so it is the agent's doing if it is too much.
    match in_time("it", exec.timeout, sandbox.unpack(work)).await {
        Ok(Ok(())) => carry_out(sandbox, verify, exec).await,
        Ok(Err(
            error @ (SandboxError::Denied(_)
            | SandboxError::OutOfMemory
            | SandboxError::Timeout { .. }),
        )) => spoiled(error.to_string()),
        Ok(Err(error)) => Err(trouble(error)),
        Err(late) => spoiled(late.message),
    }
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
