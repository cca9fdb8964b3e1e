//! Commands that are left running: waited for, typed to, interrupted.

use std::time::Duration;

use agon_sandbox::{Left, Sandbox, SandboxError, Timeouts};

use super::{LONG, SHORT, SOON, Shell, text};

pub(crate) async fn a_silent_command_can_be_waited_for_and_typed_to(sandbox: &dyn Sandbox) {
    let mut shell = Shell::open(sandbox).await;
    let asked = shell
        .run_for("printf 'name? '; read name; echo hello $name", SOON)
        .await;
    assert!(
        asked.running && asked.exit.is_none() && !asked.timed_out,
        "{asked:?}"
    );
    assert_eq!(
        (text(&asked).as_str(), asked.left),
        ("name? ", Some(Left::Silent))
    );
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
    assert_eq!(left.left, Some(Left::Late));
    assert!(shell.session.running_for().is_some());
    let more = shell.session.wait(sandbox, brief).await.unwrap();
    assert!(more.running && text(&more).contains('x'), "{more:?}");
    sandbox.write("go", b"").await.unwrap();
    let ended = shell.session.wait(sandbox, LONG).await.unwrap();
    assert!(text(&ended).ends_with("went\n"), "{ended:?}");
    assert_eq!(ended.left, None);
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
