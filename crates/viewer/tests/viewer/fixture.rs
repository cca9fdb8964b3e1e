//! Run folders to test with, written by the store's own writer: small ones with every kind of trouble,
//! large ones, and broken ones.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_core::clock::FixedClock;
use agon_core::event::Phase;
use agon_core::verdict::{CheckResult, Outcome, TurnEnd, Verdict};
use agon_core::{
    Action, Digest, EventBody, Fault, FaultClass, Level, Money, Seconds, Source, TaskId, TimeSplit,
    TrialId, Usage,
};
use agon_store::{
    AgentStamp, EventsAt, HostStamp, Manifest, ModelStamp, Recorder, Review, ReviewVerdict,
    RunFolder, RunWriter, SuiteStamp, TaskStamp, TrialLine,
};
use agon_viewer::{Library, Run};
use jiff::Timestamp;
use tempfile::TempDir;

pub(crate) const BEGAN: &str = "2026-01-02T03:04:05Z";

/// A folder for runs, and one for what the viewer keeps.
pub(crate) struct Shelf {
    root: TempDir,
}

impl Shelf {
    pub(crate) fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("runs")).unwrap();
        Self { root }
    }

    pub(crate) fn runs(&self) -> PathBuf {
        self.root.path().join("runs")
    }

    pub(crate) fn cache(&self) -> PathBuf {
        self.root.path().join("cache")
    }

    /// A run folder that is not there yet.
    pub(crate) fn place(&self, name: &str) -> PathBuf {
        self.runs().join(name)
    }

    /// As a viewer that was just started sees it.
    pub(crate) fn library(&self) -> Library {
        Library::new(vec![self.runs()], self.cache()).unwrap()
    }

    pub(crate) fn run(&self, id: &str) -> Arc<Run> {
        self.library().run(id).unwrap()
    }
}

pub(crate) fn task_id(id: &str) -> TaskId {
    TaskId::parse(id).unwrap()
}

pub(crate) fn stamp(id: &str, level: Option<Level>) -> TaskStamp {
    TaskStamp {
        task: task_id(id),
        name: format!("The task {id}"),
        level,
        weight: level.map_or(1.0, Level::default_weight),
        steps: 10,
        seconds: Seconds::whole(60),
        environment: "local".to_owned(),
        network: false,
        image: None,
        key: Digest::of(id.as_bytes()),
        played: Digest::of(id.as_bytes()),
    }
}

pub(crate) fn manifest(epochs: u32, tasks: Vec<TaskStamp>) -> Manifest {
    let mut manifest = Manifest {
        format: 1,
        run: "20260102-030405-demo-oracle".to_owned(),
        created: BEGAN.parse().unwrap(),
        agon: "0.1.0".to_owned(),
        suites: vec![SuiteStamp {
            name: "demo".to_owned(),
            path: "suites/demo".to_owned(),
            digest: Digest::of(b"demo"),
        }],
        agent: AgentStamp {
            spec: "oracle".to_owned(),
            digest: None,
            unconfined: false,
            files: None,
        },
        models: vec![ModelStamp {
            name: "mock".to_owned(),
            provider: "mock".to_owned(),
            model: "mock".to_owned(),
            host: None,
            settings: Default::default(),
            tape: None,
        }],
        judge: None,
        seed: 7,
        epochs,
        dates_from: BEGAN.parse().unwrap(),
        plan: Digest::of(b"plan"),
        checkers: "1".to_owned(),
        selection: Default::default(),
        tasks,
        programs: Default::default(),
        host: HostStamp::default(),
    };
    manifest.plan = manifest.plan_digest();
    manifest
}

/// A final line; `score` decides between passed and failed.
pub(crate) fn graded(id: &str, epoch: u32, attempt: u32, score: f64) -> TrialLine {
    let reason = "expected `hello`, found nothing";
    let failed = CheckResult::plain("file greeting.txt", false, reason);
    let passed = score >= 1.0;
    let verdict = Verdict {
        passed,
        score,
        checks: if passed { Vec::new() } else { vec![failed] },
    };
    TrialLine {
        end: Some(TurnEnd::Finished),
        steps: 3,
        reason: if passed {
            String::new()
        } else {
            format!("file greeting.txt: {reason}")
        },
        ..ended(id, epoch, attempt, Ok(&verdict))
    }
}

pub(crate) fn faulted(id: &str, epoch: u32, attempt: u32, class: FaultClass) -> TrialLine {
    let fault = Fault::new(class, "the disk is gone");
    ended(id, epoch, attempt, Err(&fault))
}

