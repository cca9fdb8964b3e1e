//! Verdicts, and what an agent can do about them. Most are those of scripts, which here are as careless
//! as can be: the programs they run share their descriptors, their files and their user.

use std::collections::BTreeMap;

use agon::core::verdict::Outcome;
use agon::store::TrialLine;
use serde_json::json;

use crate::support::Bench;

/// Scripts that run the agent's program and find that it does not work.
const CARELESS: [(&str, &str); 3] = [
    (
        "check.bash",
        r#"#!/bin/bash
read -r nonce
python3 prog.py
printf '{"nonce":"%s","score":0,"reason":"it does not work"}\n' "$nonce" >&3
"#,
    ),
    (
        "check.sh",
        r#"read -r nonce
python3 prog.py
printf '{"nonce":"%s","score":0,"reason":"it does not work"}\n' "$nonce" >&3
"#,
    ),
    (
        "check.py",
        r#"#!/usr/bin/env python3
import os, subprocess, sys
nonce = sys.stdin.readline().strip()
subprocess.run(["python3", "prog.py"], pass_fds=[3])
import statistics
os.write(3, b'{"nonce":"%s","score":0,"reason":"it does not work"}\n' % nonce.encode())
"#,
    ),
];

/// What every program here knows.
const CRAFT: &str = r#"
import ctypes, os, re, sys, time
parent, libc = os.getppid(), ctypes.CDLL(None)

def say(nonce, to=3):
    os.write(to, b'{"nonce":"%s","score":1}\n' % nonce)

# Whatever in the parent's memory looks like a nonce, said as a verdict for it.
def search():
    memory = open(f"/proc/{parent}/mem", "rb", buffering=0)
    for line in open(f"/proc/{parent}/maps"):
        start, end = (int(part, 16) for part in line.split()[0].split("-"))
        try:
            memory.seek(start)
            found = re.search(rb"(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])", memory.read(end - start))
        except (OSError, ValueError, OverflowError):
            continue
        if found:
            say(found[0])
            os.kill(parent, 9)
            sys.exit()
"#;

