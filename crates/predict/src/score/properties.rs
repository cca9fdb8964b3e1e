//! What holds for every score: its bounds, that only the expected is worth all, and that nearer is better
//! where both points are in the window.

use agon_core::prediction::{
    KeyAction, KeyActionName, MouseAction, MouseActionName, UiAction, Window,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::{Alignment, align, compare};

fn window() -> impl Strategy<Value = Window> {
    (-500..500i64, -500..500i64, 1..2_000i64, 1..2_000i64).prop_map(|(left, top, width, height)| {
        Window {
            left,
            top,
            width,
            height,
            ..Window::default()
        }
    })
}

/// As a share of the window, so that most points are inside.
fn mouse(range: std::ops::Range<f64>) -> impl Strategy<Value = UiAction> {
    (
        select(vec![MouseActionName::Click, MouseActionName::Move]),
        range.clone(),
        range,
        select(vec!["left", "right"]),
        any::<bool>(),
    )
        .prop_map(|(name, mouse_x, mouse_y, button, mouse_pressed)| {
            UiAction::Mouse(MouseAction {
                name,
                mouse_x,
                mouse_y,
                mouse_button_name: button.to_owned(),
                mouse_pressed,
                element_state: serde_json::Map::new(),
            })
        })
}

fn key() -> impl Strategy<Value = UiAction> {
    let names = vec![KeyActionName::Press, KeyActionName::Release];
    (select(names), select(vec!["a", "b", "shift"])).prop_map(|(name, key)| {
        UiAction::Key(KeyAction {
            name,
            key_name: key.to_owned(),
        })
    })
}

fn placed(action: UiAction, window: &Window) -> UiAction {
    match action {
        UiAction::Mouse(mouse) => UiAction::Mouse(MouseAction {
            mouse_x: (window.left as f64 + mouse.mouse_x * window.width as f64).round(),
            mouse_y: (window.top as f64 + mouse.mouse_y * window.height as f64).round(),
            ..mouse
        }),
        key @ UiAction::Key(_) => key,
    }
}

/// A window, actions inside of it, and actions anywhere.
fn case() -> impl Strategy<Value = (Window, Vec<UiAction>, Vec<UiAction>)> {
    let inside = vec(prop_oneof![mouse(0.0..1.0), key()], 1..8);
    let anywhere = vec(
        prop_oneof![3 => mouse(-0.2..1.2), 3 => key(), 1 => mouse(-1e300..1e300)],
        0..8,
    );
    (window(), inside, anywhere).prop_map(|(window, inside, anywhere)| {
        let place = |actions: Vec<UiAction>| -> Vec<UiAction> {
            actions
                .into_iter()
                .map(|action| placed(action, &window))
                .collect()
        };
        let (inside, anywhere) = (place(inside), place(anywhere));
        (window, inside, anywhere)
    })
}

/// Whether two actions do the same.
fn same(one: &UiAction, other: &UiAction) -> bool {
    match (one, other) {
        (UiAction::Mouse(one), UiAction::Mouse(other)) if one.name == MouseActionName::Move => {
            (one.name, one.mouse_x, one.mouse_y) == (other.name, other.mouse_x, other.mouse_y)
        }
        _ => one == other,
    }
}

fn same_lists(one: &[UiAction], other: &[UiAction]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
}

/// All order-preserving pairings, tried one after the other.
fn best(expected: &[UiAction], predicted: &[UiAction], window: &Window) -> f64 {
    let (Some((one, expected_rest)), Some((other, predicted_rest))) =
        (expected.split_first(), predicted.split_first())
    else {
        return 0.0;
    };
    let paired = compare(one, other, window).score + best(expected_rest, predicted_rest, window);
    paired
        .max(best(expected_rest, predicted, window))
        .max(best(expected, predicted_rest, window))
}

proptest! {
    #[test]
    fn scores_have_bounds((window, expected, predicted) in case()) {
        let Alignment { score, scores } = align(&expected, &predicted, &window);
        prop_assert!((0.0..=1.0).contains(&score));
        prop_assert_eq!(scores.len(), expected.len());
        for one in &scores {
            prop_assert!(one.score == 0.0 && one.with.is_none() || (0.1..=1.0).contains(&one.score));
            prop_assert!(one.distance.is_none_or(|distance| distance.is_finite() && distance >= 0.0));
        }
        let used: Vec<usize> = scores.iter().filter_map(|score| score.with).collect();
        prop_assert!(used.is_sorted_by(|one, next| one < next), "each once, in order: {used:?}");
    }

    #[test]
    fn the_expected_and_nothing_else_is_worth_all((window, expected, predicted) in case()) {
        prop_assert_eq!(align(&expected, &expected, &window).score, 1.0);
        let score = align(&expected, &predicted, &window).score;
        prop_assert_eq!(score == 1.0, same_lists(&expected, &predicted), "{}", score);
    }

    #[test]
    fn no_pairing_is_better_than_the_one_found((window, expected, predicted) in case()) {
        let (expected, predicted) = (&expected[..expected.len().min(5)], &predicted[..predicted.len().min(5)]);
        let longest = expected.len().max(predicted.len()) as f64;
        let found = align(expected, predicted, &window);
        prop_assert!((found.score - best(expected, predicted, &window) / longest).abs() < 1e-9);
        let sum: f64 = found.scores.iter().map(|score| score.score).sum();
        prop_assert!((found.score - sum / longest).abs() < 1e-9);
    }

    #[test]
    fn nearer_is_never_worse_inside_of_the_window((window, expected, _) in case(), way in (-1.0..1.0f64, -1.0..1.0f64),
                             steps in (0.0..1.0f64, 0.0..1.0f64)) {
        for expected in &expected {
            let UiAction::Mouse(mouse) = expected else { continue };
            let at = |step: f64| UiAction::Mouse(MouseAction {
                mouse_x: mouse.mouse_x + way.0 * step * window.width as f64,
                mouse_y: mouse.mouse_y + way.1 * step * window.height as f64,
                ..mouse.clone()
            });
            let (near, far) = (steps.0.min(steps.1), steps.0.max(steps.1));
            let score = |step| compare(expected, &at(step), &window).score;
            prop_assert!(score(near) >= score(far));
            prop_assert!(score(0.0) == 1.0);
        }
    }

    #[test]
    fn more_than_what_is_right_is_worse((window, expected, more) in case(), place in 0..8usize) {
        for extra in more {
            let mut predicted = expected.clone();
            predicted.insert(place.min(expected.len()), extra);
            prop_assert!(align(&expected, &predicted, &window).score < 1.0);
        }
        for missing in 0..expected.len() {
            let mut predicted = expected.clone();
            predicted.remove(missing);
            prop_assert!(align(&expected, &predicted, &window).score < 1.0);
        }
    }

    #[test]
    fn another_order_is_never_better((window, expected, _) in case(), turn in 0..8usize) {
        let mut turned = expected.clone();
        let turn = turn % turned.len();
        turned.rotate_left(turn);
        let score = align(&expected, &turned, &window).score;
        prop_assert_eq!(score == 1.0, same_lists(&expected, &turned));
    }
}
