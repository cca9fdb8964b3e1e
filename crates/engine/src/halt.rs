//! The wish that an agent's turn ends now, of somebody who looks on. Whoever plays the turn awaits it; what
//! was done so far is kept.

use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Clone, Default)]
pub struct Halt {
    asked: CancellationToken,
    by: Arc<OnceLock<String>>,
    /// When the attempt began whose turn it ends.
    began: Arc<OnceLock<Timestamp>>,
}

impl Halt {
    /// The attempt has begun, as others are told.
    pub(crate) fn begun(&self, at: Timestamp) {
        self.began.get_or_init(|| at);
    }

    /// Whether the attempt is meant by who speaks of one that began then; without a time any is. Of one that
    /// has not begun nobody can know when it will.
    pub(crate) fn is_of(&self, began: Option<Timestamp>) -> bool {
        began.is_none_or(|began| self.began.get() == Some(&began))
    }

    /// An operator asks, by this name; it may be empty. The first one is told of.
    pub fn ask(&self, by: &str) {
        self.by.get_or_init(|| by.to_owned());
        self.asked.cancel();
    }

    /// Comes back when it was asked for.
    pub(crate) async fn asked(&self) {
        self.asked.cancelled().await;
    }

    /// What a record says about it. Nothing where whoever asked tells of it himself.
    pub(crate) fn note(&self) -> Option<String> {
        self.by.get().map(|by| match by.as_str() {
            "" => "an operator stopped the trial".to_owned(),
            by => format!("an operator stopped the trial: {by}"),
        })
    }
}

/// Of a program that ends its own agent's turn.
impl From<CancellationToken> for Halt {
    fn from(asked: CancellationToken) -> Self {
        Self {
            asked,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_asked_first_is_told() {
        let halt = Halt::default();
        assert_eq!(halt.note(), None);
        halt.ask("Ada");
        halt.ask("Bob");
        halt.asked().await;
        let note = halt.note();
        assert_eq!(note.as_deref(), Some("an operator stopped the trial: Ada"));
    }

    #[test]
    fn who_names_another_time_means_another_play() {
        let at = |text: &str| Some(text.parse::<Timestamp>().unwrap());
        let (this, other) = (at("2026-11-16T12:00:00Z"), at("2026-11-16T12:00:00.1Z"));
        let halt = Halt::default();
        assert!(halt.is_of(None) && !halt.is_of(this));
        halt.begun(this.unwrap());
        assert!(halt.is_of(None) && halt.is_of(this) && !halt.is_of(other));
    }

    #[tokio::test]
    async fn a_program_that_ends_its_own_turn_is_no_operator() {
        let token = CancellationToken::new();
        let halt = Halt::from(token.clone());
        token.cancel();
        halt.asked().await;
        assert_eq!(halt.note(), None);
    }
}
