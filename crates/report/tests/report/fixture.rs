//! Runs made by hand: a small one with every kind of trouble, and parts to build others.

use agon_core::verdict::{TurnEnd, Verdict};
use agon_core::{
    Digest, Fault, FaultClass, Level, Money, Seconds, TaskId, TimeSplit, TrialId, Usage,
};
use agon_store::{
    AgentStamp, EventsAt, HostStamp, Manifest, ModelStamp, SuiteStamp, TaskStamp, TrialLine,
};

pub(crate) fn manifest(epochs: u32, tasks: Vec<TaskStamp>) -> Manifest {
    Manifest {
        format: 1,
        run: "20260102-030405-demo-oracle".to_owned(),
        created: "2026-01-02T03:04:05Z".parse().unwrap(),
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
        models: Vec::new(),
        judge: None,
        seed: 7,
        epochs,
        dates_from: "2026-01-02T03:04:05Z".parse().unwrap(),
        plan: Digest::of(b"plan"),
        checkers: "1".to_owned(),
        selection: Default::default(),
        tasks,
        programs: std::collections::BTreeMap::new(),
        host: HostStamp {
            os: "Debian 12".to_owned(),
            kernel: "6.1".to_owned(),
            cpus: 2,
            memory_mib: 4096,
            limits: "cgroup v2 (memory, pids)".to_owned(),
            engines: vec!["bubblewrap 0.8.0".to_owned()],
        },
    }
}

pub(crate) fn model(name: &str) -> ModelStamp {
    ModelStamp {
        name: name.to_owned(),
        provider: "mock".to_owned(),
        model: name.to_owned(),
        host: None,
        settings: std::collections::BTreeMap::new(),
        tape: None,
    }
}

pub(crate) fn task(id: &str, level: Option<Level>) -> TaskStamp {
    TaskStamp {
        task: TaskId::parse(id).unwrap(),
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

/// A final line; `score` decides between passed and failed.
pub(crate) fn graded(id: &str, epoch: u32, score: f64) -> TrialLine {
    let verdict = Verdict {
        passed: score >= 1.0,
        score,
        checks: Vec::new(),
    };
    TrialLine {
        end: Some(TurnEnd::Finished),
        steps: 3,
        reason: if verdict.passed {
            String::new()
        } else {
            "file greeting.txt: expected `hello`, found nothing".to_owned()
        },
        ..ended(id, epoch, Ok(&verdict))
    }
}

pub(crate) fn faulted(id: &str, epoch: u32, class: FaultClass, message: &str) -> TrialLine {
    ended(id, epoch, Err(&Fault::new(class, message)))
}

fn ended(id: &str, epoch: u32, result: Result<&Verdict, &Fault>) -> TrialLine {
    let task = TaskId::parse(id).unwrap();
    let events = EventsAt {
        file: "trials/segments/0.jsonl".to_owned(),
        at: 0,
        bytes: 100,
        verdict: None,
    };
    let key = Digest::of(id.as_bytes());
    let at = "2026-01-02T03:05:00Z".parse().unwrap();
    TrialLine {
        seconds: TimeSplit {
            agent: 1.5,
            environment: 0.4,
            harness: 0.1,
        },
        ..TrialLine::new(TrialId { task, epoch }, 1, result, events, key, at)
    }
}

/// Two games, four epochs: what was measured in one of them varies, and one trial faulted.
pub(crate) fn games() -> (Manifest, Vec<TrialLine>) {
    let mut manifest = manifest(
        4,
        vec![
            task("arena/hexagon", Some(Level::Wood)),
            task("arena/maze", Some(Level::Wood)),
            task("files/copy", Some(Level::Paper)),
        ],
    );
    manifest.run = "20260104-000000-arena-hexagon".to_owned();
    let measured = |id: &str, epoch, value: f64| TrialLine {
        measured: Some(value),
        end: Some(TurnEnd::WorldEnded),
        ..graded(id, epoch, f64::from(u8::from(value > 5.0)))
    };
    let lines = vec![
        measured("arena/hexagon", 1, 2.26),
        measured("arena/hexagon", 2, 12.34),
        measured("arena/hexagon", 3, 7.7),
        measured("arena/hexagon", 4, 60.0),
        measured("arena/maze", 1, 1250.0),
        TrialLine {
            // A fault has measured nothing, whatever stands there.
            measured: Some(1e9),
            ..faulted("arena/maze", 2, FaultClass::Start, "no game")
        },
        measured("arena/maze", 3, f64::NAN),
        graded("files/copy", 1, 1.0),
    ];
    (manifest, lines)
}

/// Six tasks, two epochs: passes, failures, partial credit, faults, a retry, a rerun, tampering, a
/// missing trial, an unconfined agent, an open network and texts that try to break every format.
pub(crate) fn troubled() -> (Manifest, Vec<TrialLine>) {
    let mut hostile = task("terminal/hostile", Some(Level::Silver));
    hostile.name = "=cmd|' /C calc'!A0 \x1b[31m<script>alert(1)</script>\u{202e}".to_owned();
    let mut online = task("web/search", Some(Level::Bronze));
    online.network = true;
    let mut manifest = manifest(
        2,
        vec![
            task("files/copy", Some(Level::Paper)),
            task("files/rename", Some(Level::Wood)),
            task("terminal/greet", Some(Level::Paper)),
            hostile,
            online,
            task("dialogue/ask", None),
        ],
    );
    manifest.agent.spec = "cmd-host:python3 agent.py --name \"<b>\"".to_owned();
    manifest.agent.unconfined = true;
    let priced = |mut line: TrialLine, money: Option<u64>| {
        line.usage = Usage {
            input_tokens: 12_000,
            output_tokens: 345,
            money: money.map(Money::from_micros),
            ..Usage::default()
        };
        line
    };
    let asked = |line: TrialLine| {
        let mut line = priced(line, Some(1_250_000));
        line.usage.cached_tokens = 8_000;
        line.usage.reasoning_tokens = 45;
        line.usage.calls = 7;
        line.usage.unpriced_calls = 2;
        line
    };
    let lines = vec![
        graded("files/copy", 1, 1.0),
        TrialLine {
            steps: 4,
            ..graded("files/copy", 2, 1.0)
        },
        TrialLine {
            is_final: false,
            ..faulted(
                "files/rename",
                1,
                FaultClass::Start,
                "bubblewrap did not start",
            )
        },
        TrialLine {
            attempt: 2,
            retried: true,
            ..graded("files/rename", 1, 1.0)
        },
        TrialLine {
            steps: 9,
            ..graded("files/rename", 2, 0.5)
        },
        asked(graded("terminal/greet", 1, 1.0)),
        TrialLine {
            end: Some(TurnEnd::StepLimit),
            steps: 10,
            ..priced(graded("terminal/greet", 2, 0.0), None)
        },
        TrialLine {
            reason: "]]></failure>\"'&\n| @all `x` \x1b]0;title\x07 \u{202e}evil".to_owned(),
            integrity: Some("a forged verdict <on> stdout".to_owned()),
            tainted: true,
            ..graded("terminal/hostile", 1, 0.0)
        },
        faulted(
            "terminal/hostile",
            2,
            FaultClass::Check,
            "=1+1 the check\x1b[2J could not run:\n<no such file>",
        ),
        TrialLine {
            attempt: 2,
            rerun: true,
            ..graded("web/search", 1, 1.0)
        },
        faulted(
            "web/search",
            2,
            FaultClass::Start,
            "the image could not be pulled, log in first",
        ),
        graded("dialogue/ask", 1, 0.0),
    ];
    (manifest, lines)
}
