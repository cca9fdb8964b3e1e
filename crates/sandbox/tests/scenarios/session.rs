//! What a shell session must do in every sandbox. Each scenario gets a fresh sandbox.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_sandbox::{
    CommandResult, Exec, Sandbox, SandboxError, SessionOptions, ShellSession, Timeouts, WORK,
};

const LONG: Timeouts = Timeouts {
    hard: Duration::from_secs(60),
    quiet: Duration::from_secs(60),
    wait: None,
    patience: None,
};
/// For commands that are meant to go silent.
const SOON: Timeouts = Timeouts {
    hard: Duration::from_secs(60),
    quiet: Duration::from_millis(400),
    wait: None,
    patience: None,
};
/// For commands that are meant to be killed.
const SHORT: Timeouts = Timeouts {
    hard: Duration::from_millis(700),
    quiet: Duration::from_secs(60),
    wait: None,
    patience: None,
};

/// Makes one test of each scenario, with a sandbox from `$sandbox`.
#[macro_export]
macro_rules! session_scenarios {
    ($sandbox:path) => {
        session_scenarios! { $sandbox:
            state_survives,
            every_command_arrives_as_it_is,
            output_is_kept_whole_and_shown_in_part,
            any_bytes_survive,
            a_hard_time_out_kills_the_whole_tree,
            a_hard_time_out_drops_the_rest_of_the_line,
            a_shell_that_cannot_drop_its_line_is_replaced,
            loops_of_the_shell_itself_are_interrupted,
            a_shell_that_will_not_stop_is_replaced,
            a_silent_command_can_be_waited_for_and_typed_to,
            a_late_command_ends_while_waited_for,
            a_wait_counts_silence_or_not,
            control_keys_reach_the_command,
            unread_input_does_not_spoil_the_next_command,
            a_shell_that_ends_is_replaced,
            redirected_and_traced_shells_still_answer,
            a_flood_is_bounded_and_killed,
            a_fork_bomb_does_not_end_the_session,
        }
    };
    ($sandbox:path: $($scenario:ident),* $(,)?) => {
        $(
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $scenario() {
                let sandbox = $sandbox().await;
                scenarios::$scenario(sandbox.as_ref()).await;
                sandbox.destroy().await;
            }
        )*
    };
}

type Sunk = Arc<Mutex<Vec<u8>>>;

fn options() -> (SessionOptions, Sunk) {
    let sunk = Sunk::default();
    let sink = {
        let sunk = Arc::clone(&sunk);
        move |bytes: &[u8]| {
            sunk.lock().unwrap().extend_from_slice(bytes);
            Ok(())
        }
    };
    (SessionOptions::new(Box::new(sink)), sunk)
}

struct Shell<'a> {
    sandbox: &'a dyn Sandbox,
    session: ShellSession,
    sunk: Sunk,
}

impl<'a> Shell<'a> {
    async fn open(sandbox: &'a dyn Sandbox) -> Self {
        let (options, sunk) = options();
        Self::with(sandbox, options, sunk).await
    }

    async fn with(sandbox: &'a dyn Sandbox, options: SessionOptions, sunk: Sunk) -> Self {
        let session = ShellSession::open(sandbox, options).await.unwrap();
        Self {
            sandbox,
            session,
            sunk,
        }
    }

    async fn run_for(&mut self, command: &str, timeouts: Timeouts) -> CommandResult {
        self.session
            .run(self.sandbox, command, timeouts)
            .await
            .unwrap()
    }

    async fn run(&mut self, command: &str) -> CommandResult {
        self.run_for(command, LONG).await
    }

    /// Output of a command that must end well in the same shell.
    async fn text(&mut self, command: &str) -> String {
        let result = self.run(command).await;
        assert_eq!(
            (result.exit, result.running, result.restarted),
            (Some(0), false, false),
            "{result:?}"
        );
        text(&result)
    }

    async fn key(&mut self, key: &str) -> CommandResult {
        self.session
            .send_key(self.sandbox, key, LONG)
            .await
            .unwrap()
    }
}

fn text(result: &CommandResult) -> String {
    String::from_utf8(result.output.bytes.clone()).unwrap()
}

