//! `agon desktop`: private desktops that live as long as their owner process, and what can be done
//! with one from a shell.

mod app;
mod args;
mod call;
mod choose;
mod detach;
mod health;
mod list;
mod screenshot;
mod serve;
mod start;
mod state;
mod stop;
mod watch;

pub(super) use args::DesktopArgs;
use args::DesktopCommand;
pub(super) use health::describe;
pub(super) use state::sweep;

use super::entry::in_runtime;
use super::exit::Exit;
use super::failure::Failure;

pub(super) fn desktop(args: DesktopArgs) -> Result<Exit, Failure> {
    match args.command {
        DesktopCommand::Start(args) if args.detach => in_runtime(detach::detach(&args)),
        DesktopCommand::Start(args) => in_runtime(start::start(&args)),
        DesktopCommand::List(args) => list::list(&args),
        DesktopCommand::Stop(args) => stop::stop(&args),
        DesktopCommand::Screenshot(args) => screenshot::screenshot(&args),
        DesktopCommand::Call(args) => call::call(&args),
        DesktopCommand::Watch(args) => watch::watch(&args),
    }
}
