//! Which predicted action stands for which expected one: the pairing in order that gives the most.

use agon_core::prediction::{ActionScore, UiAction, Window};

use super::action::compare;

#[derive(Debug, Clone, PartialEq)]
pub struct Alignment {
    /// The sum over all pairs, over the number of expected or predicted actions, whichever is
    /// larger: what is missing and what is too much both cost.
    pub score: f64,
    /// One per expected action.
    pub scores: Vec<ActionScore>,
}

/// Pairs the two lists without changing their order, so that the sum of the scores is the largest.
///
/// Takes a byte and a comparison for every pair, so that the lengths must be bounded by whoever
/// calls.
pub fn align(expected: &[UiAction], predicted: &[UiAction], window: &Window) -> Alignment {
    let mut scores: Vec<ActionScore> = expected
        .iter()
        .map(|action| ActionScore {
            kind: action.name().to_owned(),
            score: 0.0,
            with: None,
            distance: None,
        })
        .collect();
    let longest = expected.len().max(predicted.len());
    if longest == 0 {
        return Alignment { score: 1.0, scores };
    }
    let (sum, pairs) = pairs(expected, predicted, window);
    for (one, other) in pairs {
        let compared = compare(&expected[one], &predicted[other], window);
        scores[one].score = compared.score;
        scores[one].with = Some(other);
        scores[one].distance = compared.distance;
    }
    Alignment {
        score: (sum / longest as f64).clamp(0.0, 1.0),
        scores,
    }
}

#[derive(Clone, Copy)]
enum Step {
    Pair,
    LeaveExpected,
    LeavePredicted,
}

/// The largest sum, and the pairs that make it, from the last to the first.
fn pairs(
    expected: &[UiAction],
    predicted: &[UiAction],
    window: &Window,
) -> (f64, Vec<(usize, usize)>) {
    let columns = predicted.len();
    let mut steps = Vec::with_capacity(expected.len() * columns);
    let mut above = vec![0.0; columns + 1];
    let mut here = above.clone();
    for one in expected {
        for (column, other) in predicted.iter().enumerate() {
            let pair = above[column] + compare(one, other, window).score;
            // A pair where it is as good as none, so that what can be shown together is.
            let (best, step) = if pair >= above[column + 1] && pair >= here[column] {
                (pair, Step::Pair)
            } else if above[column + 1] >= here[column] {
                (above[column + 1], Step::LeaveExpected)
            } else {
                (here[column], Step::LeavePredicted)
            };
            here[column + 1] = best;
            steps.push(step);
        }
        std::mem::swap(&mut above, &mut here);
    }
    let (mut row, mut column) = (expected.len(), columns);
    let mut pairs = Vec::new();
    while row > 0 && column > 0 {
        match steps[(row - 1) * columns + column - 1] {
            Step::Pair => {
                row -= 1;
                column -= 1;
                pairs.push((row, column));
            }
            Step::LeaveExpected => row -= 1,
            Step::LeavePredicted => column -= 1,
        }
    }
    (above[columns], pairs)
}

#[cfg(test)]
mod tests {
    use agon_core::prediction::{KeyAction, KeyActionName};

    use super::*;

    fn typed(word: &str) -> Vec<UiAction> {
        let press = |letter: char| {
            UiAction::Key(KeyAction {
                name: KeyActionName::Press,
                key_name: letter.to_string(),
            })
        };
        word.chars().map(press).collect()
    }

    /// The score, and which predicted action stands for each expected one.
    fn aligned(expected: &str, predicted: &str) -> (f64, Vec<Option<usize>>) {
        let found = align(&typed(expected), &typed(predicted), &Window::default());
        (
            found.score,
            found.scores.iter().map(|score| score.with).collect(),
        )
    }

    #[test]
    fn the_same_list_is_right() {
        assert_eq!(
            aligned("abc", "abc"),
            (1.0, vec![Some(0), Some(1), Some(2)])
        );
    }

    #[test]
    fn what_is_missing_costs_and_shifts_nothing() {
        let (score, with) = aligned("abc", "ac");
        assert!((score - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(with, [Some(0), None, Some(1)]);
        assert_eq!(aligned("abc", ""), (0.0, vec![None, None, None]));
    }

    #[test]
    fn what_is_too_much_costs_and_shifts_nothing() {
        let (score, with) = aligned("ab", "axb");
        assert!((score - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(with, [Some(0), Some(2)]);
        assert_eq!(aligned("", "a"), (0.0, vec![]));
    }

    #[test]
    fn order_counts() {
        // The two cannot both be paired with themselves: one pair of each is wrong in its key.
        assert_eq!(aligned("ab", "ba").0, 0.5);
        assert_eq!(aligned("", "").0, 1.0);
    }

    #[test]
    fn wrong_keys_earn_what_they_are_worth() {
        let found = align(&typed("ab"), &typed("ax"), &Window::default());
        assert_eq!(found.score, 0.75);
        let scores: Vec<f64> = found.scores.iter().map(|score| score.score).collect();
        assert_eq!(scores, [1.0, 0.5]);
        assert_eq!(found.scores[0].kind, "press");
    }

    #[test]
    fn long_lists_are_paired_too() {
        let long = "abcdefgh".repeat(125);
        assert_eq!(aligned(&long, &long).0, 1.0);
        let (score, _) = aligned(&long, &long.repeat(10));
        assert!((score - 0.1).abs() < 1e-12);
    }
}
