//! The screens of a trial, decoded, and checks of them: what was settled becomes a finding, what
//! stays in doubt a fault.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_core::files::FileTree;
use agon_core::{Fault, FaultClass, Seconds, SightTest};
use agon_vision::Image;

use crate::evidence::SightEvidence;
use crate::finding::{Finding, bad_check};
use crate::side::on_the_side;
use crate::sight::{Refusal, Sight, SightFinding, settle_by};

/// The sign that somebody wrote a number onto the screen that can't be right.
const IMPLAUSIBLE: &str = "implausible number";
/// Reading stops by itself when its time is over; what can't be stopped halfway takes no longer.
const GRACE: Duration = Duration::from_secs(30);

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
        let time = limit.duration();
        let looking = on_the_side(move || {
            let deadline = Instant::now() + time;
            let sight = Sight {
                last,
                first,
                around,
                played,
                files: &files,
            };
            settle_by(&test, &sight, deadline).map_err(Fault::from)
        });
        match tokio::time::timeout(time + GRACE, looking).await {
            Ok(found) => finding(found?),
            Err(_) => Err(Fault::new(
                FaultClass::Timeout,
                format!("looking at the screen took longer than {limit}"),
            )),
        }
    }
}

/// A score is never made of what can't be believed.
fn finding(found: SightFinding) -> Result<Finding, Fault> {
    if let Some(doubt) = found.doubt {
        return Err(bad_check(format!("{doubt}; {}", found.found)));
    }
    Ok(match found.refused {
        Some(Refusal::Implausible(why)) => {
            Finding::tampered(IMPLAUSIBLE, format!("{why}; {}", found.found))
        }
        Some(Refusal::TooMuch) => Finding::fail(found.found),
        None => Finding {
            value: found.value,
            ..Finding::unless((!found.holds).then(|| found.found.clone()), || found.found)
        },
    })
}

#[cfg(test)]
mod tests {
    use agon_core::check::{Check, CheckKind, TextTest};
    use agon_core::sight::{NumberForm, NumberTest};
    use agon_core::{Surroundings, Verdict};

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
        // The word is there and its number can't be read: alone, that would be a fault.
        let sight = seen(&screen("LAST"), 3.0);
        let fault = grade(number(10.0), Some(sight.clone())).await.unwrap_err();
        assert_eq!(fault.class, FaultClass::Check);
        let verdict = grade(test, Some(sight)).await.unwrap();
        assert!(!verdict.passed);
        assert!(verdict.checks[0].reason.contains("best"));
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
