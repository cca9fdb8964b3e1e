//! `agon arena agent`: an agent behind a server.

use std::path::PathBuf;

use agon_agent::play::players;
use agon_arena::{AgentServer, ProcessAgent, Server, ServerOptions, child};
use agon_core::WorldClock;

use super::args::{AgentArgs, HostArgs};
use crate::cli::desktop::{ChoiceArgs, chosen_address};
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::output;

pub(super) fn serve(args: &AgentArgs) -> Result<Exit, Failure> {
    // A wrong name shows before anything is started.
    let make = players::maker(&args.agent).map_err(Failure::new)?;
    let options = ServerOptions {
        clock: match args.latency {
            Some(delay) => WorldClock::Latency { delay },
            None => WorldClock::Realtime,
        },
        ..options(&args.host, args.port, &args.desktop)?
    };
    let server = match &args.command {
        Some(command) => {
            let words = agon_agent::split_words(command).map_err(Failure::new)?;
            let mut words = words.into_iter();
            let program = words
                .next()
                .ok_or_else(|| Failure::new("--command is empty"))?;
            AgentServer::start_process(
                ProcessAgent::command(PathBuf::from(program), words),
                &options,
            )
        }
        None if args.child => {
            let words = ["arena", "agent", "--agent", &args.agent];
            AgentServer::start_process(ProcessAgent::this_executable(words)?, &options)
        }
        None => AgentServer::start(make, &options),
    }?;
    until_interrupted(server, "agent")
}

/// The same command in the child process.
pub(super) fn play(args: &AgentArgs) -> Result<Exit, Failure> {
    let make = players::maker(&args.agent).map_err(Failure::new)?;
    child::serve(make)?;
    Ok(Exit::Done)
}

pub(super) fn options(
    host: &HostArgs,
    port: u16,
    desktop: &ChoiceArgs,
) -> Result<ServerOptions, Failure> {
    Ok(ServerOptions {
        token: host.token.token()?,
        desktop: Some(chosen_address(desktop)?),
        ..ServerOptions::at(&host.host, port)
    })
}

/// The address goes to standard output, for scripts.
pub(super) fn until_interrupted(server: Server, what: &str) -> Result<Exit, Failure> {
    output::data(server.url())?;
    output::say(&format!(
        "the {what} is served at {}; Ctrl-C ends it",
        server.url()
    ));
    server.serve_until_interrupted()?;
    Ok(Exit::Done)
}
