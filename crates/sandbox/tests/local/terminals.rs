//! Programs on terminals.

use std::time::Duration;

use agon_sandbox::{Exec, Moment, Terminal};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

use crate::ground::{ground, text};

const DEADLINE: Duration = Duration::from_secs(20);

async fn until(terminal: &mut Terminal, wanted: &str) -> String {
    let mut seen = Vec::new();
    let mut buffer = [0; 1024];
    while !text(&seen).contains(wanted) {
        let read = timeout(DEADLINE, terminal.reader.read(&mut buffer)).await;
        let count = read
            .unwrap_or_else(|_| panic!("no {wanted} in {}", text(&seen)))
            .unwrap();
        assert_ne!(count, 0, "ended: {}", text(&seen));
        seen.extend_from_slice(&buffer[..count]);
    }
    text(&seen)
}

async fn say(terminal: &mut Terminal, line: &str) {
    terminal.writer.write_all(line.as_bytes()).await.unwrap();
}

fn shell() -> Exec {
    Exec::new(
        ["bash", "--noprofile", "--norc", "--noediting", "-i"],
        DEADLINE,
    )
}

#[tokio::test]
async fn a_shell_has_a_terminal_without_echo_and_without_cooked_output() {
    let ground = ground().await;
    let mut terminal = ground.sandbox.terminal(&shell()).await.unwrap();
    say(&mut terminal, "PS1=; tty; echo $((40+2))\n").await;
    let seen = until(&mut terminal, "42\n").await;
    assert!(seen.contains("/dev/pts/"), "{seen}");
    assert!(!seen.contains("40+2") && !seen.contains('\r'), "{seen}");
    say(&mut terminal, "exit\n").await;
    let mut rest = Vec::new();
    timeout(DEADLINE, terminal.reader.read_to_end(&mut rest))
        .await
        .unwrap()
        .unwrap();
}

#[tokio::test]
async fn control_keys_reach_the_foreground() {
    let ground = ground().await;
    let mut terminal = ground.sandbox.terminal(&shell()).await.unwrap();
    say(
        &mut terminal,
        "PS1=; sh -c 'echo started; exec sleep 1000'; echo after\n",
    )
    .await;
    until(&mut terminal, "started\n").await;
    say(&mut terminal, "\x03").await;
    say(&mut terminal, "echo still $((1+1))\n").await;
    until(&mut terminal, "still 2").await;
}

#[tokio::test]
async fn a_command_can_be_killed_without_the_shell() {
    let ground = ground().await;
    let mut terminal = ground.sandbox.terminal(&shell()).await.unwrap();
    say(
        &mut terminal,
        "PS1=; trap : USR2; sleep 6000 & echo pid-$$-\n",
    )
    .await;
    let seen = until(&mut terminal, "-\n").await;
    let pid: u32 = seen
        .split("pid-")
        .nth(1)
        .unwrap()
        .split('-')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    let stamp = ground
        .sh("read -r up _ </proc/uptime; echo ${up%.*}${up#*.}; cat /proc/loadavg")
        .await;
    let stamp = text(&stamp.stdout.bytes);
    let (tick, load) = stamp.split_once('\n').unwrap();
    let since = Moment {
        tick: tick.parse().unwrap(),
        pid: load.trim().rsplit(' ').next().unwrap().parse().unwrap(),
    };
    let kill = |shell| ground.sandbox.kill_command(shell, since);
    assert!(!kill(pid).await.unwrap());

    say(&mut terminal, "sh -c 'trap \"\" INT TERM HUP; setsid sleep 6001 & sleep 6002 & echo up; wait'; echo next\n").await;
    until(&mut terminal, "up\n").await;
    assert!(kill(pid).await.unwrap());
    until(&mut terminal, "next\n").await;
    let left = ground.sh("ps -eo args | grep '^sleep 600'").await;
    assert_eq!(text(&left.stdout.bytes), "sleep 6000\n");
    assert!(!kill(999_999).await.unwrap());
    assert!(!kill(1).await.unwrap());
}

#[tokio::test]
async fn a_dropped_terminal_takes_its_programs_along() {
    let ground = ground().await;
    let mut terminal = ground.sandbox.terminal(&shell()).await.unwrap();
    say(&mut terminal, "PS1=; nohup sleep 7001 & echo up\n").await;
    until(&mut terminal, "up\n").await;
    drop(terminal);
    ground.wait_for_end("sleep 7001").await;
}
