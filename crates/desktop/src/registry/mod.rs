//! Everything by its name, with arguments and results as JSON: three registries of callables,
//! listeners and runnables, under the names that users of `owa` know and those of their own crates.

mod args;
mod callable;
mod callables;
mod context;
mod listener;
mod listeners;
mod message;
mod modules;
mod names;
mod runnable;
mod runnables;
mod running;
mod shelf;

pub use args::{Args, NoArgs};
pub use callable::{CALLABLES, Callable};
pub use context::{Context, current_desktop, forget_desktop, use_desktop, with_desktop};
pub use listener::{Configured, LISTENERS, Listen, ListenerKind};
pub use message::Message;
pub use modules::{Module, activate_module};
pub use runnable::{RUNNABLES, Run, Runnable, RunnableKind, Started};
pub use running::Running;
pub use shelf::{Entry, Registry};
