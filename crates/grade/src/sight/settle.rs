//! A second look, and if need be a third: a number decides a score, so it is read in several sizes,
//! and only what is plausible and was read alike counts. What stays in doubt says so.

use std::sync::Arc;

use agon_core::SightTest;
use agon_core::sight::NumberTest;
use agon_vision::{Image, Line, Reader};

use super::finding::{SightError, SightFinding};
use super::judge::{Sight, judge, part};
use super::{number, words};

/// How many times larger, look by look.
const SIZES: [u32; 3] = [1, 2, 3];
/// So sure must the only reading be that there is.
const ALONE: f64 = 0.9;
/// A picture is not enlarged beyond this.
const MOST_PIXELS: u64 = 4096 * 4096;

/// Answers a question as [`judge`] does, but looks again where a number is asked for. A finding with
/// a `doubt` could not be settled.
pub fn settle(test: &SightTest, sight: &Sight<'_>) -> Result<SightFinding, SightError> {
    let SightTest::Text {
        region,
        tests,
        number: Some(number),
    } = test
    else {
        return judge(test, sight);
    };
    words::usable(tests)?;
    let picture = part(&sight.last, *region)?;
    let reader = Reader::shared()?;
    let mut words = None;
    let mut readings = Vec::new();
    for size in SIZES {
        let Some(picture) = enlarged(&picture, size) else {
            break;
        };
        let lines: Vec<Line> = reader.read(&picture)?;
        if words.is_none() {
            words = Some(words::find(tests, &lines)?);
        }
        readings.push(number::find(number, &lines, sight.played));
        if agreed(&readings).is_some() {
            break;
        }
    }
    let finding = verdict(number, readings);
    Ok(match words {
        Some(words) => finding.with(words),
        None => finding,
    })
}

/// The value that two looks gave, if there is one.
fn agreed(readings: &[SightFinding]) -> Option<&SightFinding> {
    believable(readings).find(|one| {
        let alike = believable(readings).filter(|other| other.value == one.value);
        alike.count() >= 2
    })
}

/// Readings that have a number and no doubt.
fn believable(readings: &[SightFinding]) -> impl Iterator<Item = &SightFinding> {
    readings
        .iter()
        .filter(|reading| reading.value.is_some() && reading.doubt.is_none())
}

/// What several looks together say.
fn verdict(test: &NumberTest, readings: Vec<SightFinding>) -> SightFinding {
    if let Some(agreed) = agreed(&readings) {
        return agreed.clone();
    }
    let all: Vec<_> = believable(&readings).collect();
    if let [only] = all[..]
        && only
            .confidence
            .is_some_and(|confidence| confidence >= ALONE)
    {
        return only.clone();
    }
    // Nothing there at all is an answer; anything else is not.
    let nothing = |reading: &SightFinding| reading.value.is_none() && reading.doubt.is_none();
    let doubt = match readings.iter().all(nothing) {
        true => None,
        false => Some(in_doubt(test, &readings)),
    };
    let first = readings.into_iter().next();
    let first = first.unwrap_or_else(|| SightFinding::plain(false, "nothing was read"));
    SightFinding { doubt, ..first }
}

fn in_doubt(test: &NumberTest, readings: &[SightFinding]) -> String {
    let said: Vec<String> = readings
        .iter()
        .map(|reading| match (&reading.doubt, reading.value) {
            (Some(doubt), _) => doubt.clone(),
            (None, Some(value)) => value.to_string(),
            (None, None) => "nothing".to_owned(),
        })
        .collect();
    let what = match &test.after {
        Some(word) => format!("the number after {word}"),
        None => "the number".to_owned(),
    };
    format!(
        "{what} could not be read reliably, look by look: {}",
        said.join("; ")
    )
}

/// Every pixel as a square of `size` by `size`; none if that would be too large.
fn enlarged(image: &Arc<Image>, size: u32) -> Option<Arc<Image>> {
    if size == 1 {
        return Some(Arc::clone(image));
    }
    let width = image.width().checked_mul(size)?;
    let height = image.height().checked_mul(size)?;
    if u64::from(width) * u64::from(height) > MOST_PIXELS {
        return None;
    }
    let size = size as usize;
    let mut bgrx = Vec::with_capacity(width as usize * height as usize * 4);
    for row in image.rgb().chunks_exact(image.width() as usize * 3) {
        let start = bgrx.len();
        for pixel in row.chunks_exact(3) {
            for _ in 0..size {
                bgrx.extend_from_slice(&[pixel[2], pixel[1], pixel[0], 0]);
            }
        }
        let end = bgrx.len();
        for _ in 1..size {
            bgrx.extend_from_within(start..end);
        }
    }
    Image::from_bgrx(width, height, &bgrx).ok().map(Arc::new)
}

