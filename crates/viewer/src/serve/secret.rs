//! Words that only this process and who it told know. Never shown by `Debug`, and compared in a time that
//! tells nothing.

use std::fmt;

use rand::TryRng as _;
use rand::rngs::SysRng;

use crate::error::ViewerError;

#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    pub(crate) fn random() -> Result<Self, ViewerError> {
        let mut bytes = [0; 16];
        SysRng.try_fill_bytes(&mut bytes).map_err(|error| {
            ViewerError::Internal(format!("the system gives no random bytes: {error}"))
        })?;
        Ok(Self(hex::encode(bytes)))
    }

    /// For whom it is meant.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    pub(crate) fn is(&self, said: &str) -> bool {
        let (ours, theirs) = (self.0.as_bytes(), said.as_bytes());
        let differing = ours
            .iter()
            .zip(theirs)
            .fold(0, |found, (a, b)| found | (a ^ b));
        ours.len() == theirs.len() && std::hint::black_box(differing) == 0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_very_same_words_are_taken() {
        let secret = Secret::random().unwrap();
        let said = secret.reveal().to_owned();
        assert!(secret.is(&said));
        for wrong in [
            "",
            &said[1..],
            &format!("{said}0"),
            &said.replace(|_| true, "g"),
        ] {
            assert!(!secret.is(wrong), "{wrong}");
        }
        assert_ne!(Secret::random().unwrap(), secret);
        assert_eq!(format!("{secret:?}"), "Secret");
    }
}
