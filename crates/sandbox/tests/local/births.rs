//! Programs whose start somebody in the sandbox wants to hold up.

use std::time::Duration;

use agon_sandbox::Exec;
use tokio::io::AsyncReadExt;

use crate::ground::ground;

/// Stops everybody who is born after it, at once: pids rise.
const ENEMY: &str = "
import os, signal
print('ready', flush=True)
while True:
    for pid in range(os.getpid() + 1, os.getpid() + 40):
        try:
            os.kill(pid, signal.SIGSTOP)
        except OSError:
            pass
";

#[tokio::test]
async fn who_stops_programs_that_start_does_not_stop_the_sandbox() {
    let mut ground = ground().await;
    let within = Duration::from_secs(60);
    let enemy = Exec::new(["python3", "-c", ENEMY], within);
    let mut enemy = ground.sandbox.spawn(&enemy).await.unwrap();
    enemy.stdout.read_u8().await.unwrap();
    for _ in 0..10 {
        // Held before it is a program, or after that, or not at all; but there is an answer.
        let program = Exec::new(["sleep", "86050"], Duration::from_millis(100));
        ground.sandbox.exec(&program).await.unwrap();
    }
    ground.sandbox.write("kept", b"x").await.unwrap();
    let frozen = ground.sandbox.freeze().await.unwrap();
    assert!(frozen.work.find("kept", 1).unwrap().is_some());
}
