//! How true the pictures are that agents get, and what they cost: real programs of Debian (`xtask/data/settle`), used
//! for a while by their solutions. Every action is followed by a wait of 1.5 s; a picture is stale if the one after the
//! wait differs from it by more than a text cursor that blinks.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::Figure;
use super::lab::Lab;
use crate::console::{say, succeed};
use crate::debian::{self, BUBBLEWRAP, DESKTOP};
use crate::failure::{Failure, Trying};
use crate::workspace;

const EPOCHS: &str = "2";
/// Programs wait most of the time.
const WORKERS: &str = "3";
/// Pixels that a blinking cursor may have.
const CURSOR: usize = 150;
/// Programs without a tool kit's frame clock.
const PLAIN: [&str; 2] = ["plain", "tk"];

/// What one run over all programs has shown.
#[derive(Debug, Default, Clone)]
pub(super) struct Findings {
    idle: Option<Shown>,
    loaded: Option<Shown>,
}

#[derive(Debug, Default, Clone)]
struct Shown {
    steps: usize,
    stale: usize,
    /// How long each step took beside the time that keys and buttons were held, in milliseconds.
    costs: Vec<f64>,
    plain_costs: Vec<f64>,
}

pub(super) fn share(lab: &mut Lab) -> Result<Figure, Failure> {
    Ok(Figure::alone(idle(lab)?.share()))
}

pub(super) fn share_loaded(lab: &mut Lab) -> Result<Figure, Failure> {
    if lab.stale.loaded.is_none() {
        let busy = Busy::start()?;
        lab.stale.loaded = Some(measure(lab, "stale-loaded")?);
        drop(busy);
    }
    let loaded = lab.stale.loaded.as_ref();
    Ok(Figure::alone(loaded.map_or(f64::NAN, Shown::share)))
}

pub(super) fn p50(lab: &mut Lab) -> Result<Figure, Failure> {
    Ok(Figure::alone(quantile(&idle(lab)?.costs, 0.5)))
}

pub(super) fn p95(lab: &mut Lab) -> Result<Figure, Failure> {
    Ok(Figure::alone(quantile(&idle(lab)?.costs, 0.95)))
}

pub(super) fn plain_p50(lab: &mut Lab) -> Result<Figure, Failure> {
    Ok(Figure::alone(quantile(&idle(lab)?.plain_costs, 0.5)))
}

fn idle(lab: &mut Lab) -> Result<Shown, Failure> {
    if let Some(shown) = &lab.stale.idle {
        return Ok(shown.clone());
    }
    let shown = measure(lab, "stale")?;
    lab.stale.idle = Some(shown.clone());
    Ok(shown)
}

/// Keeps one core busy.
struct Busy(Child);

