//! Screens, keyboards, mice and windows of real desktops: a private X server, a given display or one
//! in a container, all through the same socket. Knows nothing of tasks, agents or runs.

pub mod address;
pub mod authority;
pub mod clipboard;
pub mod config;
pub mod container;
mod container_script;
mod content;
pub mod desktop;
pub mod error;
pub mod geometry;
pub mod input;
pub mod key;
pub mod listen;
pub mod monotonic;
pub mod pool;
mod private;
pub mod published;
pub mod registry;
pub mod screen;
pub mod windows;
mod x11;

pub use address::DisplayAddress;
pub use authority::Cookie;
pub use clipboard::Clipboard;
pub use config::DesktopConfig;
pub use container::ContainerDisplay;
pub use desktop::Desktop;
pub use error::DesktopError;
pub use geometry::{Point, Rect, Size};
pub use input::{HOLD, Keyboard, KeyboardState, Mouse, MouseState};
pub use key::{Key, KeyCombination, Vk};
pub use listen::{
    InputEvent, InputLog, ListenConfig, Listener, ListenerHandle, PanicKey, StopSignal,
};
pub use monotonic::monotonic;
pub use pool::WarmPool;
pub use private::{ServerState, describe};
pub use published::Published;
pub use screen::Screen;
pub use windows::{WindowInfo, Windows};
