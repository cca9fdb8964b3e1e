//! The tools that others use, where they are installed: Python's mss, scrot, xdotool. A tool that is
//! missing is said to be, and never a failure.

use std::process::{Command, Stdio};
use std::time::Instant;

use agon_sandbox::OwnedFolder;

use crate::scene::Place;
use crate::times::Times;

/// Captures by one program that keeps its connection; `{turn}` is what becomes of each.
const MSS: &str = "
import io, statistics, sys, time
import mss
def png(shot):
    from PIL import Image
    picture = Image.frombytes('RGB', shot.size, shot.bgra, 'raw', 'BGRX')
    picture.save(io.BytesIO(), 'PNG')
rounds, encode = int(sys.argv[1]), sys.argv[2] == 'png'
times = []
with (getattr(mss, 'MSS', None) or mss.mss)() as screen:
    for turn in range(rounds + 10):
        started = time.perf_counter()
        shot = screen.grab(screen.monitors[0])
        if encode:
            png(shot)
        if turn >= 10:
            times.append(time.perf_counter() - started)
print(statistics.median(times) * 1e3)
";

/// The median in milliseconds, or which tool is missing.
pub(crate) type Taken = Result<f64, String>;

pub(crate) fn mss_raw(place: &Place) -> Taken {
    mss(place, "300", "raw")
}

pub(crate) fn mss_png(place: &Place) -> Taken {
    mss(place, "60", "png")
}

fn mss(place: &Place, rounds: &str, what: &str) -> Taken {
    let mut command = place.command("python3");
    command
        .args(["-c", MSS, rounds, what])
        .stdout(Stdio::piped());
    let missing = |why: &str| format!("no figure of Python's mss ({what}): {why}");
    let output = command
        .output()
        .map_err(|error| missing(&error.to_string()))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    String::from_utf8_lossy(&output.stdout)
        .trim()
        .parse()
        .map_err(|_| missing(complaint.lines().last().unwrap_or("it said nothing")))
}

/// A process for each picture: scrot can't do otherwise.
pub(crate) fn scrot(place: &Place) -> Taken {
    let folder = OwnedFolder::new().map_err(|error| error.to_string())?;
    let mut command = place.command("scrot");
    command
        .arg("--overwrite")
        .arg(folder.path().join("picture.png"));
    let mut times = Times::default();
    for _ in 0..25 {
        let started = Instant::now();
        run(&mut command)?;
        times.add(started.elapsed());
    }
    Ok(times.p50())
}

/// One key, by a process of its own.
pub(crate) fn xdotool_key(place: &Place) -> Result<(), String> {
    run(place.command("xdotool").args(["key", "a"]))
}

fn run(command: &mut Command) -> Result<(), String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let missing = |why: String| format!("no figure of {name}: {why}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(missing(status.to_string())),
        Err(error) => Err(missing(error.to_string())),
    }
}