/// Counts the processes whose command line begins so.
async fn count(sandbox: &dyn Sandbox, beginning: &str) -> usize {
    let script = format!(
        "for f in /proc/[0-9]*/cmdline; do tr '\\0' ' ' <$f; echo; done 2>/dev/null | \
         grep -c '^{beginning}'"
    );
    let output = sandbox
        .exec(&Exec::shell(&script, Duration::from_secs(30)))
        .await
        .unwrap();
    let count = String::from_utf8(output.stdout.bytes).unwrap();
    count.trim().parse().unwrap()
}

pub(crate) async fn state_survives(sandbox: &dyn Sandbox) {
    let mut shell = Shell::open(sandbox).await;
    assert_eq!(shell.text("pwd").await, "/work\n");
    let moved = shell
        .run("mkdir -p 'a %;b' && cd 'a %;b' && export E=1 && v=2 && f() { echo f; }")
        .await;
    assert_eq!((moved.cwd.as_str(), moved.exit), ("/work/a %;b", Some(0)));
    assert_eq!(
        shell.text("echo $E $v $PWD; f; sh -c 'echo $E$v'").await,
        "1 2 /work/a %;b\nf\n1\n"
    );
    assert_eq!(shell.run("(exit 7)").await.exit, Some(7));
    assert_eq!(shell.text("echo $?").await, "7\n");
    assert_eq!(
        shell.run("kill -9 $BASHPID & wait $!").await.exit,
        Some(137)
    );
}

pub(crate) async fn every_command_arrives_as_it_is(sandbox: &dyn Sandbox) {
    let mut shell = Shell::open(sandbox).await;
    assert_eq!(
        shell
            .text("cat <<'X'\nit's \"$HOME\" \\ !! é漢\tx\nX")
            .await,
        "it's \"$HOME\" \\ !! é漢\tx\n"
    );
    assert_eq!(shell.text("").await, "");
    assert_eq!(shell.text("# nothing but a comment").await, "");
    let long = "0123456789é".repeat(2000);
    assert_eq!(
        shell
            .text(&format!("x='{long}'; printf %s \"$x\" | wc -c"))
            .await,
        format!("{}\n", long.len())
    );
    let wrong = shell.run("if then").await;
    assert!(
        wrong.exit != Some(0) && text(&wrong).contains("syntax error"),
        "{wrong:?}"
    );
    assert_eq!(shell.text("echo still here").await, "still here\n");
}

pub(crate) async fn output_is_kept_whole_and_shown_in_part(sandbox: &dyn Sandbox) {
    let (mut options, sunk) = options();
    options.view = 10;
    let mut shell = Shell::with(sandbox, options, sunk).await;
    let result = shell.run("printf 0123456789abcdefghij").await;
    assert_eq!(
        (
            result.output.bytes.as_slice(),
            result.output.omitted,
            result.total
        ),
        (&b"01234fghij"[..], 10, 20)
    );
    assert_eq!(
        shell.sunk.lock().unwrap().as_slice(),
        b"0123456789abcdefghij"
    );
}

pub(crate) async fn any_bytes_survive(sandbox: &dyn Sandbox) {
    let mut shell = Shell::open(sandbox).await;
    // A frame header of the container engine, a mark of another session, line ends, no text.
    let bytes = b"\x01\0\0\0\xff\xff\xff\xff\x1b]7770;00;prompt;1;0;/\x07\r\n\xc3\x28\r";
    let octal: String = bytes.iter().map(|byte| format!("\\{byte:03o}")).collect();
    let result = shell.run(&format!("printf '{octal}'")).await;
    assert_eq!(result.output.bytes, bytes);
    assert_eq!(shell.sunk.lock().unwrap().as_slice(), bytes);
    assert_eq!(
        shell.text("printf '\\002'; echo after").await,
        "\x02after\n"
    );
}

