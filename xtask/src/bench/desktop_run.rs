//! What recording costs: `agon run` over desktop tasks whose every step leaves a screenshot that was
//! never there before. The fixed references are those of Inspect AI 0.3.285 on a 2-core machine.

use std::path::Path;

use super::Figure;
use super::lab::Lab;
use super::process::Measured;
use super::suites;
use crate::console::say;
use crate::debian::{self, BUBBLEWRAP, DESKTOP};
use crate::failure::{Failure, Trying};

const TRIALS: u32 = 50;
/// Actions per trial that each leave a screenshot.
const STEPS: u32 = 20;
/// More than there are cores: most of a step is waiting for the screen to come to rest.
const WORKERS: u32 = 8;

/// A finished run and what it took.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recorded {
    /// What the steps added to the run.
    step_seconds: f64,
    peak_mb: f64,
    /// Of the whole run, with what its children wrote: all that was written for what is kept.
    amplification: f64,
}

/// Reference: 50 samples of 20 steps, each with a screenshot.
pub(super) fn steps_per_s(lab: &mut Lab) -> Result<Figure, Failure> {
    let recorded = recorded(lab)?;
    let steps = f64::from(TRIALS * STEPS);
    Ok(Figure::against(steps / recorded.step_seconds, 30.0))
}

pub(super) fn memory(lab: &mut Lab) -> Result<Figure, Failure> {
    Ok(Figure::against(recorded(lab)?.peak_mb, 596.0))
}

pub(super) fn amplification(lab: &mut Lab) -> Result<Figure, Failure> {
    Ok(Figure::against(recorded(lab)?.amplification, 11.0))
}

fn recorded(lab: &mut Lab) -> Result<Recorded, Failure> {
    if let Some(recorded) = lab.desktop.run {
        return Ok(recorded);
    }
    debian::install(&[BUBBLEWRAP])?;
    debian::install(&DESKTOP)?;
    // The same trials without their steps, before and after: desktops, sandboxes and terminals start
    // and end, and nothing else happens.
    let before = play(lab, "before", 0)?;
    let full = play(lab, "desktop", STEPS)?;
    let after = play(lab, "after", 0)?;
    let wanted = u64::from(TRIALS * STEPS);
    if full.pictures < wanted {
        return Err(Failure::new(format!(
            "{wanted} steps left only {} different pictures",
            full.pictures
        )));
    }
    let recorded = weigh(&full, [&before, &after])?;
    lab.desktop.run = Some(recorded);
    Ok(recorded)
}

/// What one run took and left.
#[derive(Debug)]
struct Played {
    measured: Measured,
    stored: u64,
    pictures: u64,
}

fn play(lab: &Lab, name: &str, steps: u32) -> Result<Played, Failure> {
    let suite = suites::desktop(lab.folder(), name, TRIALS, steps)?;
    let mut run = lab.plan(name, suite, TRIALS, 1);
    run.workers = Some(WORKERS);
    let measured = lab.run(&run)?;
    let (stored, pictures) = content(&run.out)?;
    Ok(Played {
        measured,
        stored,
        pictures,
    })
}

/// What the steps added to a run that has none.
fn weigh(full: &Played, empty: [&Played; 2]) -> Result<Recorded, Failure> {
    let mean = |of: fn(&Played) -> f64| (of(empty[0]) + of(empty[1])) / 2.0;
    let seconds = |played: &Played| played.measured.seconds;
    let written = |played: &Played| played.measured.written.by_calls as f64;
    let stored = |played: &Played| played.stored as f64;
    let step_seconds = seconds(full) - mean(seconds);
    if step_seconds <= 0.0 {
        return Err(Failure::new(
            "the machine is too busy: steps took less than no time",
        ));
    }
    let by_steps = (written(full) - mean(written)) / (stored(full) - mean(stored));
    say(format!(
        "    recorded: the whole run took {:.2} s ({:.0} steps/s), one without steps {:.2} s",
        seconds(full),
        f64::from(TRIALS * STEPS) / seconds(full),
        mean(seconds),
    ));
    say(format!(
        "    recorded: {:.1} MB written by calls ({:.1} MB without steps), {:.1} MB in pages to \
         disks, {:.1} MB stored ({:.1} MB without steps); {by_steps:.2} x stored by the steps alone",
        written(full) / 1e6,
        mean(written) / 1e6,
        full.measured.written.to_disks as f64 / 1e6,
        stored(full) / 1e6,
        mean(stored) / 1e6,
    ));
    Ok(Recorded {
        step_seconds,
        peak_mb: full.measured.peak_mb,
        amplification: written(full) / stored(full),
    })
}

/// Bytes of all files in a run folder, and how many blobs are among them.
fn content(folder: &Path) -> Result<(u64, u64), Failure> {
    let reading = format!("read {}", folder.display());
    let (mut bytes, mut blobs) = (0, 0);
    for entry in std::fs::read_dir(folder).trying(&reading)? {
        let entry = entry.trying(&reading)?;
        let about = entry.metadata().trying(&reading)?;
        if about.is_dir() {
            let (inner, found) = content(&entry.path())?;
            bytes += inner;
            blobs += found;
        } else if about.is_file() {
            bytes += about.len();
            let in_blobs = entry
                .path()
                .components()
                .any(|part| part.as_os_str() == "blobs");
            blobs += u64::from(in_blobs);
        }
    }
    Ok((bytes, blobs))
}

#[cfg(test)]
mod tests {
    use super::super::process::Written;
    use super::*;

    fn played(seconds: f64, by_calls: u64, stored: u64) -> Played {
        Played {
            measured: Measured {
                seconds,
                peak_mb: 80.0,
                written: Written {
                    by_calls,
                    to_disks: 4096,
                },
                stdout: String::new(),
                success: true,
            },
            stored,
            pictures: 0,
        }
    }

    #[test]
    fn time_without_steps_is_not_theirs_but_everything_written_counts() {
        let (before, after) = (played(5.0, 90, 10), played(7.0, 110, 10));
        let recorded = weigh(&played(10.0, 300, 200), [&before, &after]).unwrap();
        assert_eq!(recorded.step_seconds, 4.0);
        assert_eq!(recorded.amplification, 1.5);
        assert!(weigh(&played(5.0, 300, 200), [&before, &after]).is_err());
    }

    #[test]
    fn all_files_of_a_run_are_counted() {
        let folder = std::env::temp_dir().join(format!("agon-content-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("blobs/ab")).unwrap();
        std::fs::write(folder.join("run.json"), "12345").unwrap();
        std::fs::write(folder.join("blobs/ab/cd"), "123").unwrap();
        let counted = content(&folder);
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(counted.unwrap(), (8, 1));
    }
}
