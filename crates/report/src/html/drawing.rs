//! The geometry of one prediction: windows, the box, and the points that were shown, expected and predicted.
//! Numbers come from models and files: whatever they are, the drawing has its size.

use agon_core::prediction::{MouseAction, ScoredPrediction, TargetBox, UiAction, Window};

use super::chart::Px;
use crate::text::{clip, plain};

/// Units of a drawing, at most.
const WIDTH: f64 = 560.0;
const HEIGHT: f64 = 340.0;
/// No coordinate that means anything is larger.
const FAR: f64 = 1e9;
/// Points of one path that are drawn.
const MOST_POINTS: usize = 200;
/// Units that a letter of a title takes.
const LETTER: f64 = 7.0;

pub(crate) struct Drawing {
    pub(crate) width: Px,
    pub(crate) height: Px,
    pub(crate) windows: Vec<WindowView>,
    pub(crate) target: Option<Rect>,
    /// Where the picture of the screen goes, if there is one.
    pub(crate) screen: Rect,
    pub(crate) paths: Vec<PathView>,
    /// From expected points to what was predicted for them.
    pub(crate) misses: Vec<[Px; 4]>,
    pub(crate) marks: Vec<Mark>,
    /// Some predicted point is too far out to be drawn where it is.
    pub(crate) off: bool,
}

pub(crate) struct Rect {
    pub(crate) x: Px,
    pub(crate) y: Px,
    pub(crate) width: Px,
    pub(crate) height: Px,
}

pub(crate) struct WindowView {
    pub(crate) class: &'static str,
    pub(crate) rect: Rect,
    pub(crate) title: String,
    pub(crate) title_x: Px,
    pub(crate) title_y: Px,
}

pub(crate) struct PathView {
    pub(crate) class: &'static str,
    /// `1.0,2.0 3.0,4.0`
    pub(crate) points: String,
}

pub(crate) struct Mark {
    pub(crate) class: &'static str,
    pub(crate) x: Px,
    pub(crate) y: Px,
    pub(crate) radius: Px,
    pub(crate) hint: String,
}

/// A part of the plane that is drawn, and how large.
struct Frame {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
    scale: f64,
}

impl Frame {
    fn around(boxes: &[[f64; 4]], points: &[(f64, f64)]) -> Self {
        let corners = boxes
            .iter()
            .flat_map(|[left, top, right, bottom]| [(*left, *top), (*right, *bottom)]);
        let all: Vec<(f64, f64)> = corners.chain(points.iter().copied()).collect();
        let least = |of: fn(&(f64, f64)) -> f64| all.iter().map(of).fold(f64::MAX, f64::min);
        let most = |of: fn(&(f64, f64)) -> f64| all.iter().map(of).fold(f64::MIN, f64::max);
        let (left, right) = (least(|at| at.0), most(|at| at.0));
        let (top, bottom) = (least(|at| at.1), most(|at| at.1));
        let margin = ((right - left).max(bottom - top) * 0.025).max(1.0);
        let mut frame = Self {
            left: left - margin,
            top: top - margin,
            right: right + margin,
            bottom: bottom + margin,
            scale: 1.0,
        };
        let (width, height) = (frame.right - frame.left, frame.bottom - frame.top);
        frame.scale = (WIDTH / width).min(HEIGHT / height);
        frame
    }

    /// A point in the drawing, and whether it really is there.
    fn at(&self, (x, y): (f64, f64)) -> (Px, Px, bool) {
        let inside = (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y);
        let x = x.clamp(self.left, self.right) - self.left;
        let y = y.clamp(self.top, self.bottom) - self.top;
        (Px(x * self.scale), Px(y * self.scale), inside)
    }

    /// The same for the middle of a mark, which is to be seen as a whole.
    fn inset(&self, at: (f64, f64), radius: f64) -> (Px, Px) {
        let (x, y, _) = self.at(at);
        let within = |value: f64, length: f64| value.min(length - radius).max(radius);
        let width = (self.right - self.left) * self.scale;
        let height = (self.bottom - self.top) * self.scale;
        (Px(within(x.0, width)), Px(within(y.0, height)))
    }

