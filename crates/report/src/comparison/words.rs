//! A comparison in words: numbers alone invite to believe too much.

use super::shape::PairedRun;
use crate::text::count;

/// Below this, chance is named unlikely.
const UNLIKELY: f64 = 0.05;

/// What a run is called: A, B, ... Z, then R27.
pub fn sign(at: usize) -> String {
    match u8::try_from(at) {
        Ok(at @ 0..26) => char::from(b'A' + at).to_string(),
        _ => format!("R{}", at + 1),
    }
}

/// `+5.1`: percentage points.
pub(crate) fn points(difference: f64) -> String {
    let points = difference * 100.0;
    // Not `-0.0`.
    let points = if points.abs() < 0.05 { 0.0 } else { points };
    format!("{points:+.1}").replace("+0.0", "0.0")
}

/// `p = 0.18`, `p < 0.001`.
pub(crate) fn p_text(p: f64) -> String {
    match p {
        p if p < 0.001 => "p < 0.001".to_owned(),
        p if p < 0.1 => format!("p = {p:.3}"),
        p => format!("p = {p:.2}"),
    }
}

/// `B solves 7 tasks that A does not and loses 2; difference +5.1 points (95 % -0.4 to +10.6), p = 0.18:
/// may be chance.`
pub(super) fn words(pair: &PairedRun, first: &str, other: &str) -> String {
    let Some(difference) = pair.difference else {
        return format!("{other} and {first} have no graded task in common.");
    };
    let solved = match (pair.gained, pair.lost) {
        (0, 0) => format!("{other} solves the same tasks as {first}"),
        (gained, lost) => format!(
            "{other} solves {} that {first} does not and loses {}",
            tasks(gained),
            some(lost)
        ),
    };
    let range = match pair.difference_ci {
        Some(found) => format!(" (95 % {} to {})", points(found.low), points(found.high)),
        None => " (no interval: one task)".to_owned(),
    };
    let test = pair
        .p_value
        .map_or_else(String::new, |p| format!(", {}", p_text(p)));
    format!(
        "{solved}; difference {} points{range}{test}: {}.",
        points(difference),
        chance(pair)
    )
}

/// What the test says of the tasks that were solved, and the interval of the scores. With partial credit and
/// several epochs these need not agree.
fn chance(pair: &PairedRun) -> &'static str {
    let apart = pair
        .difference_ci
        .is_some_and(|found| found.low > 0.0 || found.high < 0.0);
    match (pair.p_value.map(|p| p < UNLIKELY), apart) {
        (Some(true), true) => "unlikely to be chance",
        (Some(false), false) => "may be chance",
        (Some(true), false) => {
            "the tasks solved are unlikely to be chance, the difference of scores may be"
        }
        (Some(false), true) => {
            "the tasks solved may be chance, the difference of scores is unlikely to be"
        }
        (None, true) => "the difference of scores is unlikely to be chance",
        (None, false) => "nothing tells them apart",
    }
}

fn tasks(number: u64) -> String {
    match number {
        0 => "no task".to_owned(),
        1 => "1 task".to_owned(),
        more => format!("{} tasks", count(more)),
    }
}

fn some(number: u64) -> String {
    match number {
        0 => "none".to_owned(),
        more => count(more),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::confidence::{Interval, Method};

    fn pair(gained: u64, lost: u64, difference: Option<f64>, p_value: Option<f64>) -> PairedRun {
        PairedRun {
            run: String::new(),
            tasks: 10,
            gained,
            lost,
            both: 0,
            neither: 0,
            p_value,
            difference,
            difference_ci: difference.map(|by| Interval {
                low: by - 0.055,
                high: by + 0.055,
                method: Method::EffectiveTasks,
            }),
            words: String::new(),
        }
    }

    fn said(gained: u64, lost: u64, difference: Option<f64>, p: Option<f64>) -> String {
        words(&pair(gained, lost, difference, p), "A", "B")
    }

    #[test]
    fn the_sentence_says_what_is_known_and_no_more() {
        assert_eq!(
            said(7, 2, Some(0.051), Some(0.1797)),
            "B solves 7 tasks that A does not and loses 2; difference +5.1 points (95 % -0.4 to +10.6), p = 0.18: may be chance."
        );
        assert_eq!(
            said(1, 0, Some(-0.0001), Some(0.0499)),
            "B solves 1 task that A does not and loses none; difference 0.0 points (95 % -5.5 to +5.5), p = 0.050: the tasks solved are unlikely to be chance, the difference of scores may be."
        );
        assert_eq!(
            said(0, 2000, Some(-0.5), Some(0.0)),
            "B solves no task that A does not and loses 2,000; difference -50.0 points (95 % -55.5 to -44.5), p < 0.001: unlikely to be chance."
        );
        assert_eq!(
            said(0, 0, Some(0.0), None),
            "B solves the same tasks as A; difference 0.0 points (95 % -5.5 to +5.5): nothing tells them apart."
        );
        assert_eq!(
            said(0, 0, Some(0.1), None),
            "B solves the same tasks as A; difference +10.0 points (95 % +4.5 to +15.5): the difference of scores is unlikely to be chance."
        );
        assert_eq!(
            said(4, 2, Some(0.2), Some(0.6875)),
            "B solves 4 tasks that A does not and loses 2; difference +20.0 points (95 % +14.5 to +25.5), p = 0.69: the tasks solved may be chance, the difference of scores is unlikely to be."
        );
        assert_eq!(
            said(0, 0, None, None),
            "B and A have no graded task in common."
        );
    }

    #[test]
    fn every_run_has_a_sign_of_its_own() {
        assert_eq!([0, 1, 25].map(sign), ["A", "B", "Z"]);
        assert_eq!([26, 299].map(sign), ["R27", "R300"]);
    }
}
