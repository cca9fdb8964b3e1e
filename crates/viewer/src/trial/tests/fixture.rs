//! Run folders with one attempt whose record is written by hand, as a crash, a later version or an attacker
//! may leave it.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use agon_core::{Digest, Seconds, TaskId, TrialId, Verdict};
use agon_store::{
    AgentStamp, EventsAt, HostStamp, Manifest, RunFolder, RunWriter, TaskStamp, TrialLine,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::library::{Library, Run};
use crate::shape::TrialKey;

const HEADER: &str = "{\"format\":1}\n";

pub(super) struct Shelf {
    root: TempDir,
    pub(super) events: Vec<u8>,
    seq: u64,
    t: f64,
}

impl Shelf {
    pub(super) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let shelf = Self {
            root,
            events: Vec::new(),
            seq: 0,
            t: 0.0,
        };
        fs::create_dir_all(shelf.file().parent().unwrap()).unwrap();
        shelf.folder().write_manifest(&manifest()).unwrap();
        shelf
    }

    pub(super) fn folder(&self) -> RunFolder {
        RunFolder::at(self.root.path().join("run"))
    }

    pub(super) fn file(&self) -> PathBuf {
        self.folder().path().join("trials/a/b/1.1/events.jsonl")
    }

    /// Adds an event, a tenth of a second after the last one; returns its number.
    pub(super) fn event(
        &mut self,
        source: &str,
        kind: &str,
        cause: Option<u64>,
        body: Value,
    ) -> u64 {
        let mut event = json!({
            "seq": self.seq, "t": self.t, "at": "2026-01-02T03:04:05Z", "source": source, "kind": kind,
        });
        if let Some(cause) = cause {
            event["cause"] = cause.into();
        }
        event[kind] = body;
        self.line(&event.to_string());
        self.seq += 1;
        self.t += 0.125;
        self.seq - 1
    }

    pub(super) fn line(&mut self, line: &str) {
        self.events.extend_from_slice(line.as_bytes());
        self.events.push(b'\n');
    }

    pub(super) fn agent(&mut self, kind: &str, body: Value) -> u64 {
        self.event("agent", kind, None, body)
    }

    /// An observation with a screen.
    pub(super) fn seen(&mut self, cause: u64, picture: &str) -> u64 {
        let body = json!({"kind": "done", "text": "", "screen": screen(picture)});
        self.event("environment", "observation", Some(cause), body)
    }

    /// Writes the record as far as it is; nothing of it counts yet.
    pub(super) fn write(&self) {
        let mut file = fs::File::create(self.file()).unwrap();
        file.write_all(HEADER.as_bytes()).unwrap();
        file.write_all(&self.events).unwrap();
    }

    /// Writes the line that points to it, too. `more`: bytes that the record is said to have beyond its own.
    pub(super) fn ended(&self, more: u64) -> Arc<Run> {
        self.write();
        let line = TrialLine {
            events: EventsAt {
                file: "trials/a/b/1.1/events.jsonl".to_owned(),
                at: HEADER.len() as u64,
                bytes: self.events.len() as u64 + more,
                verdict: None,
            },
            ..line()
        };
        self.append(&line);
        self.run()
    }

    pub(super) fn append(&self, line: &TrialLine) {
        let writer = RunWriter::open(&self.folder()).unwrap();
        writer.append_trial(line).unwrap();
    }

    pub(super) fn run(&self) -> Arc<Run> {
        let roots = vec![self.root.path().join("run")];
        let library = Library::new(roots, self.root.path().join("cache")).unwrap();
        library.run("run").unwrap()
    }
}

pub(super) fn key() -> TrialKey {
    TrialKey {
        task: "a/b".to_owned(),
        epoch: 1,
        attempt: 1,
    }
}

/// As it is recorded; there is no such picture.
pub(super) fn screen(picture: &str) -> Value {
    json!({
        "width": 640, "height": 480, "cursor": {"x": 1, "y": 2},
        "window": {"title": "A window", "class": "W", "x": 0, "y": 0, "width": 9, "height": 9},
        "picture": {"format": "png", "blob": Digest::of(picture.as_bytes()), "bytes": 7},
    })
}

pub(super) fn blob(picture: &str) -> Option<String> {
    Some(Digest::of(picture.as_bytes()).to_hex())
}

pub(super) fn line() -> TrialLine {
    let trial = TrialId {
        task: TaskId::parse("a/b").unwrap(),
        epoch: 1,
    };
    let verdict = Verdict {
        passed: true,
        score: 1.0,
        checks: Vec::new(),
    };
    let (events, key) = (EventsAt::default(), Digest::of(b"key"));
    let at = "2026-01-02T03:05:00Z".parse().unwrap();
    TrialLine {
        steps: 1,
        ..TrialLine::new(trial, 1, Ok(&verdict), events, key, at)
    }
}

fn manifest() -> Manifest {
    let began = "2026-01-02T03:04:05Z".parse().unwrap();
    let task = |id: &str| TaskStamp {
        task: TaskId::parse(id).unwrap(),
        name: format!("The task {id}"),
        level: None,
        weight: 1.0,
        steps: 10,
        seconds: Seconds::whole(60),
        environment: "desktop".to_owned(),
        network: false,
        image: None,
        key: Digest::of(b"key"),
        played: Digest::of(b"played"),
    };
    Manifest {
        format: 1,
        run: "run".to_owned(),
        created: began,
        agon: "0.1.0".to_owned(),
        suites: Vec::new(),
        agent: AgentStamp {
            spec: "oracle".to_owned(),
            digest: None,
            unconfined: false,
            files: None,
        },
        models: Vec::new(),
        judge: None,
        seed: 0,
        epochs: 1,
        dates_from: began,
        plan: Digest::of(b"plan"),
        checkers: "1".to_owned(),
        selection: Default::default(),
        tasks: vec![task("a/b"), task("a/c")],
        programs: Default::default(),
        host: HostStamp::default(),
    }
}
