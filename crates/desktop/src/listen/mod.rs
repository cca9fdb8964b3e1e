//! What happens on a desktop, told as it happens: keyboard and mouse wherever the focus is, windows,
//! and states at an interval; as a stream, by callback, as a log, or as a key that stops everything.

mod event;
mod input_log;
mod keymap;
mod listener;
mod owa;
mod panic_key;
mod pointer;
mod queue;
mod raw;
mod states;
mod stop;
mod tick;
mod watch;
mod window_events;
mod work;

pub use event::{
    Event, InputEvent, KeyboardStateEvent, MouseStateEvent, Tick, WindowEvent, WindowEventKind,
};
pub use input_log::InputLog;
pub use listener::{Events, ListenConfig, Listener};
pub use owa::{
    OwaKeyAction, OwaKeyboardEvent, OwaKeyboardState, OwaMessage, OwaMouseAction, OwaMouseButton,
    OwaMouseEvent, OwaMouseState, OwaWindowInfo, WallTime,
};
pub use panic_key::PanicKey;
pub use stop::StopSignal;
pub use tick::tick;
pub use work::ListenerHandle;
