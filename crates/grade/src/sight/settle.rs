//! A second look, and if need be more: a number decides a score, so it is read in several sizes, and by
//! another program where there is one, and only what is plausible and was read alike counts. What was
//! read alike and can't be has failed; what stays in doubt says so.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_core::SightTest;
use agon_core::sight::NumberTest;
use agon_vision::{Image, Line, Reader};

use super::finding::{SightError, SightFinding, read};
use super::judge::{Sight, judge_by, part};
use super::{number, words};

/// How many times larger, look by look.
const SIZES: [u32; 3] = [1, 2, 3];
/// So sure must the only reading be that there is.
const ALONE: f64 = 0.9;
/// How long all looks together may take where nobody says it.
const SETTLING: Duration = Duration::from_secs(30);

/// Answers a question as [`judge`](super::judge()) does, but looks again where a number is asked for. A
/// finding with a `doubt` could not be settled.
pub fn settle(test: &SightTest, sight: &Sight<'_>) -> Result<SightFinding, SightError> {
    settle_by(test, sight, Instant::now() + SETTLING)
}

/// As [`settle`], with a deadline of its own. What can't be read by then is too much.
pub fn settle_by(
    test: &SightTest,
    sight: &Sight<'_>,
    deadline: Instant,
) -> Result<SightFinding, SightError> {
    let SightTest::Text {
        region,
        tests,
        number: Some(number),
    } = test
    else {
        return judge_by(test, sight, deadline);
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
        let lines = match read(reader.read_by(&picture, deadline))? {
            Ok(lines) => lines,
            Err(too_much) => return Ok(too_much),
        };
        if words.is_none() {
            words = Some(words::find(tests, &lines)?);
        }
        readings.push(number::find(number, &lines, sight.played));
        if agreed(&readings).is_some() {
            break;
        }
    }
    let mut finding = verdict(number, &readings);
    if finding.doubt.is_some()
        && let Some(lines) = read_otherwise(&reader, &picture, deadline)
    {
        let other = number::find(number, &lines, sight.played);
        finding = confirmed(number, &readings, other);
    }
    Ok(match words {
        Some(words) => finding.with(words),
        None => finding,
    })
}

/// What another program reads, if there is one and it can.
fn read_otherwise(reader: &Reader, picture: &Image, deadline: Instant) -> Option<Vec<Line>> {
    reader.second_opinion()?.read_by(picture, deadline).ok()
}

/// A reading that can be believed and that two looks gave, if there is one.
fn agreed(readings: &[SightFinding]) -> Option<&SightFinding> {
    twice(&believable(readings).collect::<Vec<_>>())
}

/// A reading that can't be right and that two looks gave for sure, if nothing else speaks for another:
/// then the screen really says so.
fn impossible(readings: &[SightFinding]) -> Option<&SightFinding> {
    if believable(readings).next().is_some() {
        return None;
    }
    twice(&sure(readings).collect::<Vec<_>>())
}

fn twice<'a>(readings: &[&'a SightFinding]) -> Option<&'a SightFinding> {
    let alike = |one: &SightFinding| {
        let alike = readings.iter().filter(|other| other.value == one.value);
        alike.count()
    };
    readings.iter().copied().find(|one| alike(one) >= 2)
}

/// Readings that have a number and no doubt.
fn sure(readings: &[SightFinding]) -> impl Iterator<Item = &SightFinding> {
    readings
        .iter()
        .filter(|reading| reading.value.is_some() && reading.doubt.is_none())
}

/// Those that may be right.
fn believable(readings: &[SightFinding]) -> impl Iterator<Item = &SightFinding> {
    sure(readings).filter(|reading| reading.refused.is_none())
}

/// What several looks together say.
fn verdict(test: &NumberTest, readings: &[SightFinding]) -> SightFinding {
    if let Some(agreed) = agreed(readings) {
        return agreed.clone();
    }
    let all: Vec<_> = believable(readings).collect();
    if let [only] = all[..]
        && only
            .confidence
            .is_some_and(|confidence| confidence >= ALONE)
    {
        return only.clone();
    }
    if let Some(impossible) = impossible(readings) {
        return impossible.clone();
    }
    // Nothing there at all is an answer; anything else is not.
    let nothing = |reading: &SightFinding| reading.value.is_none() && reading.doubt.is_none();
    if readings.iter().all(nothing) {
        let first = readings.first().cloned();
        return first.unwrap_or_else(|| SightFinding::plain(false, "nothing was read"));
    }
    in_doubt(test, readings)
}

/// What looks that were in doubt say together with what another program read. That can confirm one of
/// them, but never stands alone: it reads worse.
fn confirmed(test: &NumberTest, readings: &[SightFinding], other: SightFinding) -> SightFinding {
    let all: Vec<_> = readings.iter().cloned().chain([other]).collect();
    let settled = agreed(&all).or_else(|| impossible(&all)).cloned();
    settled.unwrap_or_else(|| in_doubt(test, &all))
}

/// The first look, and what speaks against it.
fn in_doubt(test: &NumberTest, readings: &[SightFinding]) -> SightFinding {
    let said: Vec<String> = readings
        .iter()
        .map(|reading| match (reading.disbelief(), reading.value) {
            (Some(doubt), _) => doubt.to_owned(),
            (None, Some(value)) => value.to_string(),
            (None, None) => "nothing".to_owned(),
        })
        .collect();
    let what = match &test.after {
        Some(word) => format!("the number after {word}"),
        None => "the number".to_owned(),
    };
    let doubt = format!(
        "{what} could not be read reliably, look by look: {}",
        said.join("; ")
    );
    let first = readings.first().cloned();
    SightFinding {
        doubt: Some(doubt),
        refused: None,
        ..first.unwrap_or_else(|| SightFinding::plain(false, "nothing was read"))
    }
}

