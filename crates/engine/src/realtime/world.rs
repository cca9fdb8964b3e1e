//! A sandbox as the world of a play: it stands still while its player thinks. The player's thread asks,
//! whoever has the sandbox does it; a player that was left behind finds nobody to ask.

use std::convert::Infallible;
use std::fmt;
use std::future::pending;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use agon_agent::play::World;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::brake::{Brake, Trouble};

/// How long a player waits for its world to stand still or to go on.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wish {
    Freeze,
    Resume,
}

type Ask = (Wish, SyncSender<Result<(), String>>);

/// Given to the player.
pub(super) struct Link {
    asks: UnboundedSender<Ask>,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Link")
    }
}

/// What is asked for.
pub(super) struct Asks(UnboundedReceiver<Ask>);

pub(super) fn link() -> (Link, Asks) {
    let (asks, asked) = unbounded_channel();
    (Link { asks }, Asks(asked))
}

impl Link {
    fn ask(&self, wish: Wish) -> Result<(), String> {
        let gone = || "the play is over".to_owned();
        let (answer, answered) = sync_channel(1);
        self.asks.send((wish, answer)).map_err(|_| gone())?;
        answered.recv_timeout(PATIENCE).map_err(|_| gone())?
    }
}

impl World for Link {
    fn freeze(&self) -> Result<(), String> {
        self.ask(Wish::Freeze)
    }

    fn resume(&self) -> Result<(), String> {
        self.ask(Wish::Resume)
    }
}

/// Does what is asked for, as long as this is polled. What fails is left as `trouble` for whoever awaits
/// the end of the play.
pub(super) async fn serve(
    brake: &Brake<'_>,
    mut asks: Asks,
    trouble: &Mutex<Option<Trouble>>,
) -> Infallible {
    while let Some((wish, answer)) = asks.0.recv().await {
        let done = match wish {
            Wish::Freeze => brake.hold().await,
            Wish::Resume => brake.release().await,
        };
        let done = done.map_err(|error| {
            let why = error.to_string();
            *trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(error.into());
            why
        });
        // Who does not wait any more does not want to know.
        let _ = answer.send(done);
    }
    pending().await
}

#[cfg(test)]
mod tests {
    use tokio::task::spawn_blocking;

    use super::*;

    /// Answers as told, without a sandbox: what is tested is the way there and back.
    async fn answer(mut asks: Asks, with: Result<(), String>) -> Vec<Wish> {
        let mut asked = Vec::new();
        while let Some((wish, answer)) = asks.0.recv().await {
            asked.push(wish);
            answer.send(with.clone()).unwrap();
        }
        asked
    }

    #[tokio::test]
    async fn a_players_thread_is_answered() {
        for with in [Ok(()), Err("no".to_owned())] {
            let (link, asks) = link();
            let expected = with.clone();
            let player = spawn_blocking(move || (link.freeze(), link.resume()));
            let asked = answer(asks, with).await;
            assert_eq!(asked, [Wish::Freeze, Wish::Resume]);
            assert_eq!(player.await.unwrap(), (expected.clone(), expected));
        }
    }

    #[test]
    fn a_player_that_was_left_behind_finds_nobody() {
        let (link, asks) = link();
        drop(asks);
        assert!(link.freeze().unwrap_err().contains("over"));
    }
}
