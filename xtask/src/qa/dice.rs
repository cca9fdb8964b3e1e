//! Numbers that look random and are the same on every machine and with every version of every library.

pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// SplitMix64.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From `least` to `most`, both included.
    pub(super) fn number(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }

    /// An index below `count`.
    pub(super) fn index(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    /// So many different ones, in a random order.
    pub(super) fn some<T: Copy>(&mut self, from: &[T], count: usize) -> Vec<T> {
        let mut all = from.to_vec();
        let mut taken = Vec::new();
        while taken.len() < count && !all.is_empty() {
            taken.push(all.swap_remove(self.index(all.len())));
        }
        taken
    }
}
