//! How near one predicted action is to the one that was expected. The weights are the contract.

use agon_core::prediction::{MouseAction, MouseActionName, UiAction, Window};

/// It could be read at all.
const VALID: f64 = 0.1;
/// Keyboard or mouse.
const KIND: f64 = 0.2;
/// `click` or `move`, `press` or `release`.
const TYPE: f64 = 0.2;
const MATCH: f64 = 0.5;
/// A point beside the expected one is never as good as the expected one, however near it is: without this
/// the distance of a hair is lost in rounding.
const BEST_INEXACT: f64 = 1.0 - 1e-9;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compared {
    /// From 0.1, for an action that could be read, to 1, for the expected one alone.
    pub score: f64,
    /// Between the points of two mouse actions, as a share of the window's diagonal.
    pub distance: Option<f64>,
}

/// Compares an action with the one that was expected in `window`, the active one.
///
/// 0.1 for being valid, 0.2 for the kind, 0.2 for the type, 0.5 for the match. What is of another kind has
/// no type to compare, and what is of another type nothing to match: a release of the right key is
/// not half a press of it. `element_state` counts for nothing, and for a move neither do button and
/// `mouse_pressed`.
pub fn compare(expected: &UiAction, predicted: &UiAction, window: &Window) -> Compared {
    match (expected, predicted) {
        (UiAction::Key(expected), UiAction::Key(predicted)) => {
            let part = if expected.name == predicted.name {
                TYPE + MATCH * share(expected.key_name == predicted.key_name)
            } else {
                0.0
            };
            Compared {
                score: VALID + KIND + part,
                distance: None,
            }
        }
        (UiAction::Mouse(expected), UiAction::Mouse(predicted)) => {
            let distance = distance(expected, predicted, window);
            let part = if expected.name == predicted.name {
                TYPE + MATCH * matched(expected, predicted, window, distance)
            } else {
                0.0
            };
            Compared {
                score: VALID + KIND + part,
                distance,
            }
        }
        _ => Compared {
            score: VALID,
            distance: None,
        },
    }
}

fn matched(
    expected: &MouseAction,
    predicted: &MouseAction,
    window: &Window,
    distance: Option<f64>,
) -> f64 {
    let pressed_alike = expected.name == MouseActionName::Move
        || (expected
            .mouse_button_name
            .eq_ignore_ascii_case(&predicted.mouse_button_name)
            && expected.mouse_pressed == predicted.mouse_pressed);
    let near = if (expected.mouse_x, expected.mouse_y) == (predicted.mouse_x, predicted.mouse_y) {
        1.0
    } else {
        distance.map_or(0.0, |share| (1.0 - share).clamp(0.0, BEST_INEXACT))
    };
    near * share(pressed_alike) * share(window.contains(predicted.mouse_x, predicted.mouse_y))
}

fn share(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}

/// `None` where there is none that could be told: in a window without extent, or beyond all numbers.
fn distance(expected: &MouseAction, predicted: &MouseAction, window: &Window) -> Option<f64> {
    let pixels = (expected.mouse_x - predicted.mouse_x).hypot(expected.mouse_y - predicted.mouse_y);
    let share = pixels / window.diagonal();
    share.is_finite().then_some(share)
}

#[cfg(test)]
mod tests {
    use agon_core::prediction::{KeyAction, KeyActionName};

    use super::*;

    fn window() -> Window {
        Window {
            left: 100,
            top: 100,
            width: 300,
            height: 400,
            ..Window::default()
        }
    }

    fn mouse(name: MouseActionName, mouse_x: f64, mouse_y: f64) -> MouseAction {
        MouseAction {
            name,
            mouse_x,
            mouse_y,
            mouse_button_name: "left".to_owned(),
            mouse_pressed: true,
            element_state: serde_json::Map::new(),
        }
    }

    fn click(mouse_x: f64, mouse_y: f64) -> MouseAction {
        mouse(MouseActionName::Click, mouse_x, mouse_y)
    }

    fn key(name: KeyActionName, key_name: &str) -> UiAction {
        UiAction::Key(KeyAction {
            name,
            key_name: key_name.to_owned(),
        })
    }

    fn score(expected: impl Into<UiAction>, predicted: impl Into<UiAction>) -> f64 {
        compare(&expected.into(), &predicted.into(), &window()).score
    }

    #[test]
    fn keys_are_right_or_not() {
        let press = || key(KeyActionName::Press, "a");
        assert_eq!(score(press(), press()), 1.0);
        assert_eq!(score(press(), key(KeyActionName::Press, "b")), 0.5);
        assert!((score(press(), key(KeyActionName::Release, "a")) - 0.3).abs() < 1e-12);
        assert_eq!(score(press(), click(150.0, 150.0)), 0.1);
        assert_eq!(score(click(150.0, 150.0), press()), 0.1);
    }

    #[test]
    fn clicks_lose_with_distance() {
        let at = || click(200.0, 200.0);
        assert_eq!(score(at(), at()), 1.0);
        // A tenth of the diagonal.
        assert!((score(at(), click(230.0, 240.0)) - 0.95).abs() < 1e-12);
        let compared = compare(&at().into(), &click(230.0, 240.0).into(), &window());
        assert_eq!(compared.distance, Some(0.1));
        assert_eq!(score(at(), click(99.0, 200.0)), 0.5, "outside");
        assert_eq!(score(at(), click(f64::INFINITY, 0.0)), 0.5);
        assert_eq!(score(at(), click(f64::NAN, 200.0)), 0.5);
        assert_eq!(score(at(), click(1e308, -1e308)), 0.5);
        assert!((score(at(), mouse(MouseActionName::Move, 200.0, 200.0)) - 0.3).abs() < 1e-12);
    }

    #[test]
    fn the_expected_point_alone_is_the_best() {
        let near = click(200.000_000_000_000_03, 200.0);
        assert_ne!(near, click(200.0, 200.0));
        let best = score(click(200.0, 200.0), near);
        assert!(best < 1.0 && best > 0.999_999, "{best}");
    }

    #[test]
    fn buttons_count_for_clicks_alone() {
        let right = |action: MouseAction| MouseAction {
            mouse_button_name: "right".to_owned(),
            ..action
        };
        let released = |action: MouseAction| MouseAction {
            mouse_pressed: false,
            ..action
        };
        let moved = || mouse(MouseActionName::Move, 200.0, 200.0);
        assert_eq!(score(click(200.0, 200.0), right(click(200.0, 200.0))), 0.5);
        assert_eq!(
            score(click(200.0, 200.0), released(click(200.0, 200.0))),
            0.5
        );
        assert_eq!(score(moved(), released(right(moved()))), 1.0);
    }

    #[test]
    fn a_window_without_extent_knows_exact_or_not() {
        let nothing = Window::default();
        let at = |x| UiAction::from(click(x, 0.0));
        assert_eq!(compare(&at(0.0), &at(0.0), &nothing).score, 1.0);
        let compared = compare(&at(0.0), &at(1.0), &nothing);
        assert_eq!((compared.score, compared.distance), (0.5, None));
    }
}
