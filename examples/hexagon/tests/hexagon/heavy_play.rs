//! A whole game in real time by a player of Agon, from pixels to keys.

use std::time::Duration;

use agon_agent::play::{self, PlayConfig, PlayEnd, Played, Stop, Task, players};
use agon_hexagon::world::{Turn, World};

use super::desk::{Desk, TITLE};

const SEED: u64 = 7;
const SPEED: f64 = 1.5;

fn task() -> Task {
    Task {
        task_id: "hexagon".to_owned(),
        env_name: "hexagon".to_owned(),
        window_name: TITLE.to_owned(),
        task_description: "Survive.".to_owned(),
        timeout: 150,
        check_env_interval_seconds: 1.0,
        success_criteria: serde_json::Map::new(),
        num_frames: 3,
    }
}

fn play_by(player: &str, desk: &Desk) -> Played {
    let config = PlayConfig::new(desk.desktop.address().clone());
    let player = players::find(player).unwrap();
    let playing = play::start(player, task(), config, Stop::new()).unwrap();
    playing.wait(Duration::from_secs(150)).unwrap()
}

/// Seconds that somebody lives who does nothing.
fn idle() -> f64 {
    let mut world = World::new(SEED, SPEED);
    while world.is_alive() {
        world.step(Turn::None);
    }
    world.elapsed()
}

#[test]
fn the_pixel_player_starts_a_real_game_and_plays_it_to_its_end() {
    let seed = SEED.to_string();
    let desk = Desk::open(&["--seed", &seed, "--speed", &SPEED.to_string()]);
    let played = play_by("hexagon", &desk);
    assert_eq!(played.end, PlayEnd::Finished);
    let records = desk.records();
    assert_eq!(records.len(), 1, "{records:?}");
    let score = records[0]["score"].as_f64().unwrap();
    assert!(score > idle(), "{score} {:?}", played.stats);
}
