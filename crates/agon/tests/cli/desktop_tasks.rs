//! Tasks on a screen, played by the real program: real X servers, window managers and programs.

#[path = "desktop_tasks/actions.rs"]
mod actions;
#[path = "desktop_tasks/background.rs"]
mod background;
#[path = "desktop_tasks/container.rs"]
mod container;
#[path = "desktop_tasks/crowd.rs"]
mod crowd;
#[path = "desktop_tasks/cut_off.rs"]
mod cut_off;
#[path = "desktop_tasks/faults.rs"]
mod faults;
#[path = "desktop_tasks/forged_exit.rs"]
mod forged_exit;
#[path = "desktop_tasks/lost.rs"]
mod lost;
#[path = "desktop_tasks/record.rs"]
mod record;
#[path = "desktop_tasks/room.rs"]
mod room;
#[path = "desktop_tasks/services.rs"]
mod services;
#[path = "desktop_tasks/setup.rs"]
mod setup;
#[path = "desktop_tasks/walls.rs"]
mod walls;