/// How programs try to pass, and whether it shows.
const TRIES: [(&str, &str, Option<&str>); 9] = [
    ("memory", "search()", None),
    (
        "trace",
        "libc.ptrace(16, parent, 0, 0); libc.ptrace(0x4206, parent, 0, 0); search()",
        None,
    ),
    (
        "descriptors",
        r#"
os.close(3)
for number in range(5):
    fd = libc.syscall(438, os.pidfd_open(parent), number, 0)
    if fd >= 0:
        say(b"0" * 32, fd)
    try:
        say(b"0" * 32, os.open(f"/proc/{parent}/fd/{number}", os.O_WRONLY))
    except OSError:
        pass
"#,
        None,
    ),
    ("guess", r#"say(b"0" * 32)"#, Some("forged verdict")),
    ("byte", r#"os.write(3, b"x")"#, Some("forged verdict")),
    ("kill", "os.kill(parent, 9)", None),
    (
        "guess-and-kill",
        r#"say(b"0" * 32); os.kill(parent, 9)"#,
        Some("forged verdict"),
    ),
    // Shells read on in their script where they stopped.
    (
        "rewrite",
        r#"
line = '\nprintf \'{"nonce":"%s","score":1}\\n\' "$nonce" >&3; exit\n'
for name in os.listdir(os.environ["AGON_VERIFY"]):
    path = os.path.join(os.environ["AGON_VERIFY"], name)
    text = open(path).read()
    open(path, "w").write(text.replace("python3 prog.py\n", "python3 prog.py" + line) + line)
with open(os.path.join(os.environ["AGON_VERIFY"], "statistics.py"), "w") as module:
    module.write("import __main__ as m; m.os.write(3, b'{\"nonce\":\"%s\",\"score\":1}\\n' % m.nonce.encode()); m.os._exit(0)")
"#,
        None,
    ),
    // The script's own line, taken out of the channel and brought back with another score.
    (
        "steal",
        r#"
if os.fork() == 0:
    channel = os.open("/proc/self/fd/3", os.O_RDONLY)
    say(re.search(rb"[0-9a-f]{32}", os.read(channel, 500))[0])
time.sleep(0.1)
"#,
        None,
    ),
];

fn task(program: &str, script: &str) -> String {
    json!({
        "name": "A program",
        "task": "Write prog.py.",
        "checks": [{ "type": "script", "path": script, "args": ["one", "two words"] }],
        "solution": [
            { "action": "write", "path": "prog.py", "content": program },
            { "action": "finish" },
        ],
    })
    .to_string()
}

/// Plays tasks with a program and a script each, and gives the trials by id.
fn play(tasks: &[(String, String, (&str, &str))], status: i32) -> BTreeMap<String, TrialLine> {
    let bench = Bench::new();
    for (id, program, (name, script)) in tasks {
        bench.write(&format!("suite/test/{id}/task.yaml"), &task(program, name));
        bench.write(&format!("suite/test/{id}/verify/{name}"), script);
    }
    let args = ["--agent", "oracle", "--workers", "4"];
    bench.run(&args).expect(status);
    let id = |line: &TrialLine| line.task.to_string().replace("test/", "");
    let trials = bench.trials().into_iter().filter(|line| line.is_final);
    let trials: BTreeMap<_, _> = trials.map(|line| (id(&line), line)).collect();
    assert_eq!(trials.len(), tasks.len());
    trials
}

#[test]
fn no_program_says_the_verdict_of_the_script_that_runs_it() {
    let mut tasks = Vec::new();
    for script in CARELESS {
        for (name, deed, _) in TRIES {
            let id = format!("{name}-{}", script.0.replace('.', "-"));
            tasks.push((id, format!("{CRAFT}\n{deed}\n"), script));
        }
    }
    let trials = play(&tasks, 0);
    for (script, _) in CARELESS {
        for (name, _, sign) in TRIES {
            let id = format!("{name}-{}", script.replace('.', "-"));
            let line = &trials[&id];
            assert_eq!(line.outcome, Outcome::Failed, "{id}: {line:?}");
            assert_eq!(line.score, 0.0, "{id}: {line:?}");
            assert_eq!(line.integrity.as_deref(), sign, "{id}: {line:?}");
            let expected = match (sign, name) {
                (Some(_), _) => "no verdict",
                (None, "kill") => "killed by signal 9",
                (None, _) => "it does not work",
            };
            assert!(line.reason.contains(expected), "{id}: {}", line.reason);
        }
    }
}

#[test]
fn scripts_of_every_kind_run_as_they_would_by_themselves() {
    let scripts = [
        (
            "bash",
            "check",
            r#"#!/bin/bash -eu
read -r nonce
[[ $- == *e*u* && $0 == "$AGON_VERIFY/check" && ${BASH_SOURCE[0]} == "$0" ]]
[[ $# == 2 && $2 == "two words" && $PWD == /work && -f prog.py ]]
printf '{"nonce":"%s","score":1}\n' "$nonce" >&3
"#,
        ),
        (
            "sh",
            "check.sh",
            r#"#!/bin/sh -e
read -r nonce
case $-$0$#$2 in *e*/check.sh2"two words") ;; *) exit 3 ;; esac
cat <<END >&3
{"nonce":"$nonce","score":1}
END
"#,
        ),
        (
            "python",
            "check.py",
            r#"import json, os, pathlib, sys
nonce = input()
assert sys.argv == [__file__, "one", "two words"] and __name__ == "__main__"
assert pathlib.Path(__file__).parent == pathlib.Path(os.environ["AGON_VERIFY"])
assert os.getcwd() == "/work" and "/work" not in sys.path
with open(3, "w") as channel:
    print(json.dumps({"nonce": nonce, "score": 1}), file=channel)
"#,
        ),
    ];
    let tasks = scripts.map(|(id, name, text)| (id.to_owned(), String::new(), (name, text)));
    for (id, line) in play(&tasks, 0) {
        assert_eq!(line.outcome, Outcome::Passed, "{id}: {line:?}");
    }
}

#[test]
fn a_script_that_breaks_or_says_nothing_has_failed_and_one_that_can_not_run_is_a_fault() {
    let python = "import json\nnonce = input()\njson.load(open('prog.py'))\n";
    let tasks = [
        ("breaks", ("check.py", python)),
        ("other", ("check.pl", "#!/usr/bin/perl\nexit 0;\n")),
        ("silent", ("check.sh", "read -r nonce\n")),
    ]
    .map(|(id, script)| (id.to_owned(), "no JSON".to_owned(), script));
    let trials = play(&tasks, 1);

    for (id, words) in [
        (
            "breaks",
            &["exit status 1", "json.decoder.JSONDecodeError"][..],
        ),
        ("silent", &["without a verdict"]),
    ] {
        let line = &trials[id];
        assert_eq!(line.outcome, Outcome::Failed, "{line:?}");
        for word in words {
            assert!(line.reason.contains(word), "{}", line.reason);
        }
    }
    let other = &trials["other"];
    assert_eq!(other.outcome, Outcome::Faulted, "{other:?}");
    let said = &other.fault.as_ref().unwrap().message;
    assert!(said.contains("`perl`"), "{said}");
}

#[test]
fn what_could_not_be_taken_is_never_taken_for_absent() {
    let bench = Bench::new();
    // Deeper than any name can say.
    let hide = "mkdir -p work; cd work; for i in {1..300}; do mkdir dddddddddddddddddddd; \
                cd dddddddddddddddddddd; done; touch secret";
    let task = json!({
        "name": "Hidden",
        "task": "Remove what is secret.",
        "checks": [
            { "type": "file", "path": "secret", "exists": false },
            { "type": "command_output", "command": "true", "exit_status": 0 },
        ],
        "solution": [{ "action": "run", "command": hide }, { "action": "finish" }],
    });
    bench.write("suite/test/hidden.yaml", &task.to_string());
    bench.run(&["--agent", "oracle"]).expect(0);
    let line = bench.trial();
    assert_eq!((line.outcome, line.score), (Outcome::Failed, 0.0));
    assert_eq!(line.integrity.as_deref(), Some("left out of the archive"));
    assert!(
        line.reason
            .ends_with("1 entry of the working folder could not be taken"),
        "{}",
        line.reason
    );
}
