//! Harbor's task folders, loaded, played and graded as they are: on the engine that DOCKER_HOST names and
//! the image that `cargo xtask test` makes.

use std::collections::BTreeMap;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use agon::core::verdict::{Outcome, TurnEnd};
use agon::core::{EventBody, FaultClass};
use agon::prelude::TrialLine;
use serde_json::{Value, json};

use crate::scripted::rows;
use crate::support::{Bench, Called};

const IMAGE: &str = "agon-test:latest";

/// In `tests/` only. No script that looks for it may hold it.
const SECRET: &str = "amber-anvil-9f31";

/// Rewards whoever wrote the word of `tests/` to a file in the folder where commands start.
const TESTS: &str = "\
#!/bin/bash
cd /app
if [ \"$(cat answer)\" = \"$(cat /tests/data/expected)\" ]; then
    echo 1 > /logs/verifier/reward.txt
else
    echo 0 > /logs/verifier/reward.txt
fi
";

fn docker(words: &[&str]) -> Output {
    let host = std::env::var("DOCKER_HOST").unwrap_or_else(|_| {
        panic!("DOCKER_HOST is not set: run the tests with `cargo xtask test`")
    });
    Command::new("docker")
        .args(["--host", &host])
        .args(words)
        .output()
        .unwrap()
}

/// Tasks in `suite`. The images that are made of their recipes go with it.
struct Harbor {
    bench: Bench,
}

impl Harbor {
    fn new() -> Self {
        assert!(docker(&["image", "inspect", IMAGE]).status.success());
        Self {
            bench: Bench::new(),
        }
    }

    fn write(&self, task: &str, file: &str, text: &str) {
        self.bench.write(&format!("suite/{task}/{file}"), text);
    }

    /// A task that has everything but a place to be played in. It wants `word` in a file.
    fn task(&self, name: &str, environment: &str, solution: &str) {
        let settings = format!(
            "version = \"1.0\"\n[metadata]\ncategory = \"words\"\n[verifier]\ntimeout_sec = 60.0\n\
             [agent]\ntimeout_sec = 60.0\n[environment]\nallow_internet = false\n{environment}\n"
        );
        self.write(name, "task.toml", &settings);
        self.write(name, "instruction.md", "Write the word to answer.\n");
        self.write(name, "tests/test.sh", TESTS);
        self.write(name, "tests/data/expected", SECRET);
        self.write(name, "solution/solve.sh", solution);
    }

    /// In an image that is named.
    fn named(&self, name: &str, solution: &str) {
        let environment = format!("docker_image = \"{IMAGE}\"\nworkdir = \"/\"");
        self.task(name, &environment, solution);
    }

    /// In one that is made; no two tests make the same.
    fn made(&self, name: &str, solution: &str) {
        let recipe = format!(
            "FROM {IMAGE}\nRUN mkdir /app\nCOPY given /app/given\nENV GREETING=hello\nWORKDIR /app\n"
        );
        self.task(name, "", solution);
        self.write(name, "environment/Dockerfile", &recipe);
        let unique = format!("{:032x}\n", rand::random::<u128>());
        self.write(name, "environment/given", &unique);
    }

    fn run(&self, agent: &str) -> Called {
        self.bench
            .run(&["--agent", agent, "--workers", "2", "--retries", "0"])
    }

    fn trials(&self) -> BTreeMap<String, TrialLine> {
        let mut lines = self.bench.trials();
        lines.retain(|line| line.is_final);
        let named = |line: TrialLine| (line.task.to_string().replace("words/", ""), line);
        lines.into_iter().map(named).collect()
    }
}

impl Drop for Harbor {
    fn drop(&mut self) {
        let found = docker(&[
            "image",
            "ls",
            "agon-harbor/*",
            "--format",
            "{{.Repository}}:{{.Tag}}",
        ]);
        let ours = |tag: &&str| {
            let manifest = self.bench.path("run/run.json");
            std::fs::read_to_string(manifest).is_ok_and(|text| text.contains(*tag))
        };
        for tag in String::from_utf8_lossy(&found.stdout).lines().filter(ours) {
            docker(&["image", "rm", "--force", tag]);
        }
    }
}

fn solved() -> String {
    format!("#!/bin/bash\nset -e\nmkdir -p /app\necho {SECRET} > /app/answer\n")
}

fn said(bench: &Bench, line: &TrialLine) -> String {
    let events = bench.reader().events(line).unwrap();
    let texts = events.iter().filter_map(|event| match &event.body {
        EventBody::Observation(observation) => Some(observation.text.clone()),
        _ => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[test]
fn container_harbor_tasks_are_passed_by_their_solutions_and_by_nobody_else() {
    let harbor = Harbor::new();
    harbor.named("named", &solved());
    let checked = "pwd; cat given; echo $GREETING; ls /tests /logs 2>&1\n";
    harbor.made("made", &format!("{}{checked}", solved()));
    let called = harbor.run("oracle").expect(0);
    assert_eq!(called.json()["passed"], 2, "{}", called.stderr());
    let trials = harbor.trials();
    for line in trials.values() {
        assert_eq!((line.outcome, line.score), (Outcome::Passed, 1.0));
        assert!(line.tainted, "it was graded where the agent had been");
    }
    let said = said(&harbor.bench, &trials["made"]);
    assert!(
        said.contains("/app\n") && said.contains("hello\n"),
        "{said}"
    );

    std::fs::rename(harbor.bench.path("run"), harbor.bench.path("before")).unwrap();
    let again = harbor.run("noop").expect(0);
    assert!(
        !again.stderr().contains("making"),
        "the image is there: {}",
        again.stderr()
    );
    for line in harbor.trials().values() {
        assert_eq!((line.outcome, line.score), (Outcome::Failed, 0.0));
    }
}

#[test]
fn container_harbor_tasks_are_a_benchmark() {
    let harbor = Harbor::new();
    harbor.named("named", &solved());
    harbor.named("wrong", "mkdir -p /app; echo no > /app/answer\n");
    let called = harbor.bench.call(&[
        "bench",
        "run",
        "suite",
        "-c",
        "oracle",
        "--eval-output-dir",
        "out",
        "--json",
    ]);
    let json = called.expect(0).json();
    assert_eq!((&json["passed"], &json["failed"]), (&json!(1), &json!(1)));
    let folder = harbor.bench.path(json["run"].as_str().unwrap());
    let rows = rows(&folder.join("output.jsonl"));
    let resolved: BTreeMap<&str, &Value> = rows
        .iter()
        .map(|row| {
            let id = row["instance_id"].as_str().unwrap();
            (id, &row["test_result"]["resolved"])
        })
        .collect();
    assert_eq!(
        resolved,
        BTreeMap::from([("named", &json!(true)), ("wrong", &json!(false))])
    );
}

#[test]
fn container_harbor_limits_are_those_of_the_container() {
    let harbor = Harbor::new();
    let wait = format!("until [ -e /go ]; do sleep 0.05; done\n{}", solved());
    let environment = format!(
        "docker_image = \"{IMAGE}\"\nworkdir = \"/\"\ncpus = 1.5\nmemory_mb = 384\nstorage = \"1G\"\n\
         env = {{ MODE = \"test\" }}"
    );
    harbor.task("limited", &environment, &wait);
    let run = format!("harbor-{:016x}", rand::random::<u64>());
    let words = ["run", "suite", "--out", &run, "--agent", "oracle"];
    let mut playing = harbor.bench.agon(&words);
    let playing = playing.stdout(Stdio::null()).stderr(Stdio::null());
    let mut playing = playing.spawn().unwrap();
    let label = format!("label=agon.run={run}");
    let deadline = Instant::now() + Duration::from_secs(60);
    let container = loop {
        let found = docker(&["ps", "--quiet", "--filter", &label]);
        let found = String::from_utf8(found.stdout).unwrap().trim().to_owned();
        if !found.is_empty() {
            break found;
        }
        assert!(Instant::now() < deadline, "no container was started");
    };
    let inspected = docker(&["inspect", &container]);
    let inspected: Value = serde_json::from_slice(&inspected.stdout).unwrap();
    assert!(
        docker(&["exec", &container, "touch", "/go"])
            .status
            .success()
    );
    assert_eq!(playing.wait().unwrap().code(), Some(0));

    let host = &inspected[0]["HostConfig"];
    assert_eq!(host["Memory"], 384 << 20);
    assert_eq!(host["MemorySwap"], host["Memory"], "no swap");
    assert_eq!(host["NanoCpus"], 1_500_000_000_i64);
    assert_eq!(host["NetworkMode"], "none");
    let limits = host["Ulimits"].as_array().unwrap();
    let file = limits.iter().find(|limit| limit["Name"] == "fsize");
    assert_eq!(file.unwrap()["Hard"], 1 << 30);
    let env = inspected[0]["Config"]["Env"].as_array().unwrap();
    assert!(env.contains(&json!("MODE=test")), "{env:?}");
    let mounts = inspected[0]["Mounts"].as_array().unwrap();
    assert!(mounts.is_empty(), "nothing of the host: {mounts:?}");
}

#[test]
fn container_harbor_deadlines_end_turns_and_tests() {
    let harbor = Harbor::new();
    harbor.named("endless", "sleep 600\n");
    harbor.named("endless-tests", &solved());
    for (task, key) in [("endless", "agent"), ("endless-tests", "verifier")] {
        let path = harbor.bench.path(&format!("suite/{task}/task.toml"));
        let text = std::fs::read_to_string(&path).unwrap();
        let short = text.replace(
            &format!("[{key}]\ntimeout_sec = 60.0"),
            &format!("[{key}]\ntimeout_sec = 2.0"),
        );
        assert_ne!(short, text);
        std::fs::write(path, short).unwrap();
    }
    let script = "echo 1 > /logs/verifier/reward.txt; sleep 600\n";
    harbor.write("endless-tests", "tests/test.sh", script);
    harbor.run("oracle").expect(0);
    let trials = harbor.trials();
    assert_eq!(trials["endless"].end, Some(TurnEnd::TimeLimit));
    assert_eq!(trials["endless"].outcome, Outcome::Failed);
    let late = &trials["endless-tests"];
    assert_eq!((late.outcome, late.score), (Outcome::Failed, 0.0));
    assert!(late.reason.contains("in time"), "{}", late.reason);
}

/// What can be found of the tests while the agent is there, with how many files were looked at.
const SEARCH: &str = r#"
mkdir -p /app; cd /
find / \( -path /proc -o -path /sys -o -path /dev \) -prune -o -type f -size -200k -print0 2>/dev/null > /tmp/files
echo "looked at: $(tr -cd '\0' < /tmp/files | wc -c)"
word="amber-an"vil
found=$(xargs -0 grep -l "$word-[0-9a-f]" < /tmp/files 2>/dev/null | head -n 1)
ls -d /tests /logs /solution /verify 2>/dev/null
for process in /proc/[0-9]*; do tr '\0' '\n' < $process/environ 2>/dev/null; done | grep "$word-[0-9]"
echo "found: $found"
cat "$found" > /app/answer
"#;

#[test]
fn container_harbor_agents_find_no_tests_and_plant_no_rewards() {
    let harbor = Harbor::new();
    let plant = "mkdir -p /logs/verifier /tests; echo 1 | tee /logs/verifier/reward.txt \
                 /logs/verifier/reward.json\n";
    let broken = |with: &str| format!("{plant}{with}\n");
    let keep = "printf '#!/bin/sh\\nexit 0\\n' | tee /usr/bin/rm /usr/bin/mkdir > /dev/null";
    harbor.made("searches", SEARCH);
    for (name, solution) in [
        ("plants", plant.to_owned()),
        ("plants-and-keeps", broken(keep)),
        // None of these may be taken for our own trouble, which would be another try.
        (
            "logs-is-a-file",
            broken(&format!("rm -rf /logs; touch /logs; {keep}")),
        ),
        (
            "tests-is-a-file",
            broken(&format!("rm -rf /tests; touch /tests; {keep}")),
        ),
        (
            "tests-lead-away",
            broken(&format!("rm -rf /tests; ln -s /proc/sys /tests; {keep}")),
        ),
        ("no-bash", broken("rm -f /bin/bash /usr/bin/bash")),
        (
            "no-shell",
            broken("rm -f /bin/sh /usr/bin/sh /usr/bin/dash"),
        ),
        (
            "no-libraries",
            broken("rm -f /lib64/ld-linux* /usr/lib64/ld-linux* /usr/lib/*/ld-linux*"),
        ),
        ("no-folder", broken("rm -rf /app /work")),
    ] {
        harbor.named(name, &solution);
        // Tests that say nothing would leave a reward as it was.
        harbor.write(name, "tests/test.sh", "grep -q x /app/answer\n");
    }
    harbor.run("oracle").expect(0);
    let trials = harbor.trials();
    assert_eq!(trials.len(), 10);
    for (name, line) in &trials {
        assert_eq!(
            (line.outcome, line.score),
            (Outcome::Failed, 0.0),
            "{name}: {line:?}"
        );
        assert!(line.tainted, "{name}: {line:?}");
    }
    let said = said(&harbor.bench, &trials["searches"]);
    let looked_at = said
        .lines()
        .find_map(|line| line.strip_prefix("looked at: "));
    let looked_at: u32 = looked_at.unwrap().trim().parse().unwrap();
    assert!(looked_at > 100, "{said}");
    assert!(said.contains("found: \n"), "{said}");
    assert!(!said.contains("/tests"), "{said}");
    assert!(!said.contains(SECRET), "{said}");
}

#[test]
fn container_harbor_images_that_are_missing_cost_only_their_own_tasks() {
    let harbor = Harbor::new();
    harbor.named("named", &solved());
    harbor.task("absent", "docker_image = \"agon-test-absent:1\"", &solved());
    harbor.made("unmade", &solved());
    let broken = format!("FROM {IMAGE}\nRUN echo it can not be; exit 3\n");
    harbor.write("unmade", "environment/Dockerfile", &broken);
    let called = harbor.run("oracle");
    let told = called.stderr();
    assert!(told.contains("it can not be"), "{told}");
    assert!(told.contains("agon-test-absent:1"), "{told}");
    let json = called.json();
    assert_eq!((&json["passed"], &json["faulted"]), (&json!(1), &json!(2)));
    let trials = harbor.trials();
    assert_eq!(trials["named"].outcome, Outcome::Passed);
    for name in ["absent", "unmade"] {
        let line = &trials[name];
        assert_eq!(line.outcome, Outcome::Faulted, "{line:?}");
        assert_eq!(line.fault.as_ref().unwrap().class, FaultClass::Start);
    }
}