pub(crate) async fn a_hard_time_out_kills_the_whole_tree(sandbox: &dyn Sandbox) {
    let mut shell = Shell::open(sandbox).await;
    shell.run("kept=yes").await;
    let result = shell
        .run_for("sh -c 'sleep 86001 & sleep 86002; sleep 86003'", SHORT)
        .await;
    assert!(
        result.timed_out && !result.restarted && !result.running,
        "{result:?}"
    );
    assert_eq!(count(sandbox, "sleep 8600").await, 0);
    assert_eq!(shell.text("echo $kept").await, "yes\n");
}

/// Whatever the line is made of, nothing of it goes on, and nothing else is touched.
pub(crate) async fn a_hard_time_out_drops_the_rest_of_the_line(sandbox: &dyn Sandbox) {
    let mut shell = Shell::open(sandbox).await;
    shell
        .run("kept=yes; mkdir deep; cd deep; sleep 86030 & (sleep 86031 &)")
        .await;
    // An earlier job goes on to start others.
    shell
        .run("while :; do sleep 0.1; echo >>beat; done 2>/dev/null & true")
        .await;
    for command in [
        "sleep 86100 & sleep 86101; echo rest >rest",
        "sleep 3; echo rest >rest; exit 0",
        "sleep 86102 & (sleep 86103; echo rest >rest); echo rest >rest",
        "(sleep 86104 &); setsid sleep 86105 & sleep 86106 || echo rest >rest",
        "f() { sleep 86107; echo rest >rest; }; f\nf; echo rest >rest",
        "for i in 1 2 3; do sleep 86108; echo rest >rest; done",
        "x=$(sleep 86109); echo rest >rest",
        "sleep 86110 | cat; echo rest >rest",
        "sleep 86111 & wait; echo rest >rest",
        "{ sleep 86112; echo rest >rest; } >/dev/null 2>&1; echo rest >rest",
        "sleep 86113 & while :; do :; done; echo rest >rest",
        "read x; echo rest >rest",
        "trap 'echo rest >rest' INT; sleep 86114; echo rest >rest",
    ] {
        let result = shell.run_for(command, SHORT).await;
        assert!(
            result.timed_out && !result.restarted && !result.running,
            "{command}: {result:?}"
        );
        let deep = format!("{WORK}/deep");
        assert_eq!((result.exit, &result.cwd), (None, &deep));
        assert_eq!(count(sandbox, "sleep 861").await, 0, "{command}");
        assert_eq!(
            shell
                .text("echo $kept; ls rest 2>/dev/null; pwd; echo error >&2")
                .await,
            format!("yes\n{deep}\nerror\n"),
            "{command}"
        );
    }
    assert_eq!(count(sandbox, "sleep 8603").await, 2);
    assert_eq!(
        shell
            .text("wc -l <beat >was; until [ $(wc -l <beat) -gt $(cat was) ]; do sleep 0.1; done; echo beats")
            .await,
        "beats\n"
    );
}

/// A shell that has lost its own means against the rest of a line is given up.
pub(crate) async fn a_shell_that_cannot_drop_its_line_is_replaced(sandbox: &dyn Sandbox) {
    let mut shell = Shell::open(sandbox).await;
    let result = shell
        .run_for(
            "trap - USR2; sleep 86120 & sleep 86121; echo rest >rest",
            SHORT,
        )
        .await;
    assert!(
        result.timed_out && result.restarted && result.exit.is_none(),
        "{result:?}"
    );
    assert_eq!(count(sandbox, "sleep 8612").await, 0);
    assert_eq!(shell.text("ls").await, "");
}

pub(crate) async fn loops_of_the_shell_itself_are_interrupted(sandbox: &dyn Sandbox) {
    let mut shell = Shell::open(sandbox).await;
    shell.run("kept=yes").await;
    for command in ["while :; do :; done", "while :; do sleep 0.01; done"] {
        let result = shell.run_for(command, SHORT).await;
        assert!(result.timed_out && !result.restarted, "{result:?}");
        assert_eq!(result.exit, None);
        assert_eq!(shell.text("echo $kept").await, "yes\n");
    }
}

