//! Players that are written as asynchronous code.

use std::sync::mpsc;
use std::time::Duration;

use agon_agent::play::{AsyncPlayer, Asynchronous, Cause, Flow, Play, PlayEnd, PlayError, Task};
use agon_desktop::Key;
use async_trait::async_trait;

use super::stage::{PATIENCE, Stage, await_telling, down, end, up};

/// Says so when it is dropped.
struct Guard(mpsc::Sender<&'static str>, &'static str);

impl Drop for Guard {
    fn drop(&mut self) {
        let _ = self.0.send(self.1);
    }
}

struct Dreamer {
    begun: mpsc::Sender<()>,
    dropped: mpsc::Sender<&'static str>,
}

#[async_trait]
impl AsyncPlayer for Dreamer {
    async fn init_task(&mut self, _: &Task, play: &mut Play) -> Result<(), PlayError> {
        tokio::time::sleep(Duration::from_millis(1)).await;
        play.keyboard().press(Key::Right)
    }

    async fn play_env(&mut self, _: &Task, _: &mut Play) -> Flow {
        let spawned = Guard(self.dropped.clone(), "spawned");
        tokio::spawn(async move {
            let _guard = spawned;
            std::future::pending::<()>().await;
        });
        let _guard = Guard(self.dropped.clone(), "awaited");
        tokio::task::yield_now().await;
        let _ = self.begun.send(());
        std::future::pending::<()>().await;
        Flow::Finish
    }
}

#[test]
fn what_is_awaited_or_spawned_is_dropped_at_the_stop() {
    let stage = Stage::new();
    let (begun, has_begun) = mpsc::channel();
    let (dropped, drops) = mpsc::channel();
    let playing = stage.start(Asynchronous::new(Dreamer { begun, dropped }));
    await_telling(&has_begun);
    playing.stop().ask(Cause::EnvEnded);
    assert_eq!(end(&playing).end, PlayEnd::Stopped(Cause::EnvEnded));
    assert_eq!(drops.recv_timeout(PATIENCE), Ok("awaited"));
    assert_eq!(drops.recv_timeout(PATIENCE), Ok("spawned"));
    assert_eq!(stage.keys(), [down("Right"), up("Right")]);
}

struct Twice(u32);

#[async_trait]
impl AsyncPlayer for Twice {
    async fn play_env(&mut self, _: &Task, play: &mut Play) -> Flow {
        self.0 += 1;
        tokio::time::sleep(Duration::from_millis(1)).await;
        match play.keyboard().tap(Key::Left, Duration::ZERO) {
            Ok(()) if self.0 == 2 => Flow::Finish,
            Ok(()) => Flow::Continue,
            Err(error) => Flow::Fail(error),
        }
    }

    async fn finish_task(&mut self, _: &Task) {
        tokio::time::sleep(Duration::from_millis(1)).await;
        self.0 = 0;
    }
}

/// The player is dropped inside of asynchronous code, which must not wait.
#[tokio::test(flavor = "multi_thread")]
async fn it_plays_and_finishes_like_any_other() {
    let stage = Stage::new();
    let playing = stage.start(Asynchronous::new(Twice(0)));
    playing.over().await;
    let played = playing.wait(Duration::ZERO).unwrap();
    assert_eq!((played.end, played.stats.steps), (PlayEnd::Finished, 2));
    drop(played.player);
    assert_eq!(
        stage.keys(),
        [down("Left"), up("Left"), down("Left"), up("Left")]
    );
}