    fn rect(&self, [left, top, right, bottom]: [f64; 4]) -> Rect {
        let (x, y, _) = self.at((left, top));
        Rect {
            x,
            y,
            width: Px((right - left) * self.scale),
            height: Px((bottom - top) * self.scale),
        }
    }
}

impl Drawing {
    pub(crate) fn of(prediction: &ScoredPrediction) -> Self {
        let window = corners(&prediction.window);
        let reference = prediction.reference_window.as_ref().map(corners);
        let target = prediction.target.map(box_corners);
        let boxes: Vec<[f64; 4]> = [Some(window), reference, target]
            .into_iter()
            .flatten()
            .collect();
        let shown = points(&prediction.reference);
        let expected = points(&prediction.expected);
        let predicted = points(&prediction.predicted);
        let reach = reach(&boxes);
        let near = |at: &(f64, f64)| {
            (reach[0]..=reach[2]).contains(&at.0) && (reach[1]..=reach[3]).contains(&at.1)
        };
        let all = [&shown, &expected, &predicted].map(|list| list.iter().map(|point| point.at));
        let drawn: Vec<(f64, f64)> = all.into_iter().flatten().filter(near).collect();
        let frame = Frame::around(&boxes, &drawn);
        let mut windows = Vec::new();
        if let (Some(corners), Some(window)) = (reference, &prediction.reference_window) {
            windows.push(window_view("was", &frame, corners, window));
        }
        windows.push(window_view("now", &frame, window, &prediction.window));
        let lists = [
            ("was", &shown),
            ("expected", &expected),
            ("predicted", &predicted),
        ];
        Self {
            width: Px((frame.right - frame.left) * frame.scale),
            height: Px((frame.bottom - frame.top) * frame.scale),
            windows,
            target: target.map(|target| frame.rect(target)),
            screen: frame.rect(window),
            paths: lists
                .iter()
                .filter(|(_, list)| list.len() > 1)
                .map(|(class, list)| path(class, &frame, list))
                .collect(),
            misses: misses(prediction, &frame),
            marks: lists
                .iter()
                .flat_map(|(class, list)| marks(class, &frame, list))
                .collect(),
            off: predicted.iter().any(|point| !frame.at(point.at).2),
        }
    }
}

struct Point {
    at: (f64, f64),
    hint: String,
}

fn points(actions: &[UiAction]) -> Vec<Point> {
    let numbered = actions.iter().enumerate();
    numbered
        .filter_map(|(at, action)| match action {
            UiAction::Mouse(mouse) => Some(Point {
                at: place(mouse),
                hint: format!("{}. {}", at + 1, told(action)),
            }),
            UiAction::Key(_) => None,
        })
        .take(MOST_POINTS)
        .collect()
}

fn place(mouse: &MouseAction) -> (f64, f64) {
    (tame(mouse.mouse_x), tame(mouse.mouse_y))
}

fn tame(number: f64) -> f64 {
    if number.is_nan() {
        0.0
    } else {
        number.clamp(-FAR, FAR)
    }
}

fn corners(window: &Window) -> [f64; 4] {
    let (left, top) = (tame(window.left as f64), tame(window.top as f64));
    let side = |length: i64| tame(length as f64).max(1.0);
    [
        left,
        top,
        left + side(window.width),
        top + side(window.height),
    ]
}

fn box_corners(target: TargetBox) -> [f64; 4] {
    let (left, top) = (tame(target.left), tame(target.top));
    [
        left,
        top,
        left + tame(target.width).max(0.0),
        top + tame(target.height).max(0.0),
    ]
}

