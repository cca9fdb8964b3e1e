//! Commands whose time is over: what of them ends, and what stays.

use agon_sandbox::{Exec, Sandbox, WORK};

use super::{LONG, SHORT, Shell, count, options, text};

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
