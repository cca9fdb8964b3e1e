//! What a shell session must do in every sandbox. Each scenario gets a fresh sandbox.

mod killed;
mod waited;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_sandbox::{CommandResult, Exec, Sandbox, SessionOptions, ShellSession, Timeouts};

pub(crate) use self::killed::*;
pub(crate) use self::waited::*;

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
