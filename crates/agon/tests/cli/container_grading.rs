//! Grading where the agent never was: its container is killed, and checks run in fresh ones of the same image
//! over all that it changed, with the image's own programs. What must be asked alive says so.

use std::collections::BTreeMap;

use agon::core::EventBody;
use agon::core::verdict::{Outcome, TurnEnd};
use agon::prelude::TrialLine;
use serde_json::{Value, json};

use crate::container::engine;
use crate::rewards::WithGit;
use crate::support::Bench;

const IMAGE: &str = "agon-test:latest";

/// Passes when the answer file holds 42.
const CHECK_PY: &str = "\
#!/usr/bin/env python3
import os
nonce = input()
try:
    answer = open('/work/answer').read().strip()
except OSError as error:
    answer = str(error)
verdict = '{\"nonce\":\"%s\",\"score\":%d}\\n' % (nonce, answer == '42')
os.write(3, verdict.encode())
";

const CHECK_SH: &str = "\
#!/bin/sh
read -r nonce
if [ \"$(cat answer)\" = 42 ]; then score=1; else score=0; fi
printf '{\"nonce\":\"%s\",\"score\":%s}\\n' \"$nonce\" $score >&3
";

struct Suite {
    bench: Bench,
}

impl Suite {
    fn new() -> Self {
        engine();
        Self {
            bench: Bench::new(),
        }
    }

    /// What the oracle runs is the agent's doing.
    fn task(&self, id: &str, command: &str, changes: &Value) {
        let mut task = json!({
            "task": "Do it.",
            "environment": { "kind": "container", "image": IMAGE },
            "checks": [{ "type": "script", "path": "check.py" }],
            "solution": [{ "action": "run", "command": command }],
        });
        for (key, value) in changes.as_object().unwrap() {
            task[key] = value.clone();
        }
        let write = |name: &str, text: &str| {
            self.bench.write(&format!("suite/test/{id}/{name}"), text);
        };
        write("task.yaml", &task.to_string());
        write("verify/check.py", CHECK_PY);
        write("verify/check.sh", CHECK_SH);
    }

    /// Played to their end without any fault, by name.
    #[track_caller]
    fn played(&self) -> BTreeMap<String, TrialLine> {
        let called = self
            .bench
            .run(&["--agent", "oracle", "--workers", "2"])
            .expect(0);
        assert_eq!(called.json()["faulted"], 0, "{}", called.stderr());
        let lines = self.bench.trials();
        assert!(lines.iter().all(|line| line.is_final), "{lines:?}");
        let named = |line: TrialLine| (line.task.to_string().replace("test/", ""), line);
        lines.into_iter().map(named).collect()
    }
}

fn prints(command: &str, text: &str) -> Value {
    json!({ "checks": [{ "type": "command_output", "command": command, "equals": text }] })
}

#[track_caller]
fn assert_failed(lines: &BTreeMap<String, TrialLine>, names: &[&str]) {
    for name in names {
        let line = &lines[*name];
        let found = (line.outcome, line.score, line.tainted);
        assert_eq!(found, (Outcome::Failed, 0.0, false), "{name}: {line:?}");
    }
}

#[track_caller]
fn assert_passed(lines: &BTreeMap<String, TrialLine>, names: &[&str]) {
    for name in names {
        let line = &lines[*name];
        assert_eq!(line.outcome, Outcome::Passed, "{name}: {line:?}");
        assert!(!line.tainted, "{name}: {line:?}");
    }
}

/// Echoes the nonce, and says that all is well.
const FAKE: &str = "printf '#!/bin/sh\\nread n; echo \"{\\\\\"nonce\\\\\":\\\\\"$n\\\\\",\\\\\"score\\\\\":1}\" >&3\\n' > /forged; chmod 755 /forged";

#[test]
fn container_interpreters_that_the_agent_replaced_say_no_verdict() {
    let suite = Suite::new();
    let none = json!({});
    let by_shell = json!({ "checks": [{ "type": "script", "path": "check.sh" }] });
    suite.task(
        "python",
        &format!("{FAKE}; cp -L /forged /usr/bin/python3"),
        &none,
    );
    suite.task(
        "linked",
        &format!("{FAKE}; ln -sf /forged /usr/bin/python3"),
        &none,
    );
    suite.task(
        "before",
        &format!("{FAKE}; cp /forged /usr/local/bin/python3"),
        &none,
    );
    suite.task("env", &format!("{FAKE}; cp /forged /usr/bin/env"), &none);
    suite.task(
        "shell",
        &format!("{FAKE}; cp /forged /usr/bin/dash"),
        &by_shell,
    );
    let module = "open(3, 'w').write('x')";
    for (id, place) in [
        (
            "customized",
            "/usr/lib/python3/dist-packages/sitecustomize.py",
        ),
        (
            "for-the-user",
            "/root/.local/lib/python3.11/site-packages/usercustomize.py",
        ),
    ] {
        let command =
            format!("mkdir -p $(dirname {place}); echo \"{module}\" > {place}; echo 42 > answer");
        suite.task(id, &command, &none);
    }
    suite.task(
        "preload",
        "echo /nowhere.so > /etc/ld.so.preload; echo 42 > answer",
        &none,
    );
    suite.task("honest", "echo 42 > answer", &none);
    suite.task("honest-shell", "echo 42 > answer", &by_shell);
    let lines = suite.played();
    assert_failed(&lines, &["python", "linked", "before", "env", "shell"]);
    assert_passed(
        &lines,
        &[
            "customized",
            "for-the-user",
            "preload",
            "honest",
            "honest-shell",
        ],
    );
    let line = &lines["python"];
    let notes: Vec<String> = suite
        .bench
        .reader()
        .events(line)
        .unwrap()
        .into_iter()
        .filter_map(|event| match event.body {
            EventBody::Note(note) => Some(note),
            _ => None,
        })
        .collect();
    assert!(
        notes.iter().any(|note| note.contains("/usr/bin/python3")),
        "{notes:?}"
    );
}

#[test]
fn container_tools_that_the_agent_planted_do_not_answer_commands() {
    let suite = Suite::new();
    let tool = |name: &str| {
        format!(
            "printf '#!/bin/sh\\necho 7\\n' > /usr/local/bin/{name}; chmod 755 /usr/local/bin/{name}; echo > words"
        )
    };
    let counts = prints("wc -l < words", "7\n");
    suite.task("planted", &tool("wc"), &counts);
    suite.task(
        "replaced",
        "printf '#!/bin/sh\\necho 7\\n' > /usr/bin/wc; echo > words",
        &counts,
    );
    suite.task("removed", "rm /usr/bin/wc; seq 7 > words", &counts);
    // A name that the check says lets new programs come along, but none in the place of another.
    suite.task(
        "named",
        &format!("{}; cp /usr/local/bin/wc /usr/local/bin/words", tool("wc")),
        &counts,
    );
    suite.task("function", "echo 'wc() { echo 7; }' | tee /etc/profile /etc/bash.bashrc /root/.profile /root/.bashrc; echo > words", &counts);
    suite.task("honest", "seq 7 > words", &counts);
    let lines = suite.played();
    assert_failed(&lines, &["planted", "replaced", "named", "function"]);
    assert_passed(&lines, &["removed", "honest"]);
}

#[test]
fn container_interpreters_that_are_gone_or_mute_are_never_faults() {
    let suite = Suite::new();
    let none = json!({});
    let breaks = [
        ("removed", "rm -f /usr/bin/python3*"),
        ("closed", "chmod -x $(readlink -f /usr/bin/python3)"),
        ("mute", "cp /bin/true $(readlink -f /usr/bin/python3)"),
        ("no-shell", "rm -f /usr/bin/dash /bin/sh"),
        (
            "no-loader",
            "rm -f /lib64/ld-linux* /usr/lib64/ld-linux* /usr/lib/*/ld-linux*",
        ),
        ("no-usr", "rm -rf /usr"),
        ("no-etc", "rm -rf /etc 2>/dev/null"),
    ];
    for (id, command) in breaks {
        suite.task(id, command, &none);
        suite.task(
            &format!("{id}-honest"),
            &format!("echo 42 > answer; {command}"),
            &none,
        );
    }
    // The verify tree would go to /tmp.
    let away = "mv /tmp /old-tmp; ln -s /proc /tmp";
    suite.task("away", away, &none);
    suite.task("file", "rm -rf /tmp; echo > /tmp", &none);
    // A program that the script starts is the agent's: however that ends, it is no fault.
    let runs = json!({ "checks": [{ "type": "script", "path": "run.sh" }] });
    // exit_group(137) of process 1, as if it had been killed from outside.
    let ends = TAKE_OVER
        .replace(
            TAKING_CODE,
            "b'\\xbf\\x89\\0\\0\\0\\xb8\\xe7\\0\\0\\0\\x0f\\x05'",
        )
        .replace("cat > /over.py", "cat > app.py")
        .replace(
            "\npython3 /over.py\n",
            "\nprintf '#!/bin/sh\\npython3 app.py; sleep 9\\n' > app; chmod +x app; exit\n",
        );
    assert!(ends.contains("x0f") && ends.contains("sleep 9"), "{ends}");
    for (id, command) in [
        ("missing", "true"),
        (
            "kills",
            "printf '#!/bin/sh\\nkill -9 -1\\n' > app; chmod +x app",
        ),
        ("ends", &ends),
    ] {
        suite.task(id, command, &runs);
        let script = "#!/bin/sh\nread -r nonce\n./app || exit 127\nprintf '{\"nonce\":\"%s\",\"score\":1}\\n' \"$nonce\" >&3\n";
        suite
            .bench
            .write(&format!("suite/test/{id}/verify/run.sh"), script);
    }
    let lines = suite.played();
    for (id, _) in breaks {
        assert_failed(&lines, &[id]);
        assert_passed(&lines, &[&format!("{id}-honest")]);
    }
    assert_failed(&lines, &["away", "file", "missing", "kills", "ends"]);
}

#[test]
fn container_files_outside_of_the_working_folder_are_seen_by_checks() {
    let suite = Suite::new();
    let looks = prints(
        "cat /config/Desktop/a.txt /etc/motd; ls /srv; ls /etc/issue 2>/dev/null; readlink /opt/link; stat -c %a /var/tmp/mode; id -un 4242",
        "hello\nnews\nkept\na.txt\n640\nanna\n",
    );
    let command = "mkdir -p /config/Desktop; echo hello > /config/Desktop/a.txt; echo news > /etc/motd; \
        touch /srv/kept /srv/gone; rm -f /etc/issue /srv/gone; ln -s a.txt /opt/link; \
        touch /var/tmp/mode; chmod 640 /var/tmp/mode; echo 'anna:x:4242:4242::/:/bin/sh' >> /etc/passwd";
    suite.task("one", command, &looks);
    // More than are asked for one by one.
    let many = "for n in $(seq 100); do mkdir -p /data/$n/x; echo $n > /data/$n/x/f; echo $n > /var/lib/many$n; echo $n > /etc/many$n; done";
    suite.task(
        "many",
        many,
        &prints(
            "cat /data/*/x/f /var/lib/many* /etc/many* | sort -u | wc -l",
            "100\n",
        ),
    );
    let mut idle = looks;
    idle["solution"] = json!([{ "action": "run", "command": "true" }]);
    suite.task("idle", "true", &idle);
    let lines = suite.played();
    assert_passed(&lines, &["one", "many"]);
    assert_failed(&lines, &["idle"]);
    // Later, too, when the container is long gone.
    let again = ["--agent", "oracle", "--mode", "validate-only"];
    suite.bench.run(&again).expect(0);
    let mut again = suite.bench.trials();
    again.retain(|line| line.is_final);
    assert!(again.iter().all(|line| line.regraded), "{again:?}");
    assert_eq!(
        again.iter().filter(|line| line.score == 1.0).count(),
        2,
        "{again:?}"
    );
}

#[test]
fn container_volumes_of_an_image_are_as_the_agent_left_them() {
    let suite = Suite::new();
    let volume =
        "RUN mkdir -p /config/Desktop && touch /config/brought /config/removed\nVOLUME /config";
    let image = WithGit::make(&suite.bench, volume);
    let mut looks = prints(
        "cat /config/Desktop/a.txt; ls -A /config",
        "hello\nDesktop\nbrought\n",
    );
    looks["environment"] = json!({ "kind": "container", "image": image.0 });
    suite.task(
        "left",
        "echo hello > /config/Desktop/a.txt; rm /config/removed",
        &looks,
    );
    suite.task("idle", "true", &looks);
    let lines = suite.played();
    assert_passed(&lines, &["left"]);
    assert_failed(&lines, &["idle"]);
}

#[test]
fn container_programs_that_the_agent_installed_are_tested_as_data() {
    let suite = Suite::new();
    let installs = |name: &str| {
        format!(
            "printf '#!/bin/sh\\necho {name} 1.0\\n' > /usr/local/bin/{name}; chmod 755 /usr/local/bin/{name}"
        )
    };
    let version = prints(
        "convert -version && wc -c < /usr/local/bin/convert",
        "convert 1.0\n27\n",
    );
    suite.task("installed", &installs("convert"), &version);
    suite.task("nothing", "true", &version);
    let packaged = "mkdir -p /usr/local/lib/python3.11/dist-packages /usr/lib/python3/dist-packages; \
        for d in /usr/local/lib/python3*/dist-packages /usr/lib/python3/dist-packages; do \
        echo 'name = \"greeter\"' > $d/greeter.py; echo 'import os; os._exit(0)' > $d/x.pth; done";
    suite.task(
        "package",
        packaged,
        &prints(
            "python3 -c 'import greeter; print(greeter.name)'",
            "greeter\n",
        ),
    );
    let lines = suite.played();
    assert_passed(&lines, &["installed", "package"]);
    assert_failed(&lines, &["nothing"]);
}

/// execve("/usr/bin/python3", ["/usr/bin/python3", "/e.py"], NULL)
const TAKING_CODE: &str = r"bytes.fromhex('31d2488d3d14000000488d351e0000005256574889e6b83b0000000f05') + b'/usr/bin/python3\0/e.py\0'";

/// Makes process 1 of its container the agent's: writes code where the shell waits, and ends what it waits for.
/// What it becomes ends all others when it is told to, looks alone, and plants a reward for as long as it lives.
const TAKE_OVER: &str = r#"
cat > /e.py <<'END'
import _signal, os
_signal.pthread_sigmask(_signal.SIG_UNBLOCK, range(1, 64))
def alone(*_):
    try: os.kill(-1, 9)
    except OSError: pass
_signal.signal(10, alone)
while True:
    try: open('/logs/verifier/reward.txt', 'w').write('1')
    except OSError: pass
END
cat > /over.py <<'END'
import os
code = bytes.fromhex('31d2488d3d14000000488d351e0000005256574889e6b83b0000000f05') + b'/usr/bin/python3\0/e.py\0'
memory = os.open('/proc/1/mem', os.O_RDWR)
for line in open('/proc/1/maps'):
    if ' r-xp ' in line and '[' not in line:
        begin, end = (int(part, 16) for part in line.split()[0].split('-'))
        os.pwrite(memory, b'\x90' * (end - begin - len(code)) + code, begin)
for process in os.listdir('/proc'):
    if process.isdigit() and process != '1':
        try: parent = open('/proc/%s/stat' % process).read().rsplit(')', 1)[1].split()[1]
        except OSError: continue
        if parent == '1': os.kill(int(process), 9)
END
python3 /over.py
for n in $(seq 100); do tr '\0' ' ' < /proc/1/cmdline > first; grep -q e.py first && break; sleep 0.05; done
"#;

#[test]
fn container_first_process_that_the_agent_took_over_is_dead_before_grading() {
    let suite = Suite::new();
    let tests = "sleep 1; [ -e /work/done ] && echo 1 > /logs/verifier/reward.txt\n";
    let loops = "(setsid sh -c 'while :; do mkdir -p /logs/verifier; \
        echo 1 > /logs/verifier/reward.txt; done' >/dev/null 2>&1 &)";
    let reward = json!({ "checks": [{ "type": "reward", "path": "test.sh" }] });
    for (id, command) in [
        ("loops", loops.to_owned()),
        ("loops-honest", format!("{loops}; touch done")),
        ("takes-over", TAKE_OVER.to_owned()),
        ("takes-over-honest", format!("touch done; {TAKE_OVER}")),
    ] {
        suite.task(id, &command, &reward);
        let path = format!("suite/test/{id}/verify/test.sh");
        suite.bench.write(&path, tests);
    }
    // That process 1 can be taken over at all is what makes this a test.
    let taken = json!({ "checks": [{ "type": "file", "path": "first", "contains": "/e.py" }] });
    suite.task("it-can", TAKE_OVER, &taken);
    let lines = suite.played();
    assert_failed(&lines, &["loops", "takes-over"]);
    assert_passed(&lines, &["loops-honest", "takes-over-honest", "it-can"]);
}

/// Makes process 1 crash, and with it the container.
const END_ITSELF: &str = r#"
cat > /end.py <<'END'
import os
memory = os.open('/proc/1/mem', os.O_RDWR)
for line in open('/proc/1/maps'):
    if ' r-xp ' in line and '[' not in line:
        begin, end = (int(part, 16) for part in line.split()[0].split('-'))
        os.pwrite(memory, b'\xcc' * (end - begin), begin)
os.kill(1, 10)
END
touch done; python3 /end.py; sleep 9
"#;

#[test]
fn container_that_the_agent_itself_ends_is_its_own_failure() {
    let suite = Suite::new();
    let done = json!({ "checks": [{ "type": "file", "path": "done", "exists": true }] });
    suite.task("ends-itself", END_ITSELF, &done);
    // Ending everything but process 1 is a signal of ours, which does not hide who ended the container.
    let late = json!({
        "checks": done["checks"],
        "limits": { "command": 2 },
        "solution": [
            { "action": "run", "command": "b() { b | b; }; b" },
            { "action": "run", "command": END_ITSELF },
        ],
    });
    suite.task("after-a-bomb", "", &late);
    let lines = suite.played();
    assert_failed(&lines, &["ends-itself", "after-a-bomb"]);
    for line in lines.values() {
        assert_eq!(line.end, Some(TurnEnd::BroughtDown), "{line:?}");
    }
}

#[test]
fn container_that_is_graded_alive_is_marked_tainted() {
    let suite = Suite::new();
    let graded = |grading: &str, command: &str, text: &str| {
        let mut task = prints(command, text);
        task["environment"] = json!({ "kind": "container", "image": IMAGE, "grading": grading });
        task
    };
    let serves =
        "(setsid sh -c 'while :; do date +%s.%N > beat; sleep 0.05; done' >/dev/null 2>&1 &)";
    let beats =
        "a=$(cat beat); sleep 0.5; [ \"$a\" != \"$(cat beat)\" ] && echo alive || echo still";
    for (grading, text) in [
        ("alive", "alive\n"),
        ("used", "still\n"),
        ("fresh", "still\n"),
    ] {
        suite.task(
            grading,
            &format!("{serves}; sleep 0.3"),
            &graded(grading, beats, text),
        );
    }
    // The image's own programs are looked at for every kind of check.
    let replaced = "printf '#!/bin/sh\\necho 7\\n' > /usr/bin/wc";
    suite.task("replaced", replaced, &graded("used", "wc -l", "7\n"));
    let mut scripted = graded("used", "", "");
    scripted["checks"] = json!([{ "type": "script", "path": "check.py" }]);
    suite.task(
        "no-python",
        "echo 42 > answer; rm -f /usr/bin/python3*",
        &scripted,
    );
    let mut both = graded("fresh", "true", "");
    both["environment"] = json!({ "kind": "container", "image": IMAGE, "fresh_checks": true });
    suite.task("old-key", "true", &both);
    let lines = suite.played();
    for name in ["alive", "used"] {
        assert_eq!(lines[name].outcome, Outcome::Passed, "{:?}", lines[name]);
        assert!(lines[name].tainted, "{name}");
    }
    assert_passed(&lines, &["fresh", "old-key"]);
    for name in ["replaced", "no-python"] {
        let line = &lines[name];
        assert_eq!(line.outcome, Outcome::Failed, "{line:?}");
        assert!(line.tainted && line.integrity.is_some(), "{line:?}");
    }
}
