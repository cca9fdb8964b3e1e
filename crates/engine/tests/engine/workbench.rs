//! The tools of an agent in a real sandbox: its shell and its files.

use std::time::Duration;

use agon_core::observation::ObservationKind;
use agon_core::{
    Action, ByteSize, Environment, EnvironmentKind, Limits, Observation, PictureFormat, Seconds,
};
use agon_engine::{Tools, Workbench};
use agon_sandbox::container::ContainerProvider;
use agon_sandbox::{LocalConfig, LocalProvider, Owner, Provider, Request, Sandbox};
use serde_json::{Value, json};
use tokio::time::Instant;

const WITHIN: Duration = Duration::from_secs(60);

pub(crate) struct Bench {
    pub(crate) workbench: Workbench,
    pub(crate) sandbox: Box<dyn Sandbox>,
    _provider: Box<dyn Provider>,
    _logs: tempfile::TempDir,
}

/// Commands may be silent for half a second.
pub(crate) fn limits() -> Limits {
    Limits {
        quiet: Seconds::millis(500),
        view: ByteSize(2000),
        ..Limits::default()
    }
}

impl Bench {
    pub(crate) async fn new() -> Self {
        Self::with(limits(), None).await
    }

    pub(crate) async fn with(limits: Limits, cwd: Option<&str>) -> Self {
        let environment = Environment::of_kind(EnvironmentKind::Local);
        Self::local(environment, limits, cwd).await
    }

    pub(crate) async fn local(environment: Environment, limits: Limits, cwd: Option<&str>) -> Self {
        let provider = LocalProvider::new(LocalConfig {
            init: env!("CARGO_BIN_EXE_agon-engine-init").into(),
            init_args: Vec::new(),
            hidden: Vec::new(),
        })
        .unwrap();
        Self::in_sandbox(Box::new(provider), environment, limits, cwd).await
    }

    async fn in_container() -> Self {
        let provider = ContainerProvider::connect().await.unwrap();
        let mut environment = Environment::of_kind(EnvironmentKind::Container);
        environment.image = Some("agon-test:latest".to_owned());
        Self::in_sandbox(Box::new(provider), environment, limits(), None).await
    }

    async fn in_sandbox(
        provider: Box<dyn Provider>,
        environment: Environment,
        limits: Limits,
        cwd: Option<&str>,
    ) -> Self {
        let request = Request {
            environment,
            owner: Owner {
                run: "test".to_owned(),
                trial: "workbench".to_owned(),
            },
            read_only: Vec::new(),
            display: None,
            work: None,
            start: WITHIN,
        };
        let sandbox = provider.prepare(&request).await.unwrap();
        let logs = tempfile::tempdir().unwrap();
        let workbench = Workbench::new(Tools {
            limits,
            cwd: cwd.map(str::to_owned),
            shell_log: logs.path().join("shell.log"),
            lint: true,
        });
        Self {
            workbench,
            sandbox,
            _provider: provider,
            _logs: logs,
        }
    }

    /// As an agent sends it.
    pub(crate) async fn act(&mut self, action: Value) -> Observation {
        let action: Action = serde_json::from_value(action).unwrap();
        let deadline = Instant::now() + WITHIN;
        let done = self
            .workbench
            .perform(self.sandbox.as_ref(), &action, deadline);
        done.await.unwrap()
    }

    pub(crate) async fn run(&mut self, command: &str) -> Observation {
        self.act(json!({ "action": "run", "command": command }))
            .await
    }

    pub(crate) async fn read(&mut self, path: &str) -> Observation {
        self.act(json!({ "action": "read", "path": path })).await
    }

    pub(crate) async fn write(&mut self, path: &str, content: &str) -> Observation {
        let write = json!({ "action": "write", "path": path, "content": content });
        self.act(write).await
    }

    async fn undo(&mut self, path: &str) -> Observation {
        self.act(json!({ "action": "undo", "path": path })).await
    }

    /// The file as it is, whatever the tools say.
    async fn content(&self, path: &str) -> String {
        let content = self.sandbox.read(path, 1 << 20).await.unwrap();
        String::from_utf8(content).unwrap()
    }
}

pub(crate) fn is_error(seen: &Observation, why: &str) {
    assert_eq!(seen.kind, ObservationKind::Error, "{seen:?}");
    assert!(seen.text.contains(why), "{seen:?}");
}

fn diff(seen: &Observation) -> &str {
    &seen.changed.as_ref().unwrap().diff
}