pub(crate) async fn a_shell_that_will_not_stop_is_replaced(sandbox: &dyn Sandbox) {
    let mut shell = Shell::open(sandbox).await;
    let pid = shell.text("echo $$").await;
    let result = shell
        .run_for(
            "kept=yes; cd /; trap '' INT USR2; while :; do :; done",
            SHORT,
        )
        .await;
    assert!(
        result.timed_out && result.restarted && result.exit.is_none(),
        "{result:?}"
    );
    assert_eq!(result.cwd, "/work");
    assert_eq!(shell.text("echo :$kept:").await, "::\n");
    // The old one is dead, at the latest when it is next scheduled.
    let gone = format!("while [ -e /proc/{} ]; do sleep 0.01; done", pid.trim());
    let gone = sandbox.exec(&Exec::shell(&gone, LONG.hard)).await.unwrap();
    assert!(gone.exit.success(), "{gone:?}");
}

pub(crate) async fn a_silent_command_can_be_waited_for_and_typed_to(sandbox: &dyn Sandbox) {
    let mut shell = Shell::open(sandbox).await;
    let asked = shell
        .run_for("printf 'name? '; read name; echo hello $name", SOON)
        .await;
    assert!(
        asked.running && asked.exit.is_none() && !asked.timed_out,
        "{asked:?}"
    );
    assert_eq!(text(&asked), "name? ");
    let refused = shell
        .session
        .run(sandbox, "echo x", LONG)
        .await
        .unwrap_err();
    assert!(
        matches!(&refused, SandboxError::Denied(text) if text.contains("C-c")),
        "{refused}"
    );
    let waited = shell.session.wait(sandbox, SOON).await.unwrap();
    assert!(waited.running && waited.total == 0, "{waited:?}");
    let answered = shell
        .session
        .send_input(sandbox, "Ann", LONG)
        .await
        .unwrap();
    assert_eq!(
        (text(&answered).as_str(), answered.exit),
        ("hello Ann\n", Some(0))
    );
    let idle = shell.session.wait(sandbox, LONG).await.unwrap_err();
    assert!(matches!(idle, SandboxError::Denied(_)));
}

pub(crate) async fn a_late_command_ends_while_waited_for(sandbox: &dyn Sandbox) {
    let mut shell = Shell::open(sandbox).await;
    let started = shell
        .run_for("until [ -e go ]; do sleep 0.05; done; echo went", SOON)
        .await;
    assert!(started.running);
    sandbox.write("go", b"").await.unwrap();
    let ended = shell.session.wait(sandbox, LONG).await.unwrap();
    assert_eq!((text(&ended).as_str(), ended.exit), ("went\n", Some(0)));
}

pub(crate) async fn a_wait_counts_silence_or_not(sandbox: &dyn Sandbox) {
    let mut shell = Shell::open(sandbox).await;
    let patient = Timeouts {
        wait: Some(Duration::from_secs(60)),
        patience: None,
        ..SOON
    };
    let silent = shell.run_for("sleep 1; echo done", patient).await;
    assert_eq!((text(&silent).as_str(), silent.exit), ("done\n", Some(0)));

    let brief = Timeouts {
        wait: Some(Duration::from_millis(400)),
        patience: None,
        ..LONG
    };
    let loud = "until [ -e go ]; do echo x; sleep 0.02; done; echo went";
    let left = shell.run_for(loud, brief).await;
    assert!(left.running && !left.timed_out, "{left:?}");
    assert!(shell.session.running_for().is_some());
    let more = shell.session.wait(sandbox, brief).await.unwrap();
    assert!(more.running && text(&more).contains('x'), "{more:?}");
    sandbox.write("go", b"").await.unwrap();
    let ended = shell.session.wait(sandbox, LONG).await.unwrap();
    assert!(text(&ended).ends_with("went\n"), "{ended:?}");
    assert_eq!(shell.session.running_for(), None);

    // Whoever waits longer than a command may run sees it killed.
    let shorter = Timeouts {
        wait: Some(Duration::from_secs(60)),
        patience: None,
        ..SHORT
    };
    let killed = shell.run_for("sleep 86012", shorter).await;
    assert!(killed.timed_out && !killed.running, "{killed:?}");
}