/// Every pixel as a square of `size` by `size`; none if that would be too large to be read.
fn enlarged(image: &Arc<Image>, size: u32) -> Option<Arc<Image>> {
    if size == 1 {
        return Some(Arc::clone(image));
    }
    let width = image.width().checked_mul(size)?;
    let height = image.height().checked_mul(size)?;
    if !Reader::takes(width, height) {
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

    use super::super::finding::Refusal;
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

    fn too_many(value: f64) -> SightFinding {
        let why = format!("{value} can't be right");
        SightFinding {
            holds: false,
            refused: Some(Refusal::Implausible(why)),
            ..read(value, 0.99)
        }
    }

    fn unsure(value: f64) -> SightFinding {
        SightFinding {
            doubt: Some(format!("{value} is not sure")),
            ..read(value, 0.6)
        }
    }

    fn nothing() -> SightFinding {
        SightFinding::plain(false, "there is no number")
    }

    fn settled(readings: &[SightFinding]) -> Option<f64> {
        let finding = verdict(&TEST, readings);
        finding.value.filter(|_| finding.disbelief().is_none())
    }

    /// What is sure to be on the screen although it can't be right.
    fn refused(finding: &SightFinding) -> Option<f64> {
        assert!(!finding.holds || finding.refused.is_none());
        let refused = finding.doubt.is_none() && finding.refused.is_some();
        finding.value.filter(|_| refused)
    }

    #[test]
    fn two_that_agree_settle_it() {
        assert_eq!(settled(&[read(2.26, 0.6), read(2.26, 0.6)]), Some(2.26));
        assert_eq!(
            settled(&[too_many(226.0), read(2.26, 0.6), read(2.26, 0.6)]),
            Some(2.26)
        );
        assert_eq!(
            settled(&[read(2.28, 0.9), read(2.26, 0.6), read(2.26, 0.6)]),
            Some(2.26)
        );
    }

    #[test]
    fn what_two_looks_saw_is_there_even_if_it_can_not_be() {
        for third in [nothing(), too_many(99.0), unsure(2.26), unsure(226.0)] {
            let finding = verdict(&TEST, &[too_many(226.0), third, too_many(226.0)]);
            assert_eq!(refused(&finding), Some(226.0), "{finding:?}");
        }
        // As long as something speaks for another value, nobody knows.
        for looks in [
            [too_many(226.0), read(2.26, 0.8), too_many(226.0)],
            [too_many(226.0), too_many(99.0), nothing()],
            [too_many(226.0), unsure(226.0), nothing()],
        ] {
            let finding = verdict(&TEST, &looks);
            assert!(finding.doubt.is_some(), "{looks:?}");
            assert_eq!(finding.refused, None);
        }
    }

    #[test]
    fn another_program_confirms_and_never_decides_alone() {
        let looks = [read(5.0, 0.8), read(6.0, 0.8), unsure(7.0)];
        assert!(verdict(&TEST, &looks).doubt.is_some());
        let finding = confirmed(&TEST, &looks, read(6.0, 0.8));
        assert_eq!((finding.value, finding.disbelief()), (Some(6.0), None));
        for other in [read(7.0, 0.99), nothing(), unsure(6.0), too_many(99.0)] {
            let finding = confirmed(&TEST, &looks, other.clone());
            assert!(finding.doubt.is_some(), "{other:?}");
        }
        let looks = [too_many(226.0), too_many(99.0), nothing()];
        let finding = confirmed(&TEST, &looks, too_many(226.0));
        assert_eq!(refused(&finding), Some(226.0));
        let finding = confirmed(&TEST, &looks, read(2.26, 0.99));
        assert!(finding.doubt.is_some());
    }

    #[test]
    fn one_alone_must_be_sure() {
        assert_eq!(settled(&[nothing(), read(5.0, 0.95), nothing()]), Some(5.0));
        assert_eq!(settled(&[too_many(9.0), read(5.0, 0.95)]), Some(5.0));
        assert_eq!(settled(&[nothing(), read(5.0, 0.6), nothing()]), None);
        assert_eq!(settled(&[read(5.0, 0.95), read(6.0, 0.95)]), None);
    }

    #[test]
    fn a_doubt_tells_what_every_look_saw_and_nothing_is_an_answer() {
        let finding = verdict(&TEST, &[read(5.0, 0.6), too_many(9.0), nothing()]);
        assert_eq!(
            finding.doubt.as_deref(),
            Some(
                "the number could not be read reliably, look by look: 5; 9 can't be right; nothing"
            )
        );
        let finding = verdict(&TEST, &[nothing(), nothing(), nothing()]);
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
            looks in prop::collection::vec((0u8..4, 0u8..4, 0.5f64..1.0), 1..4),
        ) {
            let readings: Vec<_> = looks
                .iter()
                .map(|&(value, kind, confidence)| match kind {
                    0 => read(f64::from(value), confidence),
                    1 => too_many(f64::from(value)),
                    2 => unsure(f64::from(value)),
                    _ => nothing(),
                })
                .collect();
            if let Some(value) = settled(&readings) {
                prop_assert!(believable(&readings).any(|one| one.value == Some(value)));
            }
        }
    }
}