#[tokio::test]
async fn a_command_that_goes_silent_is_left_running_and_says_what_can_be_done() {
    let mut bench = Bench::new().await;
    let asked = bench
        .run("printf 'name? '; read name; echo hello $name")
        .await;
    assert!(asked.running && asked.exit_status.is_none(), "{asked:?}");
    assert!(asked.text.starts_with("name? "), "{asked:?}");
    for option in ["empty command", "`wait`", "`input: true`", "C-c"] {
        assert!(asked.text.contains(option), "{asked:?}");
    }
    is_error(&bench.run("echo other").await, "not run");
    let more = bench.run("").await;
    assert!(more.running && !more.text.contains("name?"), "{more:?}");
    let answer = json!({ "action": "run", "command": "Ann", "input": true });
    let answered = bench.act(answer.clone()).await;
    assert_eq!(answered.text, "hello Ann\n");
    assert_eq!((answered.exit_status, answered.running), (Some(0), false));
    is_error(&bench.run("").await, "no command is running");
    is_error(&bench.act(answer).await, "no command is running");
}

#[tokio::test]
async fn control_keys_are_keys_also_where_the_agent_forgot_to_say_so() {
    let mut bench = Bench::new().await;
    for (input, key) in [(true, "C-c"), (false, "C-c"), (false, "C-\\")] {
        assert!(bench.run("sleep 86031").await.running);
        let pressed = json!({ "action": "run", "command": key, "input": input });
        let ended = bench.act(pressed).await;
        assert!(!ended.running, "{key}: {ended:?}");
        assert_ne!(ended.exit_status, Some(0), "{key}: {ended:?}");
    }
    is_error(&bench.run("C-c").await, "no command is running");
    assert_eq!(bench.run("echo still here").await.text, "still here\n");
}

#[tokio::test]
async fn who_waits_is_not_disturbed_by_silence_and_gives_up_on_noise() {
    let mut bench = Bench::new().await;
    let wait = |command: &str, seconds: f64| json!({ "action": "run", "command": command, "wait": seconds });
    let silent = bench.act(wait("sleep 1.2; echo done", 50.0)).await;
    assert_eq!(
        (silent.text.as_str(), silent.exit_status),
        ("done\n", Some(0))
    );
    let noisy = "until [ -e go ]; do echo x; sleep 0.05; done; echo went";
    let left = bench.act(wait(noisy, 0.4)).await;
    assert!(
        left.running && left.text.contains("after 0.4 s"),
        "{left:?}"
    );
    bench.sandbox.write("go", b"").await.unwrap();
    let ended = bench.act(wait("", 50.0)).await;
    assert!(
        ended.text.ends_with("went\n") && !ended.running,
        "{ended:?}"
    );
    let short = json!({ "action": "run", "command": "sleep 86032", "timeout": 0.3, "wait": 50 });
    let killed = bench.act(short).await;
    assert!(
        !killed.running && killed.text.contains("killed after"),
        "{killed:?}"
    );
}

#[tokio::test]
async fn several_commands_come_in_one_call() {
    let mut bench = Bench::new().await;
    let seen = bench
        .run("cd /tmp\nx=1\ncat <<'END'\n$x\nEND\nfor i in a b; do\n  echo $i\ndone")
        .await;
    assert_eq!(seen.text, "$x\na\nb\n");
    assert_eq!(bench.run("echo $x $PWD").await.text, "1 /tmp\n");
}

#[tokio::test]
async fn lines_are_shown_with_their_numbers() {
    let mut bench = Bench::new().await;
    let text: String = (1..=300).map(|number| format!("line {number}\n")).collect();
    bench.write("long.txt", &text).await;
    bench.write("empty.txt", "").await;
    let lines = |path: &str, first: i64, last: i64| json!({ "action": "read", "path": path, "lines": [first, last] });
    let seen = bench.act(lines("long.txt", 2, 3)).await;
    assert_eq!(seen.text, "     2\tline 2\n     3\tline 3\n");
    let seen = bench.act(lines("long.txt", 299, -1)).await;
    assert_eq!(seen.text, "   299\tline 299\n   300\tline 300\n");
    let seen = bench.act(lines("long.txt", 299, 9999)).await;
    assert_eq!(seen.text.lines().count(), 2);
    assert_eq!(bench.act(lines("empty.txt", 1, -1)).await.text, "");
    let cut = bench.act(lines("long.txt", 1, -1)).await;
    let (shown, note) = cut.text.split_once("\n[cut here").unwrap();
    assert!(cut.omitted > 0 && shown.len() <= 2000, "{cut:?}");
    let next = shown.lines().count() + 1;
    assert!(note.contains(&format!("[{next}, 300]")), "{note}");
    for (first, last) in [(0, 3), (-1, 3), (5, 4), (1, 0), (1, -2)] {
        is_error(
            &bench.act(lines("long.txt", first, last)).await,
            "from 1 to 300",
        );
    }
    is_error(
        &bench.act(lines("long.txt", 301, -1)).await,
        "only 300 lines",
    );
    let plain = bench.read("long.txt").await;
    assert_eq!(
        (plain.text.len(), plain.omitted),
        (2000, text.len() as u64 - 2000)
    );
}

