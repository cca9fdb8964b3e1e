//! The game, and what a trial of it left.

use agon::core::screen::{ScreenMoment, ScreenRecord};
use agon::core::{InputEvent, InputKind, Look, PlayStats};
use agon::prelude::{Event, EventBody, TrialLine};
use serde_json::{Value, json};

use crate::support::{Bench, Called};

/// Over from the beginning, as if played before. Space begins it; every other key is a point, and the
/// game is over when there are enough.
const GAME: &str = r#"
title() { printf '\033]0;%s\007' "$1"; }
title 'GAME OVER'
while :; do
  IFS= read -rsn1 key
  [ "$key" = ' ' ] || continue
  n=0
  title 'GAME running'
  while [ $n -lt $1 ] && IFS= read -rsn1 key; do n=$((n + 1)); echo $n >score; done
  title 'GAME OVER'
done
"#;

pub(super) struct Arena {
    pub(super) bench: Bench,
}

impl Arena {
    pub(super) fn new() -> Self {
        Self {
            bench: Bench::new(),
        }
    }

    pub(super) fn play(&self, agent: &str, changes: &Value) -> Called {
        self.bench.suite(&[("a", &task(changes).to_string())]);
        self.bench.run(&["--agent", agent, "--retries", "0"])
    }

    pub(super) fn trial(&self) -> Played {
        let line = self.bench.trial();
        let events = self.bench.reader().events(&line).unwrap();
        Played { line, events }
    }
}

/// Won with ten points.
pub(super) fn task(changes: &Value) -> Value {
    let mut task = json!({
        "task": "Press keys until the game is over.",
        "environment": {
            "kind": "desktop", "screen": "320x240",
            "apps": ["xterm -geometry 40x10+0+0 -e bash game.sh 10"],
        },
        "setup_cmd": format!("cat >game.sh <<'END'\n{GAME}END"),
        "realtime": {
            "window": "GAME", "begin": "space", "interval": "100ms",
            "ends": [{ "type": "window", "title": "GAME OVER" }],
        },
        "limits": { "seconds": 60 },
        "checks": [
            { "type": "file", "path": "score", "equals": "10\n" },
            { "type": "window", "title": "GAME OVER" },
            { "type": "process", "app": "xterm", "alive": true },
        ],
        "solution": { "player": "one-key:a" },
    });
    merge(&mut task, changes);
    task
}

/// Objects are merged, null removes, everything else is replaced.
fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                if value.is_null() {
                    into.remove(key);
                } else {
                    merge(into.entry(key).or_insert(Value::Null), value);
                }
            }
        }
        (into, from) => *into = from.clone(),
    }
}

pub(super) struct Played {
    pub(super) line: TrialLine,
    pub(super) events: Vec<Event>,
}

impl Played {
    pub(super) fn screens(&self, what: ScreenMoment) -> Vec<&ScreenRecord> {
        let screens = self.events.iter().filter_map(|event| match &event.body {
            EventBody::Screen(record) if record.what == what => Some(record),
            _ => None,
        });
        screens.collect()
    }

    pub(super) fn looks(&self) -> Vec<&Look> {
        let looks = self.events.iter().filter_map(|event| match &event.body {
            EventBody::Look(look) => Some(look),
            _ => None,
        });
        looks.collect()
    }

    pub(super) fn notes(&self) -> Vec<&str> {
        let notes = self.events.iter().filter_map(|event| match &event.body {
            EventBody::Note(note) => Some(note.as_str()),
            _ => None,
        });
        notes.collect()
    }

    #[track_caller]
    pub(super) fn stats(&self) -> &PlayStats {
        let mut stats = self.events.iter().filter_map(|event| match &event.body {
            EventBody::Play(stats) => Some(stats),
            _ => None,
        });
        let found = stats.next().unwrap();
        assert!(stats.next().is_none());
        found
    }

    /// How often a key went down and up.
    pub(super) fn strokes(&self, key: &str) -> (usize, usize) {
        let input = self.events.iter().filter_map(|event| match &event.body {
            EventBody::Input(input) => Some(input),
            _ => None,
        });
        let of_key: Vec<&InputEvent> = input
            .flatten()
            .filter(|event| event.key.as_deref() == Some(key))
            .collect();
        let count = |kind| of_key.iter().filter(|event| event.kind == kind).count();
        (count(InputKind::KeyPress), count(InputKind::KeyRelease))
    }
}
