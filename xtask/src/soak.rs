//! `cargo xtask soak arena`: plays many games and compares every score that was read from the screen
//! with the one that the game wrote down. `cargo xtask soak desktop` is in a file of its own.

pub(crate) mod desktop;

use crate::console::{say, step};
use crate::debian::{self, BUBBLEWRAP, DESKTOP};
use crate::failure::{Failure, Trying};
use crate::games::{self, Game, Play};
use crate::{models, workspace};

/// Of a hundred games, so many scores must be read right.
const RIGHT: f64 = 0.99;

pub(crate) fn arena(games: u32) -> Result<(), Failure> {
    debian::install(&[BUBBLEWRAP])?;
    debian::install(&DESKTOP)?;
    let agon = step("build Agon and the game", workspace::release_binary)?;
    models::install_ocr(&agon)?;
    let folder = workspace::root().join(format!("target/soak/arena.{}", std::process::id()));
    std::fs::create_dir_all(&folder).trying(format!("make {}", folder.display()))?;
    let played = step(&format!("play {games} games"), || {
        games::play(&Play {
            agon: &agon,
            folder: &folder,
            agent: "random-keys",
            games,
            workers: 2,
            seconds: 120,
        })
    })?;
    judge(&played, games)?;
    let _ = std::fs::remove_dir_all(&folder);
    Ok(())
}

fn judge(played: &[Game], games: u32) -> Result<(), Failure> {
    let right = played
        .iter()
        .filter(|game| game.read.is_some() && game.read == game.truth);
    let right = right.count();
    let flagged = played.iter().filter(|game| game.read.is_none()).count();
    let wrong: Vec<&Game> = played
        .iter()
        .filter(|game| game.is_silently_wrong())
        .collect();
    say(format!(
        "{} of {games} games scored: {right} read right, {flagged} flagged, {} silently wrong",
        played.len(),
        wrong.len()
    ));
    for game in &wrong {
        say(format!(
            "  {}: read {:?}, was {:?}",
            game.task, game.read, game.truth
        ));
    }
    let all = played.len() == games as usize && wrong.is_empty();
    if all && right as f64 >= f64::from(games) * RIGHT {
        Ok(())
    } else {
        Err(Failure::new("the screen was not read well enough"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn games(right: usize, flagged: usize, wrong: usize) -> Vec<Game> {
        let game = |read, truth| Game {
            task: "a".to_owned(),
            read,
            truth,
        };
        let mut all = vec![game(Some(1.5), Some(1.5)); right];
        all.extend(vec![game(None, Some(1.5)); flagged]);
        all.extend(vec![game(Some(15.0), Some(1.5)); wrong]);
        all
    }

    #[test]
    fn one_in_a_hundred_may_be_flagged_and_none_wrong() {
        assert!(judge(&games(99, 1, 0), 100).is_ok());
        assert!(judge(&games(98, 2, 0), 100).is_err());
        assert!(judge(&games(99, 0, 1), 100).is_err());
        assert!(judge(&games(99, 0, 0), 100).is_err());
    }
}
