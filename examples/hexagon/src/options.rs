//! The options of the `hexagon` program.

use std::path::PathBuf;

use clap::Parser;

use crate::game::Rules;

const EXAMPLES: &str = "Keys: Left and Right turn while they are held, Space starts and retries.

Examples:
  hexagon --seed 7                                  play, always with the same walls
  hexagon --score-file scores.jsonl --games 3       play three games and keep their scores
  hexagon --start --speed 1.5 --size 960x720        begin at once, faster and larger

The file of scores gets one line for each game:
  {\"game\":1,\"seed\":7,\"score\":12.34,\"frames\":740,\"ended\":\"wall\"}
The first game has the seed that is given, later ones have seeds that follow from it and the number of
the game; `--seed` with the seed of a line plays that game again.";

/// Turn about the centre and slip through the gaps of the walls that close in.
#[derive(Debug, Clone, Parser)]
#[command(name = "hexagon", version, after_help = EXAMPLES)]
pub struct Options {
    /// Title of the window.
    #[arg(long, default_value = "Hexagon Run", value_parser = parse_title)]
    pub title: String,

    /// Size of the window, from 320x240 to 3840x2160.
    #[arg(long, value_name = "WxH", default_value = "480x360", value_parser = parse_size)]
    pub size: (u16, u16),

    /// Which walls come: the same seed gives the same walls.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// How fast walls come, as a factor from 0.25 to 4.
    #[arg(long, value_name = "F", default_value_t = 1.0, value_parser = parse_speed)]
    pub speed: f64,

    /// Begin at once instead of waiting for Space.
    #[arg(long)]
    pub start: bool,

    /// End after so many games, one second after the last of them.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub games: Option<u32>,

    /// Add one line of JSON to this file for each game, before its end is shown.
    #[arg(long, value_name = "PATH")]
    pub score_file: Option<PathBuf>,
}

impl Options {
    pub const fn rules(&self) -> Rules {
        Rules {
            seed: self.seed,
            speed: self.speed,
            start: self.start,
            games: self.games,
        }
    }
}

fn parse_title(text: &str) -> Result<String, String> {
    if text.is_empty() || text.len() > 200 || text.contains('\0') {
        return Err("give a title of 1 to 200 bytes".to_owned());
    }
    Ok(text.to_owned())
}

fn parse_size(text: &str) -> Result<(u16, u16), String> {
    let size = text
        .split_once('x')
        .and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)));
    size.filter(|(width, height)| (320..=3840).contains(width) && (240..=2160).contains(height))
        .ok_or_else(|| {
            "give width and height, such as 480x360, from 320x240 to 3840x2160".to_owned()
        })
}

fn parse_speed(text: &str) -> Result<f64, String> {
    let speed = text.parse().ok();
    speed
        .filter(|speed| (0.25..=4.0).contains(speed))
        .ok_or_else(|| "give a factor from 0.25 to 4".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn options_are_consistent_and_bounded() {
        Options::command().debug_assert();
        assert_eq!(parse_size("480x360"), Ok((480, 360)));
        for bad in ["", "480", "480x", "10x10", "9999x9999", "480x-3", "1e3x400"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
        for bad in ["", "0", "NaN", "inf", "-1", "4.5"] {
            assert!(parse_speed(bad).is_err(), "{bad}");
        }
        assert!(parse_title("").is_err());
    }
}
