//! A run with an innocent task beside the hostile ones, and what must hold for every such run.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use agon::core::verdict::{Outcome, TurnEnd};
use agon::prelude::{Event, EventBody, TrialLine};
use serde_json::{Value, json};

use crate::support::{Bench, Called};

/// What `agon` itself may take, however much its agents say.
const MOST_MEMORY_KIB: u64 = 300 << 10;

/// Runs a program and notes the most memory that it had, which the kernel forgets with its end.
const METER: &str = r#"
import re, subprocess, sys
child, peak = subprocess.Popen(sys.argv[2:]), 0
while True:
    try:
        status = open(f"/proc/{child.pid}/status").read()
        peak = max([peak, *map(int, re.findall(r"VmHWM:\s*(\d+)", status))])
    except OSError:
        pass
    try:
        code = child.wait(0.02)
        break
    except subprocess.TimeoutExpired:
        pass
open(sys.argv[1], "w").write(str(peak))
sys.exit(code)
"#;

/// What every agent of these tests knows. It solves the innocent task; what comes after this is
/// what it does in the hostile ones.
const MANNERS: &str = r#"
import json, os, sys, time

def hear():
    return json.loads(sys.stdin.readline())

def say(action, **more):
    os.write(1, (json.dumps({"action": action, **more}) + "\n").encode())

def solve():
    hear()
    say("run", command="echo hello > greeting.txt")

task = hear()["task"]
if task["instruction"].startswith("Innocent"):
    solve()
    hear()
    say("finish")
    sys.exit()
"#;

pub(super) struct Arena {
    bench: Bench,
    /// Stands in the command line of every process that must not be left.
    pub(super) marker: String,
}

/// What became of a hostile task.
pub(super) struct Played {
    pub(super) line: TrialLine,
    pub(super) events: Vec<Event>,
    pub(super) folder: PathBuf,
}

impl Arena {
    /// An arena with an innocent task, which is played beside the hostile ones.
    pub(super) fn new() -> Self {
        let bench = Bench::new();
        let marker = bench.path("marker").display().to_string().replace('/', "_");
        let arena = Self { bench, marker };
        arena.task("innocent", greeting("Innocent"));
        arena
    }

    pub(super) fn task(&self, id: &str, task: Value) {
        let text = task.to_string().replace("MARKER", &self.marker);
        self.bench
            .write(&format!("suite/test/{id}/task.yaml"), &text);
    }

    /// A file of a task's own, such as `verify/check.sh`.
    pub(super) fn file(&self, id: &str, name: &str, content: &str) -> PathBuf {
        self.bench
            .write(&format!("suite/test/{id}/{name}"), content)
    }

    /// Plays the solutions of the tasks.
    pub(super) fn play_solutions(&self) -> Vec<Played> {
        self.play("oracle")
    }

    /// Plays a Python agent with manners.
    pub(super) fn play_agent(&self, kind: &str, misdeeds: &str) -> Vec<Played> {
        self.play_program(kind, &format!("{MANNERS}\n{misdeeds}"))
    }

    pub(super) fn play_program(&self, kind: &str, program: &str) -> Vec<Played> {
        self.bench.write("agents/agent.py", program);
        let marker = &self.marker;
        self.play(&format!("{kind}/usr/bin/python3 agents/agent.py {marker}"))
    }

    /// Plays the run, and gives the hostile trials in order of their ids.
    fn play(&self, agent: &str) -> Vec<Played> {
        let peak = self.bench.path("peak");
        let agon = self.bench.agon(&[
            "run",
            "suite",
            "--out",
            "run",
            "--json",
            "--workers",
            "4",
            "--agent",
            agent,
        ]);
        let mut metered = Command::new("/usr/bin/python3");
        metered.args(["-c", METER]).arg(&peak);
        metered.arg(agon.get_program()).args(agon.get_args());
        metered.current_dir(agon.get_current_dir().unwrap());
        let called = Called(metered.stdin(Stdio::null()).output().unwrap()).expect(0);

        assert_eq!(alive(&self.marker), Vec::<String>::new(), "{agent}");
        let peak: u64 = fs::read_to_string(peak).unwrap().parse().unwrap();
        assert!(peak > 0 && peak < MOST_MEMORY_KIB, "{peak} KiB");
        assert_eq!(called.json()["faulted"], 0, "{}", called.stderr());

        let reader = self.bench.reader();
        let (mut innocent, mut hostile) = (false, Vec::new());
        for line in reader.trials().unwrap() {
            assert!(line.is_final, "nothing was tried again: {line:?}");
            if line.task.to_string() == "test/innocent" {
                assert_eq!(line.outcome, Outcome::Passed, "{line:?}");
                innocent = true;
            } else {
                hostile.push(Played {
                    events: reader.events(&line).unwrap(),
                    folder: self.bench.path("run").join(format!(
                        "trials/{}/{}.{}",
                        line.task, line.epoch, line.attempt
                    )),
                    line,
                });
            }
        }
        assert!(innocent);
        hostile.sort_by_key(|played| played.line.task.to_string());
        hostile
    }
}

impl Played {
    #[track_caller]
    pub(super) fn ended(&self, outcome: Outcome, end: TurnEnd) {
        let line = &self.line;
        assert_eq!((line.outcome, line.end), (outcome, Some(end)), "{line:?}");
    }

    /// The texts of all observations, in order.
    pub(super) fn seen(&self) -> Vec<&str> {
        self.events
            .iter()
            .filter_map(|event| match &event.body {
                EventBody::Observation(seen) => Some(seen.text.as_str()),
                _ => None,
            })
            .collect()
    }

    pub(super) fn refused(&self) -> Vec<&str> {
        self.events
            .iter()
            .filter_map(|event| match &event.body {
                EventBody::Refused(text) => Some(text.as_str()),
                _ => None,
            })
            .collect()
    }

    pub(super) fn notes(&self) -> String {
        let notes = self.events.iter().filter_map(|event| match &event.body {
            EventBody::Note(text) => Some(text.as_str()),
            _ => None,
        });
        notes.collect::<Vec<_>>().join("\n")
    }
}

/// A task that is solved by one file, whose first word tells agents what they are in.
pub(super) fn greeting(word: &str) -> Value {
    json!({
        "task": format!("{word}: write hello to greeting.txt."),
        "checks": [{ "type": "file", "path": "greeting.txt", "equals": "hello\n" }],
        "solution": [{ "action": "run", "command": "echo hello > greeting.txt" }],
    })
}

/// A hostile one, with other keys.
pub(super) fn task(changes: &Value) -> Value {
    changed(greeting("Hostile"), changes)
}

/// A task whose solution is these commands.
pub(super) fn commands(commands: &[&str], changes: &Value) -> Value {
    let actions: Vec<_> = commands
        .iter()
        .map(|command| json!({ "action": "run", "command": command }))
        .collect();
    changed(task(&json!({ "solution": actions })), changes)
}

fn changed(mut task: Value, changes: &Value) -> Value {
    for (key, value) in changes.as_object().unwrap() {
        task[key] = value.clone();
    }
    task
}

/// Command lines of the machine's processes that contain the marker.
pub(super) fn alive(marker: &str) -> Vec<String> {
    fs::read_dir("/proc")
        .unwrap()
        .flatten()
        .filter_map(|entry| fs::read(entry.path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(marker))
        .collect()
}
