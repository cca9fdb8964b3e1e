//! One pixel compared with a colour.

use agon_core::sight::Colour;

/// Whether no channel differs by more than `tolerance`.
pub fn is_like(found: [u8; 3], wanted: Colour, tolerance: u8) -> bool {
    found
        .iter()
        .zip(wanted.0)
        .all(|(found, wanted)| found.abs_diff(wanted) <= tolerance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_channel_counts() {
        let wanted = Colour([10, 20, 30]);
        assert!(is_like([10, 20, 30], wanted, 0));
        assert!(is_like([13, 17, 33], wanted, 3));
        for found in [[14, 20, 30], [10, 16, 30], [10, 20, 34]] {
            assert!(!is_like(found, wanted, 3), "{found:?}");
        }
    }
}
