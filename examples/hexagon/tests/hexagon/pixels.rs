//! The pixel player against the rules and pictures of the game, without a screen: many games in little
//! time, always the same.

use std::time::Duration;

use agon_agent::play::players::hexagon::eyes::{Picture, Sight, look};
use agon_agent::play::players::hexagon::policy::{self, Policy};
use agon_hexagon::canvas::Canvas;
use agon_hexagon::game::{Game, Key, Rules, View};
use agon_hexagon::rows::DEPTH;
use agon_hexagon::scene::Scene;
use agon_hexagon::seed::Chance;
use agon_hexagon::world::{RATE, Turn, World};

const SEEDS: u64 = 20;
/// Longer games are cut short: they are good enough.
const LONGEST: u32 = 14 * RATE;
/// As at 60 frames per second.
const STEPS_PER_FRAME: u32 = RATE / 60;
/// Steps from a picture to the turn that follows from it.
const LATENCY: u32 = 1;

fn picture(canvas: &Canvas) -> Picture<'_> {
    Picture {
        pixels: canvas.bytes(),
        stride: canvas.width(),
        left: 0,
        top: 0,
        width: u32::try_from(canvas.width()).unwrap(),
        height: u32::try_from(canvas.height()).unwrap(),
    }
}

fn see(scene: &mut Scene, view: View<'_>) -> Option<Sight> {
    scene.draw(view);
    look(&picture(scene.canvas()))
}

/// Seconds that a player lives who is asked at every frame.
fn play(seed: u64, mut turn: impl FnMut(&World, Duration) -> Turn) -> f64 {
    let mut world = World::new(seed, 1.0);
    let (mut turning, mut next) = (Turn::None, Turn::None);
    for step in 0..LONGEST {
        if step % STEPS_PER_FRAME == 0 {
            next = turn(&world, Duration::from_secs_f64(world.elapsed()));
        }
        if step % STEPS_PER_FRAME == LATENCY {
            turning = next;
        }
        world.step(turning);
        if !world.is_alive() {
            break;
        }
    }
    world.elapsed()
}

fn by_pixels(seed: u64) -> f64 {
    let mut scene = Scene::new(480, 360);
    let mut policy = Policy::default();
    play(seed, |world, at| {
        let Some(Sight::Playing(field)) = see(&mut scene, View::Playing(world)) else {
            return Turn::None;
        };
        match policy.decide(&field, at) {
            policy::Turn::Left => Turn::Left,
            policy::Turn::Right => Turn::Right,
            policy::Turn::None => Turn::None,
        }
    })
}

/// As the player `random-keys`: a turn, or none, for 30 to 400 ms.
fn by_chance(seed: u64) -> f64 {
    let mut chance = Chance::new(!seed);
    let (mut turn, mut until) = (Turn::None, 0.0);
    play(seed, |world, _| {
        if world.elapsed() >= until {
            turn = [Turn::Left, Turn::Right, Turn::None][chance.below(3) as usize];
            until = world.elapsed() + (30 + chance.below(370)) as f64 / 1000.0;
        }
        turn
    })
}

/// As the player `one-key`: 50 ms down, 50 ms up.
fn by_one_key(seed: u64) -> f64 {
    play(seed, |world, _| {
        if world.elapsed() % 0.1 < 0.05 {
            Turn::Right
        } else {
            Turn::None
        }
    })
}

fn median(games: u64, player: impl Fn(u64) -> f64) -> f64 {
    let mut lives: Vec<f64> = (0..games).map(player).collect();
    lives.sort_by(f64::total_cmp);
    f64::midpoint(lives[lives.len() / 2 - 1], lives[lives.len() / 2])
}

#[test]
fn the_pixel_player_lives_clearly_longer() {
    lives_clearly_longer(4);
}

#[test]
fn long_form_the_pixel_player_lives_clearly_longer() {
    lives_clearly_longer(SEEDS);
}

fn lives_clearly_longer(games: u64) {
    let median = |player: fn(u64) -> f64| median(games, player);
    let (one, random, pixels) = (median(by_one_key), median(by_chance), median(by_pixels));
    let lives = format!("one key {one:.2} s, random {random:.2} s, pixels {pixels:.2} s");
    assert!(pixels >= 4.0 * random, "{lives}");
    assert!(pixels >= 4.0 * one, "{lives}");
}

/// Wherever the player is, the end of the game is not taken for anything else.
#[test]
fn the_end_is_seen_as_the_end() {
    for (width, height) in [(320, 240), (480, 360), (480, 900), (1280, 400)] {
        let mut scene = Scene::new(width, height);
        for seed in 0..4 {
            let mut game = Game::new(Rules {
                seed,
                speed: 4.0,
                start: true,
                games: None,
            });
            let keys = [Key::Left, Key::Right];
            for (turns, key) in (0..30).zip(keys.into_iter().cycle()) {
                game.press(key);
                for _ in 0..turns {
                    game.step();
                }
                game.release(key);
            }
            while game.step().is_none() && !matches!(game.view(), View::Over { .. }) {}
            assert_eq!(
                see(&mut scene, game.view()),
                Some(Sight::Over),
                "seed {seed}"
            );
        }
    }
}

#[test]
fn its_eyes_see_what_is_there_at_every_size() {
    for (width, height) in [(320, 240), (480, 360), (960, 720), (1280, 400)] {
        let mut scene = Scene::new(width, height);
        let mut game = Game::new(Rules {
            seed: 3,
            speed: 1.0,
            start: false,
            games: None,
        });
        assert_eq!(see(&mut scene, game.view()), Some(Sight::Title));
        game.press(Key::Space);
        let mut frames = 0;
        while game.step().is_none() {
            frames += 1;
            let sight = see(&mut scene, game.view());
            let (Some(Sight::Playing(field)), View::Playing(world)) = (sight, game.view()) else {
                panic!("frame {frames} of {width}x{height} is no game");
            };
            // The angle of the eyes begins at any edge of a lane.
            let place = (world.angle() * 6.0).fract();
            let seen = field.player.fract();
            let apart = (place - seen).abs();
            assert!(apart.min(1.0 - apart) < 0.1, "{place} {seen}");
            let nearest = world
                .rows()
                .map(|(near, _)| near + DEPTH)
                .find(|&far| far > 45.0 && far < 150.0);
            let ends: Vec<f64> = field.walls.iter().flatten().map(|wall| wall.1).collect();
            if let Some(far) = nearest {
                let found = ends.iter().any(|end| (end - far).abs() < 3.0);
                assert!(found, "{far} is not in {ends:?} ({width}x{height})");
            }
        }
        assert_eq!(see(&mut scene, game.view()), Some(Sight::Over));
    }
}
