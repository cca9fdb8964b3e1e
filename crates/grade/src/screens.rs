//! The screens of a trial, decoded, and checks of them. What is on a screen is there because programs of the
//! agent drew it, so nothing of it is a fault: what can't be read for sure has failed. A fault is what the
//! task or this machine lacks.

use std::path::Path;
use std::sync::Arc;

use agon_core::files::FileTree;
use agon_core::{Fault, FaultClass, Seconds, SightTest};
use agon_vision::Image;

use crate::evidence::SightEvidence;
use crate::finding::{Finding, bad_check};
use crate::side::{on_the_side, within};
use crate::sight::{Refusal, Sight, SightError, SightFinding, settle_by};

/// The sign that somebody wrote a number onto the screen that can't be right.
const IMPLAUSIBLE: &str = "implausible number";

#[derive(Debug)]
pub(crate) struct Screens {
    first: Option<Arc<Image>>,
    last: Arc<Image>,
}

impl Screens {
    pub(crate) async fn of(evidence: &SightEvidence) -> Result<Self, Fault> {
        let (first, last) = (evidence.first.clone(), Arc::clone(&evidence.last));
        on_the_side(move || {
            let decode = |png: &[u8]| {
                Image::from_png(png)
                    .map(Arc::new)
                    .map_err(|error| Fault::new(FaultClass::Evidence, error))
            };
            Ok(Self {
                first: first.as_deref().map(decode).transpose()?,
                last: decode(&last)?,
            })
        })
        .await
    }

    pub(crate) async fn look(
        &self,
        test: &SightTest,
        evidence: &SightEvidence,
        verify: &FileTree,
        limit: Seconds,
    ) -> Result<Finding, Fault> {
        let mut files = FileTree::default();
        if let SightTest::Template { path, .. } = test
            && let Some(entry) = verify.find(Path::new(path))
        {
            files.push(entry.clone()).map_err(bad_check)?;
        }
        let (first, last) = (self.first.clone(), Arc::clone(&self.last));
        let (around, played) = (evidence.around.clone(), evidence.played);
        let test = test.clone();
        within(limit, move |deadline| {
            let sight = Sight {
                last,
                first,
                around,
                played,
                files: &files,
            };
            match settle_by(&test, &sight, deadline) {
                Ok(found) => Ok(finding(found)),
                Err(error) if drawn_so(&error, &sight) => Ok(Finding::fail(error.to_string())),
                Err(error) => Err(error.into()),
            }
        })
        .await
    }
}

/// A screen of the wrong size is the task's mistake only if it had that size before the agent did anything;
/// one without a first screen was told of by who played.
fn drawn_so(error: &SightError, sight: &Sight<'_>) -> bool {
    error.is_of_size() && (sight.first.is_none() || sight.was_resized())
}

/// A score is never made of what can't be believed.
fn finding(found: SightFinding) -> Finding {
    if let Some(doubt) = found.doubt {
        return Finding::fail(format!("{doubt}; {}", found.found));
    }
    match found.refused {
        Some(Refusal::Implausible(why)) => {
            Finding::tampered(IMPLAUSIBLE, format!("{why}; {}", found.found))
        }
        Some(Refusal::TooMuch) => Finding::fail(found.found),
        None => Finding {
            value: found.value,
            tainted: found.tainted,
            ..Finding::unless((!found.holds).then(|| found.found.clone()), || found.found)
        },
    }
}

#[cfg(test)]
mod tests {
    use agon_core::check::{Check, CheckKind, TextTest};
    use agon_core::sight::{Colour, NumberForm, NumberTest};
    use agon_core::{ScreenPoint, Surroundings, Verdict};

    use std::time::Duration;

    use super::*;
    use crate::canned::{Remains, graded, task};
    use crate::place::Place;
    use crate::sight::drawn::{Canvas, LIGHT};

    fn screen(text: &str) -> Canvas {
        Canvas::new(480, 120).text(30, 40, 5, text)
    }

    fn seen(last: &Canvas, played: f64) -> SightEvidence {
        SightEvidence {
            first: Some(Canvas::new(480, 120).png()),
            last: last.png(),
            around: Surroundings::default(),
            played: Some(Duration::from_secs_f64(played)),
        }
    }

    fn number(at_least: f64) -> SightTest {
        SightTest::Text {
            region: None,
            tests: vec![TextTest::Contains("last".to_owned())],
            number: Some(NumberTest {
                after: Some("LAST".to_owned()),
                form: NumberForm::SecondsHundredths,
                at_least: Some(at_least),
                at_most: None,
                within_play: true,
            }),
        }
    }

    async fn grade(test: SightTest, sight: Option<SightEvidence>) -> Result<Verdict, Fault> {
        let check = Check {
            name: None,
            weight: 1.0,
            kind: CheckKind::Sight(test),
        };
        let remains = Remains {
            sight,
            ..Remains::default()
        };
        graded(&task(vec![check]), &remains, &Place::Nowhere).await
    }

    #[tokio::test]
    async fn a_score_is_read_off_the_last_screen() {
        let sight = seen(&screen("LAST 12:34"), 13.0);
        let verdict = grade(number(10.0), Some(sight.clone())).await.unwrap();
        assert_eq!((verdict.passed, verdict.measured()), (true, Some(12.34)));
        // What was measured is told whether it is enough or not.
        let verdict = grade(number(20.0), Some(sight)).await.unwrap();
        assert_eq!((verdict.passed, verdict.measured()), (false, Some(12.34)));
        assert!(verdict.checks[0].reason.contains("at least 20"));
    }

