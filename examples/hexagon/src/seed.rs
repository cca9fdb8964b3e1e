//! Chance, from a seed alone: the same seed gives the same walls on every machine and for good, so it
//! is spelled out here (SplitMix64).

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Debug, Clone)]
pub struct Chance(u64);

impl Chance {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// One of `0..count`, which is small.
    pub const fn below(&mut self, count: u64) -> u64 {
        self.next() % count
    }
}

/// The seed of the `game`-th game of a player who began with `seed`: the first has that seed itself,
/// the others follow from it and their number. They fit in 53 bits, for readers of JSON that know no
/// larger numbers, and each can be given to `--seed` to play that game again.
pub const fn of_game(seed: u64, game: u32) -> u64 {
    if game <= 1 {
        return seed;
    }
    let jump = GOLDEN.wrapping_mul(game as u64 - 1);
    Chance::new(seed.wrapping_add(jump)).next() >> 11
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn chance_is_the_same_for_good() {
        let mut chance = Chance::new(0);
        assert_eq!(chance.next(), 0xe220_a839_7b1d_cdaf);
        assert_eq!(chance.next(), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn every_game_has_a_seed_of_its_own() {
        assert_eq!(of_game(7, 1), 7);
        let seeds: BTreeSet<u64> = (1..=1000).map(|game| of_game(7, game)).collect();
        assert_eq!(seeds.len(), 1000);
        assert!(seeds.iter().all(|&seed| seed < 1 << 53));
    }
}
