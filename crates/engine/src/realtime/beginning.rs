//! The beginning of a play: the window is made active, the keys that begin the game are pressed, and what
//! shows the end of an earlier game is gone. Whatever fails here is not the agent's doing: it has not
//! begun.

use std::sync::Arc;
use std::time::Duration;

use agon_core::{Fault, FaultClass, Realtime};
use agon_desktop::{Desktop, KeyCombination};
use tokio::time::{Instant, sleep};

use super::judge::{Blind, Judge};
use crate::apps::Apps;
use crate::seat::blocking;

/// How long a game may take to begin.
const BEGIN: Duration = Duration::from_secs(5);

/// Between two looks whether it has.
const AGAIN: Duration = Duration::from_millis(50);

/// Says when the world began to move.
pub(super) async fn begin(
    desktop: &Arc<Desktop>,
    rules: &Realtime,
    judge: &Judge,
    apps: &Apps,
) -> Result<Instant, Fault> {
    let setup = |message: String| Fault::new(FaultClass::Setup, message);
    if let Some(title) = rules.window.clone() {
        let desktop = Arc::clone(desktop);
        let active = blocking(move || desktop.windows().make_active(&title)).await;
        active.map_err(|fault| setup(format!("the window to be played: {}", fault.message)))?;
    }
    let began = Instant::now();
    if let Some(keys) = &rules.begin {
        let sequence = KeyCombination::sequence(keys);
        let sequence = sequence.map_err(|error| setup(format!("`begin`: {error}")))?;
        let desktop = Arc::clone(desktop);
        blocking(move || {
            let keyboard = desktop.keyboard();
            sequence
                .iter()
                .try_for_each(|keys| keyboard.combination(keys))
        })
        .await?;
    }
    if !judge.asks_anything() {
        return Ok(began);
    }
    let deadline = Instant::now() + BEGIN;
    loop {
        match judge.look(apps, None).await {
            Ok(judgement) => match judgement.over {
                None => return Ok(began),
                Some(sign) if Instant::now() >= deadline => {
                    return Err(setup(format!(
                        "the world had ended before it began: {sign} (after {} s)",
                        BEGIN.as_secs()
                    )));
                }
                Some(_) => {}
            },
            Err(Blind::Desktop(error)) => return Err(crate::seat::fault(&error)),
            Err(Blind::Record(error)) => return Err(crate::attempt::evidence_lost(&error)),
            Err(Blind::Fault(fault)) => return Err(fault),
        }
        sleep(AGAIN).await;
    }
}
