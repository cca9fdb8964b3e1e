//! The wish that an agent's turn ends now, of somebody who looks on. Whoever plays the turn awaits it; what
//! was done so far is kept.

use std::sync::{Arc, OnceLock};

use tokio_util::sync::CancellationToken;

#[derive(Debug, Clone, Default)]
pub struct Halt {
    asked: CancellationToken,
    by: Arc<OnceLock<String>>,
}

impl Halt {
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
            by: Arc::default(),
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

    #[tokio::test]
    async fn a_program_that_ends_its_own_turn_is_no_operator() {
        let token = CancellationToken::new();
        let halt = Halt::from(token.clone());
        token.cancel();
        halt.asked().await;
        assert_eq!(halt.note(), None);
    }
}
