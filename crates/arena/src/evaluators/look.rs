//! One judgement of the played window, with the picture that it was made on kept as evidence.

use std::sync::Arc;
use std::time::Duration;

use agon_core::files::FileTree;
use agon_core::sight::{Look, SightTest};
use agon_core::{Picture, PictureFormat, Surroundings};
use agon_desktop::screen::PictureFormat as Encoding;
use agon_grade::sight::{Sight, SightError, SightFinding, judge, settle};
use agon_vision::Image;

use crate::evaluator::JudgeError;
use crate::judging::Judging;

/// How sure an answer must be.
#[derive(Debug, Clone, Copy)]
pub(super) enum Care {
    /// One look: it is asked again soon.
    Once,
    /// Looked at until it is settled, or doubted.
    Settled,
}

/// Asks about the window now. `played` is what a number of seconds of play can't exceed.
pub(super) fn look(
    judging: &Judging,
    window: &str,
    test: &SightTest,
    care: Care,
    played: Option<Duration>,
) -> Result<SightFinding, JudgeError> {
    let unseen = |error: &dyn std::fmt::Display| JudgeError::Sight(error.to_string());
    let frame = judging.window_frame(window)?;
    let size = frame.size();
    let image = Image::from_bgrx(size.width, size.height, frame.pixels());
    let files = FileTree::default();
    let sight = Sight {
        last: Arc::new(image.map_err(|error| unseen(&error))?),
        first: None,
        around: Surroundings::default(),
        played,
        files: &files,
    };
    let finding = match care {
        Care::Once => judge(test, &sight),
        Care::Settled => settle(test, &sight),
    };
    let finding = finding.map_err(|error: SightError| unseen(&error))?;
    judging.keep(Look {
        test: test.label(),
        holds: finding.holds,
        found: finding.found.clone(),
        value: finding.value,
        confidence: finding.confidence,
        doubt: finding.disbelief().map(str::to_owned),
        picture: Picture::new(PictureFormat::Png, frame.encode(Encoding::Png)?),
    })?;
    Ok(finding)
}
