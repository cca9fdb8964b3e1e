//! The picture of the score in the docs, drawn from the scores themselves so that it cannot tell anything
//! else. `AGON_WRITE_PICTURES=1` writes it anew.

use std::fmt::Write as _;
use std::path::Path;

use agon_core::prediction::{
    KeyAction, KeyActionName, MouseAction, MouseActionName, UiAction, Window,
};

use super::{PASS, compare};

const PATH: &str = "../../docs/pictures/prediction-score.svg";
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 400.0;
/// The corner of the axes, and how long they are.
const ORIGIN: (f64, f64) = (70.0, 340.0);
const AXES: (f64, f64) = (420.0, 300.0);
/// How far from the expected point the picture goes, in diagonals.
const FAR: f64 = 0.7;

fn window() -> Window {
    Window {
        width: 600,
        height: 800,
        ..Window::default()
    }
}

fn click(share: f64) -> MouseAction {
    // From the middle of the window towards its corner, which is half a diagonal away.
    MouseAction {
        name: MouseActionName::Click,
        mouse_x: 300.0 + share * 600.0,
        mouse_y: 400.0 + share * 800.0,
        mouse_button_name: "left".to_owned(),
        mouse_pressed: true,
        element_state: serde_json::Map::new(),
    }
}

/// Name, colour, and what is predicted at a distance.
type Line = (&'static str, &'static str, fn(f64) -> UiAction);

const LINES: [Line; 4] = [
    ("the expected click", "#1a7f37", |share| click(share).into()),
    ("another button, or outside", "#bc4c00", |share| {
        MouseAction {
            mouse_button_name: "right".to_owned(),
            ..click(share)
        }
        .into()
    }),
    ("a move instead of a click", "#8250df", |share| {
        MouseAction {
            name: MouseActionName::Move,
            ..click(share)
        }
        .into()
    }),
    ("a key instead of the mouse", "#57606a", |_| {
        KeyAction {
            name: KeyActionName::Press,
            key_name: "a".to_owned(),
        }
        .into()
    }),
];

fn place(share: f64, score: f64) -> (f64, f64) {
    (ORIGIN.0 + share / FAR * AXES.0, ORIGIN.1 - score * AXES.1)
}

fn picture() -> String {
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"13\">\n\
         <title>Score of a predicted click over its distance from the expected point</title>\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"#ffffff\"/>\n"
    );
    axes(&mut svg);
    for (name, colour, predicted) in LINES {
        draw(&mut svg, name, colour, predicted);
    }
    let (left, y) = place(0.0, 0.0);
    label(
        &mut svg,
        (left + AXES.0 + 8.0, y + 4.0),
        "#cf222e",
        "0.0  not readable",
    );
    svg.push_str("</svg>\n");
    svg
}

fn axes(svg: &mut String) {
    let end = (ORIGIN.0 + AXES.0, ORIGIN.1 - AXES.1);
    let mut line = |from: (f64, f64), to: (f64, f64), style: &str| {
        let _ = writeln!(
            svg,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" {style}/>",
            from.0, from.1, to.0, to.1
        );
    };
    for tenth in 0..=10 {
        let y = place(0.0, f64::from(tenth) / 10.0).1;
        line((ORIGIN.0, y), (end.0, y), "stroke=\"#eaeef2\"");
    }
    line(ORIGIN, (end.0, ORIGIN.1), "stroke=\"#24292f\"");
    line(ORIGIN, (ORIGIN.0, end.1), "stroke=\"#24292f\"");
    let pass = place(0.0, PASS).1;
    let dashed = "stroke=\"#0969da\" stroke-dasharray=\"5 4\"";
    line((ORIGIN.0, pass), (end.0, pass), dashed);
    let corner = place(0.5, 0.0).0;
    line(
        (corner, ORIGIN.1),
        (corner, end.1),
        "stroke=\"#8c959f\" stroke-dasharray=\"2 4\"",
    );
    for tenth in [0, 2, 4, 6, 8, 10] {
        let score = f64::from(tenth) / 10.0;
        label(
            svg,
            (ORIGIN.0 - 30.0, place(0.0, score).1 + 4.0),
            "#24292f",
            &format!("{score:.1}"),
        );
    }
    for tenth in 0..=7 {
        let share = f64::from(tenth) / 10.0;
        label(
            svg,
            (place(share, 0.0).0 - 9.0, ORIGIN.1 + 18.0),
            "#24292f",
            &format!("{share:.1}"),
        );
    }
    let below = ORIGIN.1 + 42.0;
    label(
        svg,
        (ORIGIN.0, below),
        "#24292f",
        "distance / diagonal of the active window, from its middle",
    );
    label(svg, (12.0, 24.0), "#24292f", "score");
    label(
        svg,
        (end.0 + 8.0, pass + 4.0),
        "#0969da",
        "only this passes",
    );
    label(
        svg,
        (corner + 4.0, end.1 - 6.0),
        "#8c959f",
        "edge of the window",
    );
}

fn draw(svg: &mut String, name: &str, colour: &str, predicted: fn(f64) -> UiAction) {
    let score = |share: f64| compare(&click(0.0).into(), &predicted(share), &window()).score;
    let mut points = String::new();
    // So fine that the step at the window's edge is upright.
    for step in 0..=1400 {
        let share = FAR * f64::from(step) / 1400.0;
        let turns = [-1, 1].map(|side| {
            let beside = share + f64::from(side) * FAR / 1400.0;
            (score(beside) - score(share)) * f64::from(side)
        });
        if step == 0 || step == 1400 || (turns[0] - turns[1]).abs() > 1e-6 {
            let (x, y) = place(share, score(share));
            let _ = write!(points, "{x:.1},{y:.1} ");
        }
    }
    let points = points.trim_end();
    let _ = writeln!(
        svg,
        "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2.5\"/>"
    );
    // The first one ends where the second does, so that it is told along the way.
    if score(0.0) == 1.0 {
        label(svg, place(0.06, 0.82), colour, name);
    } else {
        let (x, y) = place(FAR, score(FAR));
        let told = format!("{:.1}  {name}", score(FAR));
        label(svg, (x + 8.0, y + 4.0), colour, &told);
    }
}

fn label(svg: &mut String, (x, y): (f64, f64), colour: &str, text: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{colour}\">{text}</text>"
    );
}

#[test]
fn the_picture_in_the_docs_shows_the_scores() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PATH);
    if std::env::var_os("AGON_WRITE_PICTURES").is_some() {
        std::fs::write(&path, picture()).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(
        kept == picture(),
        "write it anew: AGON_WRITE_PICTURES=1 cargo test -p agon-predict curve"
    );
}
