//! What was seen of a desktop in a trial, for the checks that look at it: in memory after the play, or
//! read back from the record.

use std::sync::Arc;
use std::time::Duration;

use agon_core::screen::{Picture, ScreenMoment};
use agon_core::{Event, EventBody, Surroundings};
use agon_grade::SightEvidence;

/// Pictures are kept encoded: most trials have no check that looks.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Seen {
    /// Before the agent did anything.
    pub(crate) first: Option<Picture>,
    /// After it was cut off.
    pub(crate) last: Option<Picture>,
    pub(crate) around: Surroundings,
    /// How long the world has moved, where it does so by itself.
    pub(crate) played: Option<Duration>,
}

impl Seen {
    /// What checks are given; `None` without a last screen. The pictures must be in memory.
    pub(crate) fn evidence(&self) -> Option<SightEvidence> {
        let data = |picture: &Picture| picture.data().map(Arc::from);
        Some(SightEvidence {
            first: self.first.as_ref().and_then(data),
            last: self.last.as_ref().and_then(data)?,
            around: self.around.clone(),
            played: self.played,
        })
    }

    /// What a record tells of it. The pictures themselves are in blobs.
    pub(crate) fn recorded(events: &[Event]) -> Self {
        let mut seen = Self::default();
        for event in events {
            match &event.body {
                EventBody::Observation(shown) if seen.first.is_none() => {
                    seen.first = shown.screen.as_ref().map(|screen| screen.picture.clone());
                }
                EventBody::Screen(record) if record.what == ScreenMoment::Ready => {
                    seen.first = Some(record.screen.picture.clone());
                }
                EventBody::Screen(record) if record.what == ScreenMoment::Final => {
                    seen.last = Some(record.screen.picture.clone());
                    seen.around = record.around.clone().unwrap_or_default();
                }
                EventBody::Play(stats) => {
                    seen.played = Duration::try_from_secs_f64(stats.world.max(stats.played)).ok();
                }
                _ => {}
            }
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use agon_core::screen::{ScreenRecord, ScreenView};
    use agon_core::sight::AppView;
    use agon_core::{Observation, PictureFormat, PlayStats, Source};

    use super::*;

    fn picture(content: &str) -> Picture {
        Picture::new(PictureFormat::Png, content.as_bytes())
    }

    fn screen(content: &str) -> ScreenView {
        ScreenView {
            width: 1,
            height: 1,
            cursor: None,
            window: None,
            picture: picture(content),
        }
    }

    fn record(what: ScreenMoment, content: &str, around: Option<Surroundings>) -> EventBody {
        let screen = screen(content);
        EventBody::Screen(ScreenRecord {
            what,
            screen,
            around,
        })
    }

    fn observed(content: &str) -> EventBody {
        let mut seen = Observation::ready("");
        seen.screen = Some(screen(content));
        EventBody::Observation(seen)
    }

    fn recorded(bodies: Vec<EventBody>) -> Seen {
        let event = |body| Event {
            seq: 0,
            t: 0.0,
            at: "2026-11-16T03:00:00Z".parse().unwrap(),
            source: Source::Environment,
            cause: None,
            body,
        };
        let events: Vec<Event> = bodies.into_iter().map(event).collect();
        Seen::recorded(&events)
    }

    #[test]
    fn a_play_is_read_back_from_its_record() {
        let around = Surroundings {
            windows: Vec::new(),
            windows_left_out: 3,
            apps: vec![AppView {
                command: "game".to_owned(),
                exit: Some(3),
                apart: true,
            }],
        };
        let seen = recorded(vec![
            record(ScreenMoment::Ready, "ready", None),
            record(ScreenMoment::Frame, "frame", None),
            EventBody::Play(PlayStats {
                played: 2.5,
                ..PlayStats::default()
            }),
            record(ScreenMoment::Final, "final", Some(around.clone())),
        ]);
        let evidence = seen.evidence().unwrap();
        assert_eq!(evidence.first.as_deref(), Some(b"ready".as_slice()));
        assert_eq!(&*evidence.last, b"final");
        assert_eq!(evidence.around, around);
        assert_eq!(evidence.played, Some(Duration::from_millis(2500)));
    }

    #[test]
    fn the_first_screen_of_turns_is_that_of_the_first_observation() {
        let seen = recorded(vec![
            observed("first"),
            observed("second"),
            record(ScreenMoment::Final, "final", None),
        ]);
        assert_eq!(seen.first, Some(picture("first")));
        assert_eq!(seen.played, None);
    }

    #[test]
    fn without_a_last_screen_there_is_no_evidence() {
        assert!(recorded(vec![observed("first")]).evidence().is_none());
    }
}
