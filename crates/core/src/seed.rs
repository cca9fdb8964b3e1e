//! Randomness as a thing that is handed in. Every trial's seed is derived from the run's seed and
//! the trial's name, so that order and parallelism never change what an agent sees.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Seed(pub u64);

impl Seed {
    pub fn derive(self, name: &str) -> Self {
        let digest = Digest::of_parts([self.0.to_le_bytes().as_slice(), name.as_bytes()]);
        let mut first = [0; 8];
        first.copy_from_slice(&digest.bytes()[..8]);
        Self(u64::from_le_bytes(first))
    }

    pub fn rng(self) -> ChaCha8Rng {
        ChaCha8Rng::seed_from_u64(self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_seeds_are_stable_and_distinct() {
        assert_eq!(Seed(1).derive("a"), Seed(1).derive("a"));
        assert_ne!(Seed(1).derive("a"), Seed(1).derive("b"));
        assert_ne!(Seed(1).derive("a"), Seed(2).derive("a"));
    }
}
