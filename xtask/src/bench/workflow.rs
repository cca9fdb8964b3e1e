//! The rows of `cargo xtask bench workflow`: what a coding agent at work costs Agon itself, with a model
//! that answers at once. Everything else is real: sandboxes, shell, record, grading, result files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::lab::Lab;
use super::process::{Measured, measure, median};
use super::{Better, Figure, Row, bare};
use crate::console::say;
use crate::debian::{self, BUBBLEWRAP};
use crate::failure::{Failure, Trying};
use crate::{rootfs, test};

pub(super) const ROWS: &[Row] = &[
    Row::aiming("instance_20_turns_s", "s", Better::Lower, 0.6, |lab| {
        Ok(Figure::alone(twenty_turns(lab)?.instance))
    }),
    Row::aiming(
        "turns_per_s_per_worker",
        "turns/s",
        Better::Higher,
        60.0,
        |lab| Ok(Figure::alone(twenty_turns(lab)?.turns_per_s)),
    ),
    Row::aiming("own_ms_per_event", "ms", Better::Lower, 0.2, |lab| {
        Ok(Figure::alone(twenty_turns(lab)?.own_ms))
    }),
    Row::aiming(
        "container_start_ratio",
        "x bare",
        Better::Lower,
        1.2,
        container_start,
    ),
    Row::aiming("thousand_instances_s", "s", Better::Lower, 30.0, |lab| {
        Ok(Figure::alone(many(lab)?.seconds))
    }),
    Row {
        name: "hundred_instances_mb",
        unit: "MB",
        better: Better::Lower,
        target: None,
        measure: |lab| Ok(Figure::alone(many(lab)?.hundred_mb)),
    },
    // Beside the memory that a tenth of the instances takes.
    Row {
        name: "thousand_instances_mb",
        unit: "MB",
        better: Better::Lower,
        target: None,
        measure: |lab| {
            let many = many(lab)?;
            Ok(Figure::against(many.thousand_mb, many.hundred_mb))
        },
    },
];

/// Instances that are worked on one after the other.
const INSTANCES: u32 = 20;
const TURNS: u32 = 20;

/// What one run of instances with [`TURNS`] commands tells.
struct Twenty {
    instance: f64,
    turns_per_s: f64,
    own_ms: f64,
}

fn twenty_turns(lab: &Lab) -> Result<Twenty, Failure> {
    debian::install(&[BUBBLEWRAP])?;
    let bench = Bench::write(
        lab.folder(),
        "twenty",
        INSTANCES,
        TURNS,
        "{ kind = \"local\" }",
    )?;
    let (measured, trials) = bench.run(lab, 1, None)?;
    bench.remove()?;
    let total = |trial: &Trial| trial.agent + trial.environment + trial.harness;
    let times = trials.iter().map(total).collect();
    let own: f64 = trials.iter().map(|trial| trial.agent + trial.harness).sum();
    let events: u64 = trials.iter().map(|trial| trial.events).sum();
    Ok(Twenty {
        instance: median(times).ok_or_else(|| Failure::new("nothing was measured"))?,
        turns_per_s: f64::from(INSTANCES * TURNS) / measured.seconds,
        own_ms: own * 1000.0 / events as f64,
    })
}

/// From the start of a trial to the end of its first command, against create, start and one exec by the
/// bare API, half of them before and half of them after.
fn container_start(lab: &mut Lab) -> Result<Figure, Failure> {
    let times = 10;
    test::install_packages()?;
    let engine = test::engine_with_image()?;
    let image = format!("{}:latest", rootfs::IMAGE);
    let environment = format!("{{ kind = \"container\", image = \"{image}\" }}");
    let bench = Bench::write(lab.folder(), "container", times, 1, &environment)?;
    let before = bare::container_start_seconds(engine.api(), &image, times / 2)?;
    let host = engine.api().docker_host();
    let (_, trials) = bench.run(lab, 1, Some(host))?;
    let after = bare::container_start_seconds(engine.api(), &image, times / 2)?;
    bench.remove()?;
    let ours = trials.iter().map(|trial| trial.first_command).sum::<f64>() / f64::from(times);
    let theirs = (before + after) / f64::from(times);
    say(format!(
        "    container_start_ratio: {:.0} ms, bare {:.0} ms",
        ours * 1e3,
        theirs * 1e3
    ));
    Ok(Figure::against(ours / theirs, 1.0))
}

/// What runs of many instances tell.
#[derive(Debug, Clone, Copy)]
pub(super) struct Many {
    /// For 1,000 instances.
    seconds: f64,
    hundred_mb: f64,
    thousand_mb: f64,
}

