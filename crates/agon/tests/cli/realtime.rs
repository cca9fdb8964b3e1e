//! Tasks in real time, played by the real program on real desktops. The game is a terminal that counts
//! keys and says in its title whether it is over.

#[path = "realtime/apps.rs"]
mod apps;
#[path = "realtime/ends.rs"]
mod ends;
#[path = "realtime/game.rs"]
mod game;
#[path = "realtime/sights.rs"]
mod sights;
#[path = "realtime/turns.rs"]
mod turns;
#[path = "realtime/worlds.rs"]
mod worlds;