    #[tokio::test]
    async fn a_score_that_can_not_be_has_failed_and_is_no_way_out() {
        for text in ["LAST 12:34", "LAST 99:99"] {
            let sight = seen(&screen(text), 3.0);
            let verdict = grade(number(10.0), Some(sight)).await.unwrap();
            assert_eq!((verdict.passed, verdict.score), (false, 0.0));
            assert_eq!(verdict.measured(), None, "it is no score");
            let check = &verdict.checks[0];
            assert_eq!(check.integrity.as_deref(), Some(IMPLAUSIBLE));
            let shown = text.replace("LAST ", "").replace(':', ".");
            for part in ["3.00 were played", &shown] {
                assert!(check.reason.contains(part), "{}", check.reason);
            }
        }
    }

    #[tokio::test]
    async fn too_much_text_has_failed_and_is_no_way_out() {
        let sight = seen(&screen("LAST 12:34"), 13.0);
        let screens = Screens::of(&sight).await.unwrap();
        let (verify, now) = (FileTree::default(), Seconds::whole(0));
        let text = |test| SightTest::Text {
            region: None,
            tests: vec![test],
            number: None,
        };
        for test in [
            number(10.0),
            text(TextTest::Contains("last".to_owned())),
            text(TextTest::NotContains("best".to_owned())),
        ] {
            let finding = screens.look(&test, &sight, &verify, now).await.unwrap();
            assert!(!finding.passed, "{test:?}");
            assert_eq!(finding.reason, "too much text to read; name a region");
        }
    }

    #[tokio::test]
    async fn words_that_are_not_there_fail_whatever_becomes_of_the_number() {
        let mut test = number(10.0);
        if let SightTest::Text { tests, .. } = &mut test {
            *tests = vec![TextTest::Contains("best".to_owned())];
        }
        let sight = seen(&screen("LAST"), 3.0);
        let verdict = grade(test, Some(sight)).await.unwrap();
        assert!(!verdict.passed);
        assert!(verdict.checks[0].reason.contains("best"));
    }

    #[tokio::test]
    async fn a_label_without_its_number_has_failed_and_is_no_way_out() {
        let half = |screen: Canvas| screen.square(205, 35, 45, LIGHT);
        for (what, last) in [
            ("alone", screen("LAST")),
            ("noise behind it", screen("LAST").noise(160, 30, 280, 60)),
            ("half of the digits covered", half(screen("LAST 12:34"))),
        ] {
            let verdict = grade(number(10.0), Some(seen(&last, 13.0))).await;
            let verdict = verdict.unwrap_or_else(|fault| panic!("{what}: {fault}"));
            assert_eq!((verdict.passed, verdict.score), (false, 0.0), "{what}");
        }
        let verdict = grade(number(10.0), Some(seen(&screen("LAST"), 13.0))).await;
        let check = &verdict.unwrap().checks[0];
        assert_eq!((check.value, &check.integrity), (None, &None));
        assert!(
            check.reason.contains("could not be read reliably"),
            "{}",
            check.reason
        );
    }

    #[tokio::test]
    async fn a_screen_that_the_agent_made_smaller_has_failed() {
        let small = Canvas::new(40, 30);
        let pixel = SightTest::Pixel {
            at: ScreenPoint { x: 100, y: 100 },
            colour: Colour(LIGHT),
            tolerance: 0,
        };
        let mut sight = seen(&small, 3.0);
        let verdict = grade(pixel.clone(), Some(sight.clone())).await.unwrap();
        assert!(!verdict.passed);
        assert!(verdict.checks[0].reason.contains("outside of the screen"));
        // Told of by a runner, who can tell anything.
        sight.first = None;
        assert!(
            !grade(pixel.clone(), Some(sight.clone()))
                .await
                .unwrap()
                .passed
        );
        // Nobody changed it: the task asks for what never was.
        sight.first = Some(small.png());
        let fault = grade(pixel, Some(sight)).await.unwrap_err();
        assert_eq!(fault.class, FaultClass::Check);
    }

    #[tokio::test]
    async fn a_screen_without_the_score_has_failed() {
        let sight = seen(&screen("TALL"), 3.0);
        let verdict = grade(number(0.0), Some(sight)).await.unwrap();
        assert_eq!((verdict.passed, verdict.measured()), (false, None));
        assert!(verdict.checks[0].reason.contains("TALL"));
    }

    #[tokio::test]
    async fn the_first_screen_is_there_to_be_compared_with() {
        let changed = |changed| SightTest::Changed {
            region: None,
            share: 0.001,
            changed,
        };
        let sight = seen(&Canvas::new(480, 120).square(5, 5, 50, LIGHT), 0.0);
        assert!(
            grade(changed(true), Some(sight.clone()))
                .await
                .unwrap()
                .passed
        );
        assert!(!grade(changed(false), Some(sight)).await.unwrap().passed);
    }

    #[tokio::test]
    async fn without_a_screen_nothing_can_be_said() {
        let fault = grade(number(0.0), None).await.unwrap_err();
        assert_eq!(fault.class, FaultClass::Check);
        let broken = SightEvidence {
            last: Arc::from(*b"no picture"),
            ..seen(&Canvas::new(4, 4), 0.0)
        };
        let fault = grade(number(0.0), Some(broken)).await.unwrap_err();
        assert_eq!(fault.class, FaultClass::Evidence);
    }
}