impl Busy {
    fn start() -> Result<Self, Failure> {
        let mut shell = Command::new("sh");
        let child = shell.args(["-c", "while :; do :; done"]).spawn();
        Ok(Self(child.trying("start a busy program")?))
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn measure(lab: &Lab, name: &str) -> Result<Shown, Failure> {
    debian::install(&[BUBBLEWRAP])?;
    debian::install(&DESKTOP)?;
    let suite = workspace::root().join("xtask/data/settle");
    succeed(Command::new("sh").arg(suite.join("prepare.sh")))?;
    let out = lab.folder().join(format!("run-{name}"));
    let log = out.with_extension("log");
    let log = File::create(&log).trying(format!("write {}", log.display()))?;
    let mut run = Command::new(lab.agon()?);
    run.arg("run")
        .arg(&suite)
        .args(["--agent", "oracle", "--json"]);
    run.args(["--epochs", EPOCHS, "--workers", WORKERS, "--out"]);
    // Whether the tasks are passed says nothing here.
    let ended = run.arg(&out).stdout(Stdio::null()).stderr(log).status();
    let code = ended.trying("run agon")?.code();
    if !matches!(code, Some(0 | 1)) {
        return Err(Failure::new(format!("agon ended with {code:?}")));
    }
    let mut all = Shown::default();
    let mut trials = attempts(&out.join("trials"))?;
    trials.sort();
    for (program, events) in trials {
        let shown = read(&out, &program, &events)?;
        say(format!(
            "    {program:<28} {:>4} steps, {:>3} stale, median {:>4.0} ms",
            shown.steps,
            shown.stale,
            quantile(&shown.costs, 0.5)
        ));
        all.steps += shown.steps;
        all.stale += shown.stale;
        all.costs.extend(&shown.costs);
        all.plain_costs.extend(&shown.plain_costs);
    }
    if all.steps < 1_000 {
        return Err(Failure::new(format!(
            "only {} steps were played",
            all.steps
        )));
    }
    Ok(all)
}

/// Programs, and the events of their attempts.
fn attempts(trials: &Path) -> Result<Vec<(String, PathBuf)>, Failure> {
    let list = |folder: &Path| -> Result<Vec<PathBuf>, Failure> {
        let entries = std::fs::read_dir(folder).trying(format!("read {}", folder.display()))?;
        Ok(entries.flatten().map(|entry| entry.path()).collect())
    };
    let name = |path: &Path| {
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let mut found = Vec::new();
    for category in list(trials)? {
        for task in list(&category)? {
            for attempt in list(&task)? {
                let program = format!("{}/{}", name(&category), name(&task));
                found.push((program, attempt.join("events.jsonl")));
            }
        }
    }
    Ok(found)
}

/// A picture that an agent got, and the action before it.
struct Step {
    action: Value,
    milliseconds: f64,
    blob: String,
}

fn read(run: &Path, program: &str, events: &Path) -> Result<Shown, Failure> {
    let what = format!("read {}", events.display());
    let mut actions: HashMap<u64, (f64, Value)> = HashMap::new();
    let mut steps: Vec<Step> = Vec::new();
    for line in BufReader::new(File::open(events).trying(what.clone())?).lines() {
        let event: Value =
            serde_json::from_str(&line.trying(what.clone())?).trying(what.clone())?;
        let t = event["t"].as_f64().unwrap_or_default();
        if event["kind"] == "action" {
            let number = event["seq"].as_u64().unwrap_or_default();
            actions.insert(number, (t, event["action"].clone()));
        }
        let blob = event["observation"]["screen"]["picture"]["blob"].as_str();
        let cause = event["cause"]
            .as_u64()
            .and_then(|cause| actions.get(&cause));
        if let (Some(blob), Some((began, action))) = (blob, cause) {
            steps.push(Step {
                action: action.clone(),
                milliseconds: (t - began) * 1e3 - held(action),
                blob: blob.to_owned(),
            });
        }
    }
    let mut shown = Shown::default();
    for pair in steps.windows(2) {
        let [step, later] = pair else { continue };
        if step.action["action"] == "wait" || later.action["action"] != "wait" {
            continue;
        }
        shown.steps += 1;
        shown.costs.push(step.milliseconds);
        if PLAIN.iter().any(|kind| program.starts_with(kind)) {
            shown.plain_costs.push(step.milliseconds);
        }
        if step.blob != later.blob && differ(run, &step.blob, &later.blob)? > CURSOR {
            shown.stale += 1;
        }
    }
    Ok(shown)
}

/// How long the action itself takes by what it asks for, in milliseconds.
fn held(action: &Value) -> f64 {
    const HOLD: f64 = 0.05;
    let seconds = |key: &str| action[key].as_f64();
    1e3 * match action["action"].as_str() {
        Some("key") => {
            let keys = action["keys"].as_str().unwrap_or_default();
            let combinations = keys.split_ascii_whitespace().count().max(1);
            combinations as f64 * seconds("hold").unwrap_or(HOLD)
        }
        Some("click") => seconds("count").unwrap_or(1.0) * seconds("hold").unwrap_or(HOLD),
        Some("drag") => seconds("seconds").unwrap_or_default(),
        _ => 0.0,
    }
}

/// How many pixels two pictures differ in.
fn differ(run: &Path, one: &str, other: &str) -> Result<usize, Failure> {
    let (one, other) = (pixels(run, one)?, pixels(run, other)?);
    let differing = one.iter().zip(&other).filter(|(a, b)| a != b).count();
    Ok(differing + one.len().abs_diff(other.len()))
}

fn pixels(run: &Path, blob: &str) -> Result<Vec<[u8; 3]>, Failure> {
    let (folder, file) = blob.split_at(2);
    let path = run.join("blobs").join(folder).join(file);
    let what = format!("read {}", path.display());
    let file = File::open(&path).trying(what.clone())?;
    let mut reader = png::Decoder::new(BufReader::new(file))
        .read_info()
        .trying(what.clone())?;
    let size = reader
        .output_buffer_size()
        .ok_or_else(|| Failure::new(format!("{}: too large", path.display())))?;
    let mut buffer = vec![0; size];
    let info = reader.next_frame(&mut buffer).trying(what)?;
    let samples = info.color_type.samples();
    let pixel = |part: &[u8]| {
        let at = |index: usize| {
            part.get(index)
                .or(part.first())
                .copied()
                .unwrap_or_default()
        };
        [at(0), at(1), at(2)]
    };
    Ok(buffer.chunks_exact(samples).map(pixel).collect())
}

impl Shown {
    fn share(&self) -> f64 {
        self.stale as f64 / self.steps as f64
    }
}

fn quantile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = (sorted.len() as f64 * share) as usize;
    sorted
        .get(at.min(sorted.len().saturating_sub(1)))
        .copied()
        .unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_an_action_asks_for_is_not_its_cost() {
        assert_eq!(
            held(&json!({ "action": "key", "keys": "ctrl+a Delete" })),
            100.0
        );
        assert_eq!(
            held(&json!({ "action": "click", "count": 2, "hold": 0.1 })),
            200.0
        );
        assert_eq!(held(&json!({ "action": "drag", "seconds": 0.3 })), 300.0);
        assert_eq!(held(&json!({ "action": "type", "text": "abc" })), 0.0);
    }

    #[test]
    fn a_quantile_is_one_of_the_values() {
        assert_eq!(quantile(&[3.0, 1.0, 2.0], 0.5), 2.0);
        assert_eq!(quantile(&[1.0], 0.95), 1.0);
        assert!(quantile(&[], 0.5).is_nan());
    }
}
