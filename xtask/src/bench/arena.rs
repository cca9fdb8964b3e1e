//! The rows of `cargo xtask bench arena`: how fast an agent sees and acts, and whether several games at
//! the same time disturb each other.

use super::lab::Lab;
use super::{Better, Figure, Row};
use crate::console::say;
use crate::debian::{self, BUBBLEWRAP, DESKTOP};
use crate::failure::Failure;
use crate::games::{self, Game, Play};

pub(super) const ROWS: &[Row] = &[
    Row::aiming("frame_to_key_p50_ms", "ms", Better::Lower, 3.0, |lab| {
        program(lab, "frame_to_key_p50_ms")
    }),
    Row::aiming("frame_to_key_p99_ms", "ms", Better::Lower, 10.0, |lab| {
        program(lab, "frame_to_key_p99_ms")
    }),
    Row::aiming("loop_rate_hz", "1/s", Better::Higher, 200.0, |lab| {
        program(lab, "loop_rate_hz")
    }),
    Row::aiming("stop_to_last_key_ms", "ms", Better::Lower, 20.0, |lab| {
        program(lab, "stop_to_last_key_ms")
    }),
    // Not worse, but for chance: single games differ by a wall.
    Row::aiming(
        "parallel_4_score_ratio",
        "x one",
        Better::Higher,
        0.95,
        parallel,
    ),
];

fn program(lab: &mut Lab, row: &str) -> Result<Figure, Failure> {
    debian::install(&[BUBBLEWRAP])?;
    debian::install(&DESKTOP)?;
    lab.arena
        .find(("agon-arena", "measure_arena"), row, &[], None)
}

/// Seeds that are played, each alone and each beside three others.
const GAMES: u32 = 8;
/// Who is still alive then has that score.
const SECONDS: u32 = 60;

fn parallel(lab: &mut Lab) -> Result<Figure, Failure> {
    debian::install(&[BUBBLEWRAP])?;
    debian::install(&DESKTOP)?;
    let play = |workers| {
        games::play(&Play {
            agon: lab.agon()?,
            folder: lab.folder(),
            agent: "hexagon",
            games: GAMES,
            workers,
            seconds: SECONDS,
        })
    };
    let (alone, beside) = (scores(&play(1)?), scores(&play(4)?));
    say(format!(
        "    one at a time: {alone:.1?} s; four at a time: {beside:.1?} s"
    ));
    let (one, four) = (middle(&alone), middle(&beside));
    Ok(Figure::against(four / one, 1.0))
}

/// In rising order.
fn scores(games: &[Game]) -> Vec<f64> {
    let mut scores: Vec<f64> = games
        .iter()
        .map(|game| game.truth.unwrap_or(f64::from(SECONDS)))
        .collect();
    scores.sort_by(f64::total_cmp);
    scores
}

/// The mean of the middle half, which a single unlucky game does not move.
fn middle(sorted: &[f64]) -> f64 {
    let cut = sorted.len() / 4;
    let half = &sorted[cut..sorted.len() - cut];
    half.iter().sum::<f64>() / half.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_half_counts() {
        assert_eq!(middle(&[0.0, 2.0, 4.0, 100.0]), 3.0);
        let game = |truth| Game {
            task: "a".to_owned(),
            read: None,
            truth,
        };
        assert_eq!(scores(&[game(None), game(Some(3.0))]), [3.0, 60.0]);
    }

    #[test]
    fn every_row_of_the_program_is_known_to_it() {
        let program = include_str!("../../../crates/arena/examples/measure_arena/main.rs");
        for row in ROWS.iter().filter(|row| !row.name.starts_with("parallel")) {
            assert!(
                program.contains(&format!("\"{}\"", row.name)),
                "{}",
                row.name
            );
        }
    }
}
