//! A thousand tasks over one server, and nothing of them left.

use std::fs;

use agon_arena::{Flow, PlayError};

use super::agent_server_stage::{Closures, Keys, Stage};

fn resident_kilobytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    line.unwrap()
        .split_whitespace()
        .nth(1)
        .unwrap()
        .parse()
        .unwrap()
}

fn count(folder: &str) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[tokio::test(flavor = "multi_thread")]
async fn many_tasks_leave_nothing_behind() {
    leave_nothing_behind(150).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn long_form_a_thousand_tasks_leave_nothing_behind() {
    leave_nothing_behind(1000).await;
}

async fn leave_nothing_behind(tasks: usize) {
    // After so many, what is made once is there.
    let warm_after = tasks / 3;
    let keys = Keys::start();
    let stage = Stage::with(&keys.options(), || {
        Closures::step(|task, play| match task.task_id.rsplit('-').next() {
            Some("finishes") => Flow::Finish,
            Some("fails") => Flow::Fail(PlayError::Agent("x".repeat(1000))),
            _ => Flow::of(|| {
                play.keyboard().press(agon_desktop::Key::Right)?;
                Ok(Flow::Continue)
            }),
        })
    })
    .await;
    let mut before = None;
    for number in 0..tasks {
        let how = ["finishes", "fails", "plays"][number % 3];
        let id = format!("{number}-{how}");
        stage.start(&id).await;
        if how == "plays" {
            assert_eq!(stage.stop().await.0, 200);
        } else {
            assert_eq!(stage.ear.hear().body["task_id"], id);
        }
        if number == warm_after {
            before = Some((resident_kilobytes(), count("/proc/self/fd")));
        }
    }
    assert_eq!(stage.state().await, "READY");
    assert!(stage.ear.heard().is_empty());
    let (memory, files) = before.unwrap();
    let grown = resident_kilobytes().saturating_sub(memory);
    assert!(
        grown < 16 * 1024,
        "{grown} KB more than after {warm_after} tasks"
    );
    // Guardians linger for a tenth of a second, with their connections.
    assert!(count("/proc/self/fd") < files + 40);
    assert!(count("/proc/self/task") < 60);
    assert!(!keys.are_down());
}