#[tokio::test]
async fn folders_pictures_and_other_files_are_told_apart() {
    let mut bench = Bench::new().await;
    bench.run("mkdir -p tree/a/b/c tree/.hidden; touch tree/a/b/c/deep tree/a/x tree/.h tree/'a b'; ln -s /etc tree/link").await;
    let seen = bench.read("tree").await;
    let listed: Vec<_> = seen.text.lines().skip(1).collect();
    let expected = [
        "/work/tree/a/",
        "/work/tree/a/b/",
        "/work/tree/a/x",
        "/work/tree/a b",
        "/work/tree/link/",
    ];
    let mut sorted = listed.clone();
    sorted.sort_unstable();
    let mut wanted = expected.to_vec();
    wanted.sort_unstable();
    assert_eq!(sorted, wanted, "{seen:?}");
    assert_eq!(seen.kind, ObservationKind::Content);
    let many = bench
        .run("mkdir many; cd many; touch $(seq 1000); cd ..")
        .await;
    assert_eq!(many.exit_status, Some(0), "{many:?}");
    let cut = bench.read("/work/many/").await;
    assert!(cut.omitted > 0 && cut.text.len() < 2200, "{cut:?}");

    let png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\0\x01\0\0\0\x01rest";
    bench.sandbox.write("dot.bin", png).await.unwrap();
    let seen = bench.read("dot.bin").await;
    assert_eq!(seen.pictures.len(), 1, "{seen:?}");
    assert_eq!(seen.pictures[0].format, PictureFormat::Png);
    assert_eq!(seen.pictures[0].data(), Some(&png[..]));
    bench.sandbox.write("data", b"\x7fELF\0\0").await.unwrap();
    is_error(&bench.read("data").await, "no text");
    is_error(&bench.read("nothing").await, "No such file");
    is_error(&bench.read("").await, "name a file");
    bench.sandbox.write("latin", b"caf\xe9\n").await.unwrap();
    assert_eq!(bench.read("latin").await.text, "caf\u{fffd}\n");
}

#[tokio::test]
async fn changes_are_told_as_differences_and_can_be_taken_back() {
    let mut bench = Bench::new().await;
    let made = bench.write("a.txt", "one\ntwo\nthree\n").await;
    assert_eq!(made.kind, ObservationKind::Done);
    assert!(made.text.contains("Made a.txt: 3 lines"), "{made:?}");
    let change = made.changed.as_ref().unwrap();
    assert_eq!(
        (change.path.as_str(), change.existed),
        ("/work/a.txt", false)
    );
    assert!(
        diff(&made).starts_with("--- /dev/null\n+++ b/work/a.txt\n"),
        "{made:?}"
    );

    let create =
        json!({ "action": "write", "path": "/work/./a.txt", "content": "x", "create": true });
    is_error(&bench.act(create).await, "there already");
    let edit = json!({ "action": "edit", "path": "a.txt", "old": "two\n", "new": "2\n" });
    let edited = bench.act(edit.clone()).await;
    assert!(diff(&edited).contains("-two\n+2\n"), "{edited:?}");
    assert!(
        edited
            .text
            .ends_with("     1\tone\n     2\t2\n     3\tthree\n"),
        "{edited:?}"
    );
    is_error(&bench.act(edit).await, "does not occur");
    let insert = |line: u64, text: &str| json!({ "action": "insert", "path": "a.txt", "line": line, "text": text });
    let inserted = bench.act(insert(3, "four")).await;
    assert!(diff(&inserted).contains("+four\n"), "{inserted:?}");
    bench.act(insert(0, "zero\n")).await;
    assert_eq!(bench.content("a.txt").await, "zero\none\n2\nthree\nfour\n");
    is_error(&bench.act(insert(6, "x")).await, "5 lines");

    for expected in [
        "one\n2\nthree\nfour\n",
        "one\n2\nthree\n",
        "one\ntwo\nthree\n",
    ] {
        let undone = bench.undo("a.txt").await;
        assert_eq!(undone.kind, ObservationKind::Done, "{undone:?}");
        assert!(!diff(&undone).is_empty(), "{undone:?}");
        assert_eq!(bench.content("a.txt").await, expected);
    }
    let unmade = bench.undo("/work/a.txt").await;
    assert!(diff(&unmade).contains("+++ /dev/null\n"), "{unmade:?}");
    is_error(&bench.read("a.txt").await, "No such file");
    is_error(&bench.undo("a.txt").await, "no change of a.txt is left");
}

