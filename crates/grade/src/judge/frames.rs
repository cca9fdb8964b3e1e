//! Which screens of a trial a judge is shown: those that differ from the one before, the first and the last
//! in any case, and as many in between as there is room for. Knows no prompt.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use agon_core::{Fault, FaultClass};
use agon_llm::picture::{self, Limits, PictureError};
use agon_llm::{Image, MediaType};

use crate::flow::{FlowStep, PictureSource};
use crate::side::on_the_side;

/// Pixels of the longer side of a picture as it is shown.
const LONGEST_SIDE: u32 = 1280;

/// Pixels that come to a token, as services count them roughly.
const PIXELS_PER_TOKEN: u64 = 750;

/// Pictures of one question, and their bytes: no service takes more in one request.
const MOST: usize = 100;
const MOST_BYTES: usize = 14 << 20;

/// A picture as a judge is shown it.
#[derive(Debug, Clone)]
pub(super) struct Frame {
    pub(super) image: Image,
    tokens: u64,
}

impl Frame {
    /// `None`: it is no picture that can be shown.
    pub(super) async fn of(bytes: Arc<[u8]>) -> Result<Option<Self>, Fault> {
        on_the_side(move || Ok(scaled(bytes))).await
    }
}

fn scaled(bytes: Arc<[u8]>) -> Option<Frame> {
    let (media, width, height) = picture::look(&bytes)?;
    let image = Image { media, bytes };
    let limits = Limits {
        long: LONGEST_SIDE,
        ..Limits::NONE
    };
    match picture::fit(&image, limits) {
        Ok(fitted) => {
            let (width, height) = fitted.mapping.sent();
            Some(Frame {
                image: fitted.image,
                tokens: tokens(width, height),
            })
        }
        // Only PNG is scaled: what else there is goes as it is.
        Err(PictureError::NotScaled { .. }) if media != MediaType::Png => Some(Frame {
            image,
            tokens: tokens(width, height),
        }),
        Err(_) => None,
    }
}

fn tokens(width: u32, height: u32) -> u64 {
    (u64::from(width) * u64::from(height)).div_ceil(PIXELS_PER_TOKEN)
}

/// What there is to be shown of each step's screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Screen {
    /// There is none.
    None,
    New,
    /// It is that of an earlier step, which is named by its number.
    SameAs(u32),
}

/// For each step.
pub(super) fn screens(flow: &[FlowStep]) -> Vec<Screen> {
    let mut last: Option<&FlowStep> = None;
    let mut screens = Vec::with_capacity(flow.len());
    for step in flow {
        screens.push(match (&step.screen, last) {
            (None, _) => Screen::None,
            (Some(new), Some(old)) if old.screen.as_ref() == Some(new) => Screen::SameAs(old.step),
            _ => {
                last = Some(step);
                Screen::New
            }
        });
    }
    screens
}

/// The pictures that are shown, by the index of their step. At most `budget` tokens, unless the first and the
/// last alone come to more.
pub(super) async fn key_frames(
    flow: &[FlowStep],
    pictures: &dyn PictureSource,
    budget: u64,
) -> Result<BTreeMap<usize, Frame>, Fault> {
    let changed: Vec<usize> = screens(flow)
        .iter()
        .enumerate()
        .filter(|(_, screen)| **screen == Screen::New)
        .map(|(nth, _)| nth)
        .collect();
    let mut loaded: BTreeMap<usize, Option<Frame>> = BTreeMap::new();
    let mut count = changed.len().min(MOST);
    // Most screens are of one size: the first tells how many there will be about.
    if let Some(&first) = changed.first() {
        let frame = load(flow, pictures, first).await?;
        let each = frame.as_ref().map_or(0, |frame| frame.tokens).max(1);
        count = count.min(usize::try_from(budget / each).unwrap_or(MOST).max(2));
        loaded.insert(first, frame);
    }
    loop {
        let picks = spread(&changed, count);
        for &nth in &picks {
            if let Entry::Vacant(place) = loaded.entry(nth) {
                place.insert(load(flow, pictures, nth).await?);
            }
        }
        let frames = || picks.iter().filter_map(|nth| loaded.get(nth)?.as_ref());
        let tokens: u64 = frames().map(|frame| frame.tokens).sum();
        let bytes: usize = frames().map(|frame| frame.image.bytes.len()).sum();
        if (tokens <= budget && bytes <= MOST_BYTES) || count <= 2 {
            loaded.retain(|nth, _| picks.contains(nth));
            let seen = |(nth, frame): (usize, Option<Frame>)| Some((nth, frame?));
            return Ok(loaded.into_iter().filter_map(seen).collect());
        }
        let over =
            (budget as f64 / tokens.max(1) as f64).min(MOST_BYTES as f64 / bytes.max(1) as f64);
        count = ((count as f64 * over) as usize).clamp(2, count - 1);
    }
}

async fn load(
    flow: &[FlowStep],
    pictures: &dyn PictureSource,
    nth: usize,
) -> Result<Option<Frame>, Fault> {
    let Some(picture) = flow.get(nth).and_then(|step| step.screen.as_ref()) else {
        return Err(Fault::new(FaultClass::Internal, "a step has no screen"));
    };
    let bytes = pictures.load(picture)?;
    // Reading took its time: others may go on.
    tokio::task::yield_now().await;
    Frame::of(bytes).await
}

