//! `agon review`: people say which trials passed.

mod args;
mod command;
mod docket;
mod list;
mod orders;
mod page;
mod session;

pub(super) use args::ReviewArgs;
pub(super) use command::review;