#[tokio::test]
async fn what_can_not_be_edited_is_explained() {
    let mut bench = Bench::new().await;
    bench.write("twice", "a = 1\nb = 2\na = 1\nc\n").await;
    let edit = |path: &str, old: &str, new: &str| json!({ "action": "edit", "path": path, "old": old, "new": new });
    is_error(
        &bench.act(edit("twice", "a = 1", "x")).await,
        "on lines 1, 3:",
    );
    is_error(&bench.act(edit("twice", "", "x")).await, "empty");
    is_error(&bench.act(edit("twice", "b", "b")).await, "the same");
    is_error(&bench.act(edit("none", "b", "c")).await, "No such file");
    bench.sandbox.write("binary", b"\xff\xfe\0x").await.unwrap();
    is_error(&bench.act(edit("binary", "x", "y")).await, "no text");
    bench.run("yes x | head -c 1100000 >large").await;
    is_error(&bench.act(edit("large", "x", "y")).await, "too large");

    // What is too large to be kept can't come back, and neither can what was before.
    bench.write("grown", "small").await;
    bench.run("cp large grown").await;
    let replaced = bench.write("grown", "small again").await;
    assert!(diff(&replaced).contains("too long"), "{replaced:?}");
    is_error(&bench.undo("grown").await, "no change of grown is left");
    assert_eq!(bench.content("grown").await, "small again");

    bench
        .run("mkdir -p closed; echo x >closed/file; chmod 0 closed")
        .await;
    let create =
        json!({ "action": "write", "path": "closed/file", "content": "y", "create": true });
    assert_eq!(bench.act(create).await.kind, ObservationKind::Error);
    bench.run("mkdir folder").await;
    is_error(&bench.write("folder", "y").await, "folder");
}

#[tokio::test]
async fn paths_start_where_the_tools_do() {
    let mut bench = Bench::with(limits(), Some("/tmp")).await;
    bench.write("here", "x").await;
    assert_eq!(bench.run("pwd; cat /tmp/here").await.text, "/tmp\nx");
    bench.run("cd /work").await;
    assert_eq!(bench.read("here").await.text, "x");
}

#[tokio::test]
async fn wrong_sources_are_told_of() {
    let mut bench = Bench::new().await;
    let wrong = bench.write("a.py", "def f(:\n  pass\n").await;
    assert!(wrong.text.contains("[wrong in a.py: line 1: "), "{wrong:?}");
    assert_eq!(wrong.kind, ObservationKind::Done);
    let edit = json!({ "action": "edit", "path": "a.py", "old": "f(:", "new": "f():" });
    let right = bench.act(edit).await;
    assert!(!right.text.contains("wrong"), "{right:?}");
    // Neither what lies beside it nor the file itself is run.
    bench.write("warnings.py", "raise SystemExit('ran')").await;
    let beside = bench.write("b.py", "open('/work/ran', 'w')\n").await;
    assert!(!beside.text.contains("wrong"), "{beside:?}");
    is_error(&bench.read("ran").await, "No such file");
    let json = bench.write("c.json", "{\"a\": 1,}").await;
    assert!(json.text.contains("[wrong in c.json: "), "{json:?}");
}

#[tokio::test]
async fn in_a_container_the_tools_are_the_same() {
    let mut bench = Bench::in_container().await;
    let made = bench.write("new/a.py", "x = 1\n").await;
    assert!(!made.changed.as_ref().unwrap().existed, "{made:?}");
    let create = json!({ "action": "write", "path": "new/a.py", "content": "", "create": true });
    is_error(&bench.act(create).await, "there already");
    let edit = json!({ "action": "edit", "path": "new/a.py", "old": "x = 1", "new": "x = (" });
    let wrong = bench.act(edit).await;
    assert!(wrong.text.contains("[wrong in new/a.py: "), "{wrong:?}");
    assert!(diff(&wrong).contains("-x = 1\n+x = (\n"), "{wrong:?}");
    bench.undo("new/a.py").await;
    assert_eq!(bench.run("cat new/a.py").await.text, "x = 1\n");
    let listed = bench.read("new").await;
    assert!(listed.text.ends_with("\n/work/new/a.py\n"), "{listed:?}");
    let unmade = bench.undo("new/a.py").await;
    assert!(unmade.text.contains("it is gone"), "{unmade:?}");
    is_error(&bench.read("new/a.py").await, "No such file");
    assert!(bench.run("sleep 86033").await.running);
    assert!(!bench.run("C-c").await.running);
}
