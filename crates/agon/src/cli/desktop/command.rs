//! Which command does what.

use super::super::entry::in_runtime;
use super::super::exit::Exit;
use super::super::failure::Failure;
use super::args::{DesktopArgs, DesktopCommand};
use super::{call, detach, list, screenshot, start, stop, watch};

pub(in crate::cli) fn desktop(args: DesktopArgs) -> Result<Exit, Failure> {
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
