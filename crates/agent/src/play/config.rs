//! What a play needs besides a player and a task.

use std::sync::Arc;

use agon_core::realtime::WorldClock;
use agon_desktop::{DisplayAddress, Key, PanicKey};

use super::task::Task;
use super::world::World;

#[derive(Debug, Clone)]
pub struct PlayConfig {
    /// The desktop that is played on; the player gets connections of its own.
    pub address: DisplayAddress,
    pub clock: WorldClock,
    /// Needed for [`WorldClock::Paused`] only.
    pub world: Option<Arc<dyn World>>,
    pub seed: u64,
    /// Ends the play when somebody presses it on the desktop. The player is refused it, unless it goes
    /// by the desktop itself.
    pub panic_key: Option<Key>,
    /// How many frames are kept for [`super::Play::frames`]: at least one, 64 at most.
    pub frames: u32,
}

impl PlayConfig {
    pub fn new(address: DisplayAddress) -> Self {
        Self {
            address,
            clock: WorldClock::default(),
            world: None,
            seed: 0,
            panic_key: Some(PanicKey::DEFAULT),
            frames: Task::default_frames(),
        }
    }
}