/// So many of them, as evenly as possible, with both ends.
fn spread(all: &[usize], count: usize) -> Vec<usize> {
    if count >= all.len() || count < 2 {
        return all.iter().take(count).copied().collect();
    }
    let (gaps, last) = (count - 1, all.len() - 1);
    let nth = |at: usize| all.get((at * last + gaps / 2) / gaps).copied();
    (0..count).filter_map(nth).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use agon_core::{Picture, PictureFormat};
    use proptest::prelude::*;

    use super::*;
    use crate::judge::tests::place::png;

    /// Screens by number; the same number is the same screen.
    fn flow(screens: &[Option<u8>], (width, height): (u32, u32)) -> Vec<FlowStep> {
        let step = |(nth, shade): (usize, &Option<u8>)| FlowStep {
            step: nth as u32 + 1,
            seq: nth as u64,
            t: nth as f64,
            action: None,
            said: None,
            screen: shade.map(|shade| {
                let bytes = png(width, height, shade);
                Picture::new(PictureFormat::Png, bytes)
            }),
            window: None,
        };
        screens.iter().enumerate().map(step).collect()
    }

    #[derive(Debug, Default)]
    struct Kept(Mutex<u32>);

    impl PictureSource for Kept {
        fn load(&self, picture: &Picture) -> Result<Arc<[u8]>, Fault> {
            *self.0.lock().unwrap() += 1;
            Ok(picture.data().unwrap().into())
        }
    }

    async fn shown(flow: &[FlowStep], budget: u64) -> Vec<usize> {
        let frames = key_frames(flow, &Kept::default(), budget).await.unwrap();
        frames.into_keys().collect()
    }

    #[tokio::test]
    async fn only_changes_are_shown() {
        let flow = flow(
            &[
                None,
                Some(1),
                Some(1),
                None,
                Some(1),
                Some(2),
                Some(1),
                Some(1),
            ],
            (10, 10),
        );
        assert_eq!(shown(&flow, 1_000).await, [1, 5, 6]);
        use Screen::{New, SameAs};
        let expected = [
            Screen::None,
            New,
            SameAs(2),
            Screen::None,
            SameAs(2),
            New,
            New,
            SameAs(7),
        ];
        assert_eq!(screens(&flow), expected);
        assert_eq!(shown(&[], 1_000).await, [] as [usize; 0]);
    }

    #[tokio::test]
    async fn the_budget_thins_them_out_evenly_and_keeps_both_ends() {
        let all: Vec<_> = (0..21).map(Some).collect();
        // Two tokens each.
        let flow = flow(&all, (50, 30));
        assert_eq!(shown(&flow, 42).await.len(), 21);
        assert_eq!(shown(&flow, 10).await, [0, 5, 10, 15, 20]);
        assert_eq!(shown(&flow, 4).await, [0, 20]);
        assert_eq!(shown(&flow, 0).await, [0, 20], "both ends are always shown");
    }

    #[tokio::test]
    async fn no_more_are_read_than_there_is_room_for() {
        let all: Vec<_> = (0..200).map(Some).collect();
        let kept = Kept::default();
        let frames = key_frames(&flow(&all, (50, 30)), &kept, 20).await.unwrap();
        assert_eq!((frames.len(), *kept.0.lock().unwrap()), (10, 10));
    }

    #[tokio::test]
    async fn a_larger_one_later_on_counts_as_what_it_is() {
        let mut flow = flow(&(0..10).map(Some).collect::<Vec<_>>(), (10, 10));
        flow[9].screen = Some(Picture::new(PictureFormat::Png, png(100, 75, 9)));
        // Nine of one token each and one of ten.
        assert_eq!(shown(&flow, 19).await.len(), 10);
        let few = shown(&flow, 14).await;
        assert!(
            few.len() < 8 && few.starts_with(&[0]) && few.ends_with(&[9]),
            "{few:?}"
        );
    }

    #[tokio::test]
    async fn what_is_no_picture_is_left_out() {
        let mut flow = flow(&[Some(1), Some(2), Some(3)], (10, 10));
        flow[1].screen = Some(Picture::new(PictureFormat::Png, *b"no picture"));
        assert_eq!(shown(&flow, 100).await, [0, 2]);
        let head = &png(50, 50, 1)[..40];
        let cut = Frame::of(head.into()).await.unwrap();
        assert!(cut.is_some(), "only what is too large is decoded");
    }

    #[tokio::test]
    async fn large_ones_are_scaled_before_they_count() {
        let frame = Frame::of(png(2560, 1600, 7).into()).await.unwrap().unwrap();
        let (_, width, height) = picture::look(&frame.image.bytes).unwrap();
        assert_eq!((width, height), (1280, 800));
        assert_eq!(frame.tokens, 1366);
    }

    proptest! {
        #[test]
        fn picks_are_in_order_different_and_have_both_ends(len in 1_usize..300, count in 2_usize..120) {
            let all: Vec<usize> = (0..len).map(|n| n * 3).collect();
            let picks = spread(&all, count);
            prop_assert_eq!(picks.len(), count.min(len));
            prop_assert!(picks.windows(2).all(|two| two[0] < two[1]));
            prop_assert_eq!(picks.first(), all.first());
            prop_assert_eq!(picks.last(), all.last());
        }
    }
}
