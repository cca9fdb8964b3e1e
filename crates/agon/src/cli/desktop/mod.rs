//! `agon desktop`: private desktops that live as long as their owner process, and what can be done
//! with one from a shell.

mod app;
mod args;
mod call;
mod choose;
mod command;
mod detach;
mod health;
mod list;
mod screenshot;
mod serve;
mod start;
mod state;
mod stop;
mod watch;

pub(super) use app::{Groups, start as start_apps};
pub(super) use args::{ChoiceArgs, DesktopArgs};
pub(super) use choose::{address as chosen_address, address_of};
pub(super) use command::desktop;
pub(super) use health::describe;
pub(super) use state::{Desktops, sweep};