#[cfg(test)]
mod tests {
    use agon_core::sight::NumberForm;
    use proptest::prelude::*;

    use super::*;

    const TEST: NumberTest = NumberTest {
        after: None,
        form: NumberForm::Plain,
        at_least: None,
        at_most: None,
        within_play: true,
    };

    fn read(value: f64, confidence: f64) -> SightFinding {
        SightFinding {
            value: Some(value),
            confidence: Some(confidence),
            ..SightFinding::plain(true, format!("read {value}"))
        }
    }

    fn doubtful(value: f64) -> SightFinding {
        SightFinding {
            doubt: Some(format!("{value} can't be right")),
            ..read(value, 0.99)
        }
    }

    fn nothing() -> SightFinding {
        SightFinding::plain(false, "there is no number")
    }

    fn settled(readings: &[SightFinding]) -> Option<f64> {
        let finding = verdict(&TEST, readings.to_vec());
        finding.value.filter(|_| finding.doubt.is_none())
    }

    #[test]
    fn two_that_agree_settle_it() {
        assert_eq!(settled(&[read(2.26, 0.6), read(2.26, 0.6)]), Some(2.26));
        assert_eq!(
            settled(&[doubtful(226.0), read(2.26, 0.6), read(2.26, 0.6)]),
            Some(2.26)
        );
        assert_eq!(
            settled(&[read(2.28, 0.9), read(2.26, 0.6), read(2.26, 0.6)]),
            Some(2.26)
        );
        // Being wrong alike does not make it right.
        assert_eq!(
            settled(&[doubtful(226.0), doubtful(226.0), nothing()]),
            None
        );
    }

    #[test]
    fn one_alone_must_be_sure() {
        assert_eq!(settled(&[nothing(), read(5.0, 0.95), nothing()]), Some(5.0));
        assert_eq!(settled(&[doubtful(9.0), read(5.0, 0.95)]), Some(5.0));
        assert_eq!(settled(&[nothing(), read(5.0, 0.6), nothing()]), None);
        assert_eq!(settled(&[read(5.0, 0.95), read(6.0, 0.95)]), None);
    }

    #[test]
    fn a_doubt_tells_what_every_look_saw_and_nothing_is_an_answer() {
        let finding = verdict(&TEST, vec![read(5.0, 0.6), doubtful(9.0), nothing()]);
        assert_eq!(
            finding.doubt.as_deref(),
            Some(
                "the number could not be read reliably, look by look: 5; 9 can't be right; nothing"
            )
        );
        let finding = verdict(&TEST, vec![nothing(), nothing(), nothing()]);
        assert_eq!((finding.holds, finding.doubt), (false, None));
    }

    #[test]
    fn enlarging_repeats_every_pixel() {
        let bgrx = [1, 2, 3, 0, 4, 5, 6, 0, 7, 8, 9, 0, 10, 11, 12, 0];
        let image = Arc::new(Image::from_bgrx(2, 2, &bgrx).unwrap());
        let large = enlarged(&image, 3).unwrap();
        assert_eq!((large.width(), large.height()), (6, 6));
        for (x, y) in (0..6).flat_map(|x| (0..6).map(move |y| (x, y))) {
            assert_eq!(large.pixel(x, y), image.pixel(x / 3, y / 3));
        }
        let wide = Image::from_bgrx(8192, 1024, &vec![0; 8192 * 1024 * 4]).unwrap();
        assert!(enlarged(&Arc::new(wide), 2).is_none());
    }

    proptest! {
        #[test]
        fn what_is_settled_was_read_without_a_doubt(
            looks in prop::collection::vec((0u8..4, 0u8..3, 0.5f64..1.0), 1..4),
        ) {
            let readings: Vec<_> = looks
                .iter()
                .map(|&(value, kind, confidence)| match kind {
                    0 => read(f64::from(value), confidence),
                    1 => doubtful(f64::from(value)),
                    _ => nothing(),
                })
                .collect();
            if let Some(value) = settled(&readings) {
                prop_assert!(believable(&readings).any(|one| one.value == Some(value)));
            }
        }
    }
}