/// Measured once for all rows.
fn many(lab: &mut Lab) -> Result<Many, Failure> {
    if let Some(many) = lab.many {
        return Ok(many);
    }
    debian::install(&[BUBBLEWRAP])?;
    let measured = |instances: u32| -> Result<Measured, Failure> {
        let name = format!("many-{instances}");
        let bench = Bench::write(lab.folder(), &name, instances, 5, "{ kind = \"local\" }")?;
        let (measured, _) = bench.run(lab, 4, None)?;
        bench.remove()?;
        Ok(measured)
    };
    let hundred = measured(100)?;
    let thousand = measured(1000)?;
    let many = Many {
        seconds: thousand.seconds,
        hundred_mb: hundred.peak_mb,
        thousand_mb: thousand.peak_mb,
    };
    lab.many = Some(many);
    Ok(many)
}

/// A benchmark folder, and the answers that solve all of its instances.
struct Bench {
    folder: PathBuf,
    instances: u32,
}

impl Bench {
    fn write(
        lab: &Path,
        name: &str,
        instances: u32,
        turns: u32,
        environment: &str,
    ) -> Result<Self, Failure> {
        let folder = lab.join(format!("bench-{name}"));
        fs::create_dir_all(&folder).trying(format!("make {}", folder.display()))?;
        let rows =
            (0..instances).map(|n| format!("{}\n", json!({ "instance_id": format!("i{n}") })));
        let mut answers: Vec<Value> = (1..turns)
            .map(|turn| {
                call(
                    "execute_bash",
                    &json!({ "command": format!("echo {turn} >> log") }),
                )
            })
            .collect();
        let last = json!({ "command": "echo done > done.txt" });
        answers.push(call("execute_bash", &last));
        answers.push(call("finish", &json!({ "message": "It is done." })));
        let config = format!(
            "name = \"{name}\"\nenvironment = {environment}\n\n[limits]\nsteps = 50\n\n[[evaluate.checks]]\n\
             type = \"file\"\npath = \"done.txt\"\nequals = \"done\\n\"\n"
        );
        for (file, text) in [
            ("benchmark.toml", config),
            ("dataset.jsonl", rows.collect()),
            (
                "instruction.md.j2",
                "Write done into done.txt ({{ instance_id }}).\n".to_owned(),
            ),
            ("answers.json", Value::from(answers).to_string()),
        ] {
            let path = folder.join(file);
            fs::write(&path, text).trying(format!("write {}", path.display()))?;
        }
        Ok(Self { folder, instances })
    }

    fn run(
        &self,
        lab: &Lab,
        workers: u32,
        docker_host: Option<String>,
    ) -> Result<(Measured, Vec<Trial>), Failure> {
        let out = self.folder.join("run");
        let mut command = Command::new(lab.agon()?);
        command
            .args(["bench", "run"])
            .arg(&self.folder)
            .arg("-l")
            .arg(format!("mock/turns:{}/answers.json", self.folder.display()))
            .args(["--eval-num-workers", &workers.to_string(), "--json"])
            .arg("--out")
            .arg(&out);
        if let Some(host) = docker_host {
            command.env("DOCKER_HOST", host);
        }
        let measured = measure(&mut command)?;
        let line = measured.stdout.lines().next_back().unwrap_or_default();
        let told: Value = serde_json::from_str(line).unwrap_or_default();
        if !measured.success || told["passed"] != self.instances {
            return Err(Failure::new(format!("not every instance passed: {line}")));
        }
        let trials = trials(&out)?;
        Ok((measured, trials))
    }

    fn remove(&self) -> Result<(), Failure> {
        fs::remove_dir_all(&self.folder).trying(format!("remove {}", self.folder.display()))
    }
}

fn call(name: &str, input: &Value) -> Value {
    json!({ "tool_calls": [{ "name": name, "input": input }] })
}

/// What a run folder tells about one of its trials.
struct Trial {
    agent: f64,
    environment: f64,
    harness: f64,
    events: u64,
    /// When the first command had ended, since the trial began.
    first_command: f64,
}

fn trials(run: &Path) -> Result<Vec<Trial>, Failure> {
    let read = |path: &Path| fs::read_to_string(path).trying(format!("read {}", path.display()));
    let lines = read(&run.join("trials.jsonl"))?;
    let mut trials = Vec::new();
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).trying("read trials.jsonl")?;
        let place = &line["events"];
        let number = |value: &Value| usize::try_from(value.as_u64().unwrap_or(0)).unwrap_or(0);
        let text = read(&run.join(place["file"].as_str().unwrap_or_default()))?;
        let at = number(&place["at"]);
        let events = &text[at..at + number(&place["bytes"])];
        let first = events
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .find(|event| event["observation"]["kind"] == "output")
            .and_then(|event| event["t"].as_f64());
        let seconds = |part: &str| line["seconds"][part].as_f64().unwrap_or(0.0);
        trials.push(Trial {
            agent: seconds("agent"),
            environment: seconds("environment"),
            harness: seconds("harness"),
            events: events.lines().count() as u64,
            first_command: first.ok_or_else(|| Failure::new("a trial ran no command"))?,
        });
    }
    Ok(trials)
}
