//! A suite of small desktop tasks, and what a trial of one left.

use agon::core::observation::ObservationKind;
use agon::core::screen::ScreenView;
use agon::core::{Action, InputEvent, Observation};
use agon::prelude::{Event, EventBody, TrialLine};
use serde_json::{Value, json};

use crate::support::{Bench, Called};

/// The screen of most tasks here: small ones are encoded sooner.
pub(super) const SIZE: (i32, i32) = (320, 240);

pub(super) const TERMINAL: &str = "xterm -geometry 40x10+0+0";

/// The beginning of a Python program that speaks to the X server by itself: `x` is the connection,
/// `get` reads from it, `base` is the first number for its own things.
pub(super) const CLIENT: &str = r#"
import os, socket, struct
data = open(os.environ["XAUTHORITY"], "rb").read()[-16:]
name = b"MIT-MAGIC-COOKIE-1"
x = socket.socket(socket.AF_UNIX)
x.connect("/tmp/.X11-unix/X4242")
x.settimeout(20)
x.sendall(struct.pack("<BxHHHHxx", 0x6c, 11, 0, len(name), len(data)) + name + b"\0\0" + data)
def get(count):
    got = b""
    while len(got) < count:
        more = x.recv(count - len(got))
        if not more: raise SystemExit("the server is gone")
        got += more
    return got
head = get(8)
setup = get(4 * struct.unpack("<H", head[6:8])[0])
assert head[0] == 1
base, vendor, formats = struct.unpack("<I", setup[4:8])[0], *struct.unpack("<H", setup[16:18]), setup[21]
root = struct.unpack("<I", setup[32 + (vendor + 3) // 4 * 4 + 8 * formats:][:4])[0]
"#;

pub(super) struct Room {
    pub(super) bench: Bench,
}

impl Room {
    pub(super) fn new() -> Self {
        Self {
            bench: Bench::new(),
        }
    }

    /// A room with one task that is played by its solution.
    pub(super) fn played(actions: &Value, changes: &Value) -> Played {
        let room = Self::new();
        room.task("a", actions, changes);
        room.play(&[]).expect(0);
        room.trial("a")
    }

    pub(super) fn task(&self, id: &str, actions: &Value, changes: &Value) {
        let yaml = task(actions, changes).to_string();
        self.bench.suite(&[(id, &yaml)]);
    }

    /// Plays the solutions, each once unless told otherwise.
    pub(super) fn play(&self, args: &[&str]) -> Called {
        let mut all = vec!["--agent", "oracle", "--retries", "0"];
        all.extend(args);
        self.bench.run(&all)
    }

    /// The final trial of a task that was played once.
    pub(super) fn trial(&self, id: &str) -> Played {
        let mut trials = self.bench.trials();
        trials.retain(|line| line.is_final && line.task.id() == id);
        assert_eq!(trials.len(), 1, "{trials:?}");
        let line = trials.remove(0);
        let events = self.bench.reader().events(&line).unwrap();
        Played { line, events }
    }
}

/// A task with a terminal on a small screen. It passes when `done.txt` says `done`.
pub(super) fn task(actions: &Value, changes: &Value) -> Value {
    let (width, height) = SIZE;
    let mut task = json!({
        "task": "Write done to done.txt.",
        "environment": {
            "kind": "desktop", "screen": format!("{width}x{height}"), "apps": [TERMINAL],
        },
        "limits": { "steps": 50, "seconds": 120 },
        "checks": [{ "type": "file", "path": "done.txt", "equals": "done\n" }],
        "solution": actions,
    });
    merge(&mut task, changes);
    task
}

/// Objects are merged, everything else is replaced.
fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from.clone(),
    }
}

/// What became of a task.
pub(super) struct Played {
    pub(super) line: TrialLine,
    pub(super) events: Vec<Event>,
}

/// An action, what the X server saw of it, and what came of it.
pub(super) struct Step<'a> {
    pub(super) action: &'a Action,
    pub(super) input: Vec<&'a InputEvent>,
    pub(super) seen: &'a Observation,
    /// From the action to what was seen.
    pub(super) took: f64,
}

impl Played {
    /// Those that were carried out and seen, in order.
    pub(super) fn steps(&self) -> Vec<Step<'_>> {
        self.events
            .iter()
            .filter_map(|event| {
                let EventBody::Action(action) = &event.body else {
                    return None;
                };
                let caused = || self.events.iter().filter(|it| it.cause == Some(event.seq));
                let (t, seen) = caused().find_map(|it| match &it.body {
                    EventBody::Observation(seen) => Some((it.t, seen)),
                    _ => None,
                })?;
                let input = caused().filter_map(|it| match &it.body {
                    EventBody::Input(input) => Some(input),
                    _ => None,
                });
                Some(Step {
                    action,
                    input: input.flatten().collect(),
                    seen,
                    took: t - event.t,
                })
            })
            .collect()
    }
}

impl Step<'_> {
    #[track_caller]
    pub(super) fn screen(&self) -> &ScreenView {
        self.seen.screen.as_ref().unwrap()
    }

    #[track_caller]
    pub(super) fn cursor(&self) -> (i32, i32) {
        let at = self.screen().cursor.unwrap();
        (at.x, at.y)
    }

    /// It could not be done, and this is why.
    #[track_caller]
    pub(super) fn error(&self) -> &str {
        assert_eq!(self.seen.kind, ObservationKind::Error, "{:?}", self.seen);
        self.screen();
        &self.seen.text
    }

    #[track_caller]
    pub(super) fn done(&self) {
        assert_eq!(self.seen.kind, ObservationKind::Done, "{:?}", self.seen);
        self.screen();
    }
}

/// What makes the tasks here pass.
pub(super) fn write_done() -> Value {
    json!({ "action": "type", "text": "echo done > done.txt\n" })
}

/// Long enough for a shell to do what it was told.
pub(super) fn moment() -> Value {
    json!({ "action": "wait", "seconds": 0.5 })
}

/// From here on the record of the trial is written as it goes: the first second is kept back.
pub(super) fn written() -> Value {
    json!({ "action": "wait", "seconds": 1.1 })
}