/// Up to where points are still drawn where they are: half as far again as all boxes.
fn reach(boxes: &[[f64; 4]]) -> [f64; 4] {
    let mut all = [f64::MAX, f64::MAX, f64::MIN, f64::MIN];
    for [left, top, right, bottom] in boxes {
        all = [
            all[0].min(*left),
            all[1].min(*top),
            all[2].max(*right),
            all[3].max(*bottom),
        ];
    }
    let (wide, high) = ((all[2] - all[0]) * 0.25, (all[3] - all[1]) * 0.25);
    [all[0] - wide, all[1] - high, all[2] + wide, all[3] + high]
}

fn window_view(
    class: &'static str,
    frame: &Frame,
    corners: [f64; 4],
    window: &Window,
) -> WindowView {
    let rect = frame.rect(corners);
    let letters = (rect.width.0 / LETTER - 2.0).max(0.0) as usize;
    // The lower edge of one and the upper edge of the other, so that they do not lie on each other.
    let title_y = match class {
        "was" => rect.y.0 + rect.height.0 - 6.0,
        _ => rect.y.0 + 14.0,
    };
    WindowView {
        class,
        title: if letters > 3 {
            clip(&plain(&window.title), letters)
        } else {
            String::new()
        },
        title_x: Px(rect.x.0 + 6.0),
        title_y: Px(title_y),
        rect,
    }
}

fn path(class: &'static str, frame: &Frame, list: &[Point]) -> PathView {
    let places = list.iter().map(|point| {
        let (x, y, _) = frame.at(point.at);
        format!("{x},{y}")
    });
    PathView {
        class,
        points: places.collect::<Vec<_>>().join(" "),
    }
}

fn marks(class: &'static str, frame: &Frame, list: &[Point]) -> Vec<Mark> {
    let many = list.len() > 3;
    let radius = match (class, many) {
        ("expected", false) => 7.0,
        ("expected", true) => 4.5,
        (_, false) => 4.0,
        (_, true) => 2.5,
    };
    list.iter()
        .map(|point| {
            let (x, y) = frame.inset(point.at, radius);
            Mark {
                class,
                x,
                y,
                radius: Px(radius),
                hint: point.hint.clone(),
            }
        })
        .collect()
}

/// Lines between what was expected and what was compared with it. For a box, to its centre.
fn misses(prediction: &ScoredPrediction, frame: &Frame) -> Vec<[Px; 4]> {
    let right = |at: usize| match (prediction.expected.get(at), prediction.target) {
        (Some(UiAction::Mouse(mouse)), _) => Some(place(mouse)),
        (None, Some(target)) => {
            let [left, top, right, bottom] = box_corners(target);
            Some(((left + right) / 2.0, (top + bottom) / 2.0))
        }
        _ => None,
    };
    let scores = prediction.scores.iter().take(MOST_POINTS).enumerate();
    scores
        .filter(|(_, score)| score.score < 1.0)
        .filter_map(|(at, score)| {
            let UiAction::Mouse(mouse) = prediction.predicted.get(score.with?)? else {
                return None;
            };
            let (from_x, from_y, _) = frame.at(right(at)?);
            let (to_x, to_y, _) = frame.at(place(mouse));
            let length = (to_x.0 - from_x.0).hypot(to_y.0 - from_y.0);
            (length >= 1.0).then_some([from_x, from_y, to_x, to_y])
        })
        .collect()
}

/// An action in words: `click left (138, 89)`, `press a`.
pub(crate) fn told(action: &UiAction) -> String {
    match action {
        UiAction::Key(key) => format!("{} {}", action.name(), clip(&plain(&key.key_name), 20)),
        UiAction::Mouse(mouse) => {
            let place = format!("({}, {})", pixel(mouse.mouse_x), pixel(mouse.mouse_y));
            if action.name() == "move" {
                return format!("move {place}");
            }
            let button = clip(&plain(&mouse.mouse_button_name), 20);
            let way = if mouse.mouse_pressed { "" } else { " up" };
            format!("click {button}{way} {place}")
        }
    }
}

pub(crate) fn pixel(number: f64) -> String {
    if number.abs() >= FAR {
        format!("{number:.1e}")
    } else if number.fract() == 0.0 {
        format!("{number:.0}")
    } else {
        format!("{number:.1}")
    }
}
