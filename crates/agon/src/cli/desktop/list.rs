//! `agon desktop list`.

use super::state::Desktops;
use crate::cli::args::JsonArgs;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::output;

pub(super) fn list(args: &JsonArgs) -> Result<Exit, Failure> {
    let living = Desktops::open()?.living()?;
    for desktop in &living {
        if args.json {
            output::json(desktop)?;
        } else {
            output::data(&format!(
                "{:<5} {:<10} DISPLAY={} XAUTHORITY={} since {} {}",
                desktop.id,
                desktop.screen,
                desktop.display,
                desktop.authority.display(),
                desktop.started,
                output::plain(&desktop.apps.join("; ")),
            ))?;
        }
    }
    if living.is_empty() && !args.json {
        output::say("no desktop runs: start one with `agon desktop start`");
    }
    Ok(Exit::Done)
}
