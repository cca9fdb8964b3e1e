//! How much of a picture differs from another one.

use agon_core::Region;

use crate::image::Image;

/// The share (0 to 1) of the pixels of a region, or of everything, that differ. What only one of the
/// two has differs; a region outside of both has nothing that could.
pub fn changed_share(before: &Image, after: &Image, region: Option<Region>) -> f64 {
    let width = before.width().max(after.width());
    let height = before.height().max(after.height());
    let region = region.unwrap_or(Region {
        x: 0,
        y: 0,
        width,
        height,
    });
    let right = region.x.saturating_add(region.width).min(width);
    let bottom = region.y.saturating_add(region.height).min(height);
    let across = u64::from(right.saturating_sub(region.x));
    let all = across * u64::from(bottom.saturating_sub(region.y));
    if all == 0 {
        return 0.0;
    }
    let mut same = 0u64;
    for y in region.y..bottom {
        let rows = (
            row(before, y, region.x, right),
            row(after, y, region.x, right),
        );
        let pixels = rows.0.chunks_exact(3).zip(rows.1.chunks_exact(3));
        same += pixels.filter(|(a, b)| a == b).count() as u64;
    }
    (all - same) as f64 / all as f64
}

/// As much of a row as there is.
fn row(image: &Image, y: u32, left: u32, right: u32) -> &[u8] {
    let right = right.min(image.width());
    if y >= image.height() || left >= right {
        return &[];
    }
    let at = |x: u32| (y as usize * image.width() as usize + x as usize) * 3;
    image.rgb().get(at(left)..at(right)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn grey(width: u32, height: u32, values: &[u8]) -> Image {
        let bgrx: Vec<u8> = values.iter().flat_map(|&v| [v; 4]).collect();
        Image::from_bgrx(width, height, &bgrx).unwrap()
    }

    fn region(x: u32, y: u32, width: u32, height: u32) -> Option<Region> {
        Some(Region {
            x,
            y,
            width,
            height,
        })
    }

    #[test]
    fn pixels_that_differ_are_counted() {
        let before = grey(4, 2, &[0; 8]);
        let after = grey(4, 2, &[0, 0, 0, 1, 0, 0, 0, 0]);
        assert_eq!(changed_share(&before, &after, None), 0.125);
        assert_eq!(changed_share(&before, &after, region(3, 0, 1, 1)), 1.0);
        assert_eq!(changed_share(&before, &after, region(0, 0, 3, 2)), 0.0);
        assert_eq!(changed_share(&before, &after, region(2, 0, 9, 9)), 0.25);
        assert_eq!(changed_share(&before, &after, region(9, 9, 9, 9)), 0.0);
    }

    #[test]
    fn what_only_one_has_differs() {
        let small = grey(2, 2, &[5; 4]);
        let large = grey(4, 2, &[5; 8]);
        assert_eq!(changed_share(&small, &large, None), 0.5);
        assert_eq!(changed_share(&large, &small, None), 0.5);
    }

    proptest! {
        #[test]
        fn it_is_a_share_and_symmetric(
            a in prop::collection::vec(0u8..3, 24),
            b in prop::collection::vec(0u8..3, 24),
            x in any::<u32>(), y in 0u32..8, width in any::<u32>(), height in 0u32..9,
        ) {
            let (a, b) = (grey(6, 4, &a), grey(4, 6, &b));
            for region in [None, region(x, y, width, height), region(x % 7, y, width, height)] {
                let share = changed_share(&a, &b, region);
                prop_assert!((0.0..=1.0).contains(&share));
                prop_assert_eq!(share, changed_share(&b, &a, region));
                prop_assert_eq!(changed_share(&a, &a, region), 0.0);
            }
        }
    }
}