fn ended(id: &str, epoch: u32, attempt: u32, result: Result<&Verdict, &Fault>) -> TrialLine {
    let task = task_id(id);
    let (events, key) = (EventsAt::default(), Digest::of(id.as_bytes()));
    let at = "2026-01-02T03:05:00Z".parse().unwrap();
    TrialLine {
        seconds: TimeSplit {
            agent: 1.5,
            environment: 0.4,
            harness: 0.1,
        },
        ..TrialLine::new(TrialId { task, epoch }, attempt, result, events, key, at)
    }
}

pub(crate) fn priced(line: TrialLine, input_tokens: u64, micros: Option<u64>) -> TrialLine {
    let usage = Usage {
        input_tokens,
        output_tokens: 345,
        calls: 7,
        money: micros.map(Money::from_micros),
        ..Usage::default()
    };
    TrialLine { usage, ..line }
}

/// A run that is being written.
pub(crate) struct Writing {
    pub(crate) folder: RunFolder,
    pub(crate) writer: RunWriter,
}

impl Writing {
    pub(crate) fn begin(path: &Path, manifest: &Manifest) -> Self {
        fs::create_dir_all(path).unwrap();
        let folder = RunFolder::at(path);
        folder.write_manifest(manifest).unwrap();
        let writer = RunWriter::open(&folder).unwrap();
        Self { folder, writer }
    }

    /// Records an attempt of as many steps as its line says, and what it came to.
    pub(crate) fn end(&self, mut line: TrialLine) {
        let clock = Arc::new(FixedClock(line.at));
        let (epoch, attempt) = (line.epoch, line.attempt);
        let mut record = Recorder::new(&self.writer, clock, &line.task, epoch, attempt);
        let mut put = |source, body| record.record(source, None, body).unwrap();
        put(Source::Harness, EventBody::Phase(Phase::Setup));
        put(Source::Harness, EventBody::Phase(Phase::Running));
        for step in 0..line.steps {
            let command = format!("echo {step}");
            let action = Action::Run {
                command,
                input: false,
                timeout: None,
                wait: None,
            };
            put(Source::Agent, EventBody::Action(action));
        }
        put(Source::Harness, EventBody::Phase(Phase::Frozen));
        let verdict = (line.outcome != Outcome::Faulted).then(|| verdict(&line));
        match (&verdict, &line.fault) {
            (Some(verdict), _) => {
                put(Source::Grader, EventBody::Verdict(verdict.clone()));
            }
            (None, Some(fault)) => {
                put(Source::Harness, EventBody::Fault(fault.clone()));
            }
            (None, None) => {}
        }
        line.events = record.finish(verdict.as_ref()).unwrap();
        self.writer.append_trial(&line).unwrap();
    }

    pub(crate) fn review(&self, line: &TrialLine, verdict: ReviewVerdict, who: &str) {
        review(&self.folder, line, verdict, who);
    }
}

fn verdict(line: &TrialLine) -> Verdict {
    let failed = line.failed_checks.iter();
    let mut checks: Vec<CheckResult> = failed
        .map(|name| CheckResult::plain(name, false, &line.reason))
        .collect();
    checks.push(CheckResult {
        tainted: line.tainted,
        integrity: line.integrity.clone(),
        value: line.measured,
        ..CheckResult::plain("file other.txt", true, "as expected")
    });
    Verdict {
        passed: line.outcome == Outcome::Passed,
        score: line.score,
        checks,
    }
}

pub(crate) fn review(folder: &RunFolder, line: &TrialLine, verdict: ReviewVerdict, who: &str) {
    let at: Timestamp = "2026-01-03T00:00:00Z".parse().unwrap();
    let review = Review::of(line, verdict, "looked at it", who, at);
    review.append(folder).unwrap();
}