pub(crate) async fn control_keys_reach_the_command(sandbox: &dyn Sandbox) {
    let mut shell = Shell::open(sandbox).await;
    for (command, key, exit) in [
        ("sleep 86010", "C-c", 130),
        ("cat", "C-d", 0),
        ("sleep 86011", "C-z", 148),
    ] {
        let started = shell.run_for(command, SOON).await;
        assert!(started.running, "{started:?}");
        assert_eq!(shell.key(key).await.exit, Some(exit), "{key}");
    }
    assert!(
        shell
            .text("kill -9 %1; wait; echo done")
            .await
            .contains("done\n")
    );
    let idle = shell
        .session
        .send_key(sandbox, "C-c", LONG)
        .await
        .unwrap_err();
    assert!(matches!(idle, SandboxError::Denied(_)));
}

pub(crate) async fn unread_input_does_not_spoil_the_next_command(sandbox: &dyn Sandbox) {
    let mut shell = Shell::open(sandbox).await;
    let started = shell
        .run_for("until [ -e go ]; do sleep 0.05; done", SOON)
        .await;
    assert!(started.running);
    let typed = shell
        .session
        .send_input(sandbox, "echo stray; (exit 9)", SOON)
        .await
        .unwrap();
    assert!(typed.running, "{typed:?}");
    sandbox.write("go", b"").await.unwrap();
    assert_eq!(
        shell.session.wait(sandbox, LONG).await.unwrap().exit,
        Some(0)
    );
    let next = shell.run("echo next; (exit 4)").await;
    assert!(text(&next).ends_with("next\n"), "{next:?}");
    assert_eq!(next.exit, Some(4));
}

pub(crate) async fn a_shell_that_ends_is_replaced(sandbox: &dyn Sandbox) {
    let mut shell = Shell::open(sandbox).await;
    for (command, exit) in [
        ("sleep 86020 & exit 3", Some(3)),
        ("set -e; false", Some(1)),
        ("exec true", None),
    ] {
        let result = shell.run(command).await;
        assert!(
            result.restarted && !result.timed_out && !result.running,
            "{result:?}"
        );
        assert_eq!(result.exit, exit, "{command}");
        assert_eq!(shell.text("echo again").await, "again\n");
    }
}

pub(crate) async fn redirected_and_traced_shells_still_answer(sandbox: &dyn Sandbox) {
    let mut shell = Shell::open(sandbox).await;
    assert_eq!(shell.text("exec 5>&1 >/dev/null").await, "");
    assert_eq!(shell.text("echo lost; echo seen >&5").await, "seen\n");
    shell.run("exec >&5; PS1='(venv) '").await;
    let traced = shell.run("set -x; true; set +x").await;
    assert!(
        text(&traced).contains("+ true") && !text(&traced).contains("agon"),
        "{traced:?}"
    );
    assert_eq!(shell.text("echo plain").await, "plain\n");
}

pub(crate) async fn a_flood_is_bounded_and_killed(sandbox: &dyn Sandbox) {
    let (mut options, sunk) = options();
    options.view = 1000;
    options.output = 50_000;
    let mut shell = Shell::with(sandbox, options, sunk).await;
    let flood = shell.run_for("yes flood", SHORT).await;
    assert!(flood.timed_out && !flood.restarted, "{}", flood.total);
    assert_eq!(flood.output.bytes.len(), 1000);
    assert_eq!(shell.sunk.lock().unwrap().len(), 50_000);
    assert!(shell.session.dropped() >= flood.total - 50_000 && flood.total > 50_000);
    assert!(shell.text("echo calm").await.ends_with("calm\n"));
}

pub(crate) async fn a_fork_bomb_does_not_end_the_session(sandbox: &dyn Sandbox) {
    let mut shell = Shell::open(sandbox).await;
    let greedy = "python3 -c '\nimport os, time\nwhile True:\n  try:\n    os.fork() or time.sleep(99)\n  \
                  except OSError:\n    time.sleep(0.001)'";
    for bomb in ["b() { b | b; }; b", greedy] {
        let result = shell.run_for(bomb, SHORT).await;
        assert!(result.timed_out && !result.running, "{result:?}");
    }
    let after = shell.run("echo after").await;
    assert!(text(&after).ends_with("after\n"), "{after:?}");
    assert_eq!(after.exit, Some(0));
}