/// Five tasks, two epochs: passes, failures, partial credit, faults, a retry, a rerun, tampering, a
/// missing trial, texts that try to break every page, and what people say about two of them.
pub(crate) fn small(path: &Path) -> Writing {
    let mut hostile = stamp("terminal/hostile", Some(Level::Silver));
    hostile.name = "<script>alert(1)</script> \u{202e}\x1b[31m".to_owned();
    let tasks = vec![
        stamp("files/copy", Some(Level::Paper)),
        stamp("files/rename", Some(Level::Wood)),
        hostile,
        stamp("web/search", Some(Level::Bronze)),
        stamp("dialogue/ask", None),
    ];
    let run = Writing::begin(path, &manifest(2, tasks));
    let wrong = graded("files/rename", 2, 1, 0.5);
    let unseen = graded("dialogue/ask", 1, 1, 0.0);
    let lines = [
        priced(graded("files/copy", 1, 1, 1.0), 12_000, Some(1_250_000)),
        priced(graded("files/copy", 2, 1, 1.0), 900, None),
        TrialLine {
            is_final: false,
            ..faulted("files/rename", 1, 1, FaultClass::Start)
        },
        TrialLine {
            retried: true,
            ..graded("files/rename", 1, 2, 1.0)
        },
        wrong.clone(),
        TrialLine {
            reason: "]]></p>\"'&\n<img src=x onerror=alert(1)> \x1b]0;t\x07 \u{202e}evil"
                .to_owned(),
            failed_checks: vec!["<b>bold, check</b>".to_owned(), "answer".to_owned()],
            integrity: Some("a forged verdict <on> stdout".to_owned()),
            tainted: true,
            ..graded("terminal/hostile", 1, 1, 0.0)
        },
        faulted("terminal/hostile", 2, 1, FaultClass::Check),
        TrialLine {
            is_final: false,
            ..graded("web/search", 1, 1, 0.0)
        },
        TrialLine {
            rerun: true,
            regraded: true,
            played_in: Some(1),
            end: Some(TurnEnd::Operator),
            ..graded("web/search", 1, 2, 1.0)
        },
        faulted("web/search", 2, 1, FaultClass::NeedsJudge),
        unseen.clone(),
    ];
    let began: Timestamp = BEGAN.parse().unwrap();
    for (n, line) in lines.into_iter().enumerate() {
        let at = began + jiff::SignedDuration::from_secs(10 * (n as i64 + 1));
        run.end(TrialLine { at, ..line });
    }
    run.review(&wrong, ReviewVerdict::Pass, "anna");
    run.review(&unseen, ReviewVerdict::Fail, "");
    run
}

/// The line of a number: every kind comes up, in no regular order.
pub(crate) fn nth_line(n: u32) -> TrialLine {
    let id = nth_task(n);
    let luck = n.wrapping_mul(2_654_435_761) >> 8;
    let at: Timestamp = BEGAN.parse().unwrap();
    let mut line = match luck % 10 {
        0 => faulted(&id, 1, 1, FaultClass::Environment),
        1..=5 => graded(&id, 1, 1, 1.0),
        6 => graded(&id, 1, 1, 0.5),
        _ => graded(&id, 1, 1, 0.0),
    };
    line.steps = luck % 50;
    line.seconds.agent = f64::from(luck % 6_000) / 10.0;
    line.tainted = luck.is_multiple_of(31);
    if line.outcome == Outcome::Failed {
        line.reason = format!("command_output ls: line {n} of it is not what was expected");
        line.failed_checks = vec![format!("command_output {}", luck % 17)];
    }
    line.at = at + jiff::SignedDuration::from_secs(i64::from(n));
    priced(
        line,
        u64::from(luck % 100_000),
        Some(u64::from(luck % 900_000)),
    )
}

fn nth_task(n: u32) -> String {
    const CATEGORIES: [&str; 7] = ["files", "web", "mail", "office", "games", "code", "search"];
    format!("{}/task-{n:05}", CATEGORIES[n as usize % 7])
}

/// As many tasks, each played once.
pub(crate) fn big(path: &Path, trials: u32) -> Writing {
    let level = |n: u32| Level::ALL.get(n as usize % 6).copied();
    let tasks = (0..trials).map(|n| stamp(&nth_task(n), level(n))).collect();
    let run = Writing::begin(path, &manifest(1, tasks));
    for n in 0..trials {
        let mut line = nth_line(n);
        line.events = run.writer.no_events().unwrap();
        run.writer.append_trial(&line).unwrap();
    }
    run
}

/// Runs that can't be read, or not wholly: `text`, `newer`, `later`, `empty`, `torn`, `middle`.
pub(crate) fn broken(runs: &Path) {
    let manifest_only = |name: &str, text: &str| {
        fs::create_dir_all(runs.join(name)).unwrap();
        fs::write(runs.join(name).join("run.json"), text).unwrap();
    };
    manifest_only("text", "this is no manifest");
    manifest_only("newer", r#"{"format":99}"#);
    // Of a later version, which still says most things in the same words.
    let later = small(&runs.join("later")).folder.manifest_file();
    let text = fs::read_to_string(&later).unwrap();
    let text = text.replacen(
        "\"format\": 1",
        "\"format\": 99, \"colour\": {\"a\": [1]}",
        1,
    );
    fs::write(&later, text).unwrap();
    let empty = manifest(1, vec![stamp("files/copy", None)]);
    manifest_only("empty", &serde_json::to_string(&empty).unwrap());
    let torn = small(&runs.join("torn")).folder.trials_file();
    let text = fs::read(&torn).unwrap();
    fs::write(&torn, &text[..text.len() - 10]).unwrap();
    let middle = small(&runs.join("middle")).folder.trials_file();
    let text = fs::read_to_string(&middle).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1] = "{\"task\": \"files/copy\", \u{202e} what?";
    fs::write(&middle, lines.join("\n") + "\n").unwrap();
}
