//! Runs of predictions in every format: what could be read, what was exact, how far off the points were, and
//! a picture per item. What models answer can't leave its place.

use std::collections::HashMap;

use agon_core::prediction::{
    ActionScore, KeyAction, KeyActionName, MouseAction, MouseActionName, ScoredPrediction,
    TargetBox, UiAction, Window,
};
use agon_core::{Digest, FaultClass};
use agon_report::{Each, Format, RunReport, Screen, Trials, document_schema, render};
use agon_store::{Manifest, StoreError, TrialLine};
use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::fixture::{faulted, graded, manifest, task};

#[derive(Debug)]
struct Predicted {
    lines: Vec<TrialLine>,
    predictions: HashMap<String, ScoredPrediction>,
}

impl Trials for Predicted {
    fn visit(&self, each: &mut Each<'_>) -> Result<(), StoreError> {
        self.lines.visit(each)
    }

    fn prediction(&self, line: &TrialLine) -> Result<Option<ScoredPrediction>, StoreError> {
        Ok(self.predictions.get(&line.task.to_string()).cloned())
    }

    fn asked(&self, _: &TrialLine) -> Result<Option<Value>, StoreError> {
        let url = "data:image/png;base64,iVBORw0KGgo=";
        Ok(Some(
            json!({ "content": [{ "image_url": { "url": url } }] }),
        ))
    }
}

fn window(title: &str, left: i64, top: i64) -> Window {
    Window {
        title: title.to_owned(),
        left,
        top,
        width: 300,
        height: 400,
        ..Window::default()
    }
}

fn click(x: f64, y: f64) -> UiAction {
    UiAction::Mouse(MouseAction {
        name: MouseActionName::Click,
        mouse_x: x,
        mouse_y: y,
        mouse_button_name: "left".to_owned(),
        mouse_pressed: true,
        element_state: Default::default(),
    })
}

fn press(key: &str) -> UiAction {
    UiAction::Key(KeyAction {
        name: KeyActionName::Press,
        key_name: key.to_owned(),
    })
}

fn scored(kind: &str, score: f64, with: Option<usize>, distance: Option<f64>) -> ActionScore {
    ActionScore {
        kind: kind.to_owned(),
        score,
        with,
        distance,
    }
}

/// One click: (50, 60) in a window that was moved by (100, 20).
fn one(predicted: Result<UiAction, &str>, score: ActionScore) -> ScoredPrediction {
    ScoredPrediction {
        metric: "action".to_owned(),
        group: "single_mouse".to_owned(),
        parsed: predicted.is_ok(),
        why: predicted.as_ref().err().map(|why| (*why).to_owned()),
        question: None,
        answer: None,
        window: window("Calculator", 100, 20),
        reference_window: Some(window("Calculator", 0, 0)),
        reference: vec![click(50.0, 60.0)],
        expected: vec![click(150.0, 80.0)],
        target: None,
        predicted: predicted.into_iter().collect(),
        scores: vec![score],
        image: None,
    }
}

/// The last digits of a number depend on how exactly JSON is read.
fn rounded(value: &Value) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            let number = format!("{:.8e}", number.as_f64().unwrap());
            json!(number.parse::<f64>().unwrap())
        }
        Value::Array(list) => list.iter().map(rounded).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), rounded(value)))
            .collect(),
        other => other.clone(),
    }
}

const EVIL: &str = "\x1b[31m</title><script>alert(1)</script>\u{202e}|`@all";

/// Exact, near, cut short, not read twice, wild, faulted and missing.
fn actions() -> (Manifest, Predicted) {
    let ids = [
        "single_mouse/exact",
        "single_mouse/near",
        "single_mouse/unread",
        "single_mouse/unread-too",
        "single_mouse/faulted",
        "multi/short",
        "multi/wild",
        "multi/missing",
    ];
    let mut manifest = manifest(1, ids.iter().map(|id| task(id, None)).collect());
    manifest.run = "20260105-000000-predict-model".to_owned();
    manifest.suites[0].name = "predict".to_owned();
    manifest.agent.spec = "model".to_owned();
    manifest
        .selection
        .insert("predict".to_owned(), "fixtures".to_owned());
    let lines = vec![
        graded(ids[0], 1, 1.0),
        graded(ids[1], 1, 0.95),
        graded(ids[2], 1, 0.0),
        graded(ids[3], 1, 0.0),
        faulted(ids[4], 1, FaultClass::Model, "the service is down"),
        graded(ids[5], 1, 0.75),
        graded(ids[6], 1, 0.25),
    ];
    let none = || scored("click", 0.0, None, None);
    let short = ScoredPrediction {
        group: "multi".to_owned(),
        expected: vec![
            click(150.0, 80.0),
            click(160.0, 90.0),
            press("a"),
            press("b"),
        ],
        predicted: vec![click(150.0, 80.0), click(170.0, 90.0), press("a")],
        scores: vec![
            scored("click", 1.0, Some(0), Some(0.0)),
            scored("click", 0.99, Some(1), Some(0.02)),
            scored("press", 1.0, Some(2), None),
            scored("press", 0.0, None, None),
        ],
        ..one(Ok(press("a")), none())
    };
    let wild = ScoredPrediction {
        group: "multi".to_owned(),
        window: Window {
            title: EVIL.to_owned(),
            left: i64::MIN,
            width: i64::MAX,
            ..window("", 0, 0)
        },
        predicted: vec![click(1e308, -1e308), press(EVIL)],
        ..one(Ok(press("a")), scored("click", 0.5, Some(0), Some(1e305)))
    };
    let why = |at: usize| format!("there is none, at character {at}: `{EVIL}`");
    let predictions = [
        one(
            Ok(click(150.0, 80.0)),
            scored("click", 1.0, Some(0), Some(0.0)),
        ),
        one(
            Ok(click(200.0, 80.0)),
            scored("click", 0.95, Some(0), Some(0.1)),
        ),
        one(Err(&why(7)), none()),
        one(Err(&why(19)), none()),
        one(Ok(press("never counted")), none()),
        short,
        wild,
    ];
    let predictions = ids.iter().map(|id| (*id).to_owned()).zip(predictions);
    (
        manifest,
        Predicted {
            lines,
            predictions: predictions.collect(),
        },
    )
}

/// Pictures: in the box, outside of it, and not read.
fn hits() -> (Manifest, Predicted) {
    let ids = ["web/hit", "web/miss", "web/unread"];
    let (mut manifest, _) = actions();
    manifest.tasks = ids.iter().map(|id| task(id, None)).collect();
    let lines = vec![
        graded(ids[0], 1, 1.0),
        graded(ids[1], 1, 0.0),
        graded(ids[2], 1, 0.0),
    ];
    let hit = |predicted, score| ScoredPrediction {
        metric: "hit".to_owned(),
        group: "web".to_owned(),
        window: window("", 0, 0),
        reference_window: None,
        reference: Vec::new(),
        expected: Vec::new(),
        target: Some(TargetBox {
            left: 10.0,
            top: 20.0,
            width: 30.0,
            height: 40.0,
        }),
        image: Some(Digest::of(b"screen")),
        ..one(predicted, score)
    };
    let predictions = [
        hit(
            Ok(click(20.0, 30.0)),
            scored("click", 1.0, Some(0), Some(0.022)),
        ),
        hit(
            Ok(click(200.0, 30.0)),
            scored("click", 0.0, Some(0), Some(0.35)),
        ),
        hit(Err("no point"), scored("click", 0.0, None, None)),
    ];
    let predictions = ids.iter().map(|id| (*id).to_owned()).zip(predictions);
    (
        manifest,
        Predicted {
            lines,
            predictions: predictions.collect(),
        },
    )
}

fn written(format: Format, (manifest, trials): &(Manifest, Predicted)) -> String {
    render(format, &[RunReport::new(manifest, trials).unwrap()]).unwrap()
}

#[test]
fn table_of_predictions() {
    assert_snapshot!(written(Format::Table(Screen::default()), &actions()));
}

#[test]
fn markdown_of_predictions() {
    assert_snapshot!(written(Format::Markdown, &actions()));
}

#[test]
fn csv_of_predictions() {
    assert_snapshot!(written(Format::Csv, &actions()));
}

#[test]
fn json_of_predictions() {
    let report: Value = serde_json::from_str(&written(Format::Json, &actions())).unwrap();
    let summary = &report["runs"][0]["summary"];
    assert_eq!(summary.get("measured"), None);
    assert_snapshot!(serde_json::to_string_pretty(&rounded(&summary["predictions"])).unwrap());
    let schema = serde_json::to_value(document_schema()).unwrap();
    let known = &schema["$defs"]["Predictions"]["properties"];
    for name in summary["predictions"].as_object().unwrap().keys() {
        assert!(known.get(name).is_some(), "{name}");
    }
}

#[test]
fn html_of_predictions() {
    let page = written(Format::Html, &actions());
    let pictures = page
        .split("<section class=\"panel wide predictions\">")
        .nth(1);
    assert_snapshot!(pictures.unwrap().split("</section>").next().unwrap());
}

#[test]
fn table_of_hits() {
    assert_snapshot!(written(Format::Table(Screen::default()), &hits()));
}

#[test]
fn html_of_hits_shows_each_screen_once() {
    let page = written(Format::Html, &hits());
    assert_eq!(
        page.matches("data:image/png;base64,iVBORw0KGgo=").count(),
        1
    );
    assert_eq!(page.matches("<use href=\"#screen-0-0\"").count(), 3);
    assert_eq!(page.matches("<rect class=\"target\"").count(), 3);
    assert!(page.contains("box to hit") && !page.contains("reference window"));
    let (worst, best) = (page.find("<b>web/miss</b>"), page.find("<b>web/hit</b>"));
    assert!(worst.unwrap() < best.unwrap());
}

#[test]
fn what_models_answer_stays_text() {
    let run = actions();
    for format in [
        Format::Table(Screen::default()),
        Format::Markdown,
        Format::Csv,
        Format::Html,
    ] {
        let text = written(format, &run);
        let control = text.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(
            (control, text.contains('\u{202e}')),
            (None, false),
            "{format:?}"
        );
    }
    for format in [Format::Markdown, Format::Html] {
        assert!(!written(format, &run).contains("<script"), "{format:?}");
    }
    // Wild numbers are told in few digits, and drawn where there is room.
    let page = written(Format::Html, &run);
    assert!(page.contains("over 10,000 %") && page.contains("(1.0e308, -1.0e308)"));
    let longest = page
        .split(['"', ' ', '<', '>'])
        .map(|word| word.chars().filter(char::is_ascii_digit).count());
    assert!(longest.max().unwrap() < 40);
}

#[test]
fn a_page_holds_a_bounded_number_of_pictures() {
    let (mut manifest, mut run) = actions();
    let prediction = run.predictions["single_mouse/near"].clone();
    let ids: Vec<String> = (0..450).map(|n| format!("many/{n:03}")).collect();
    manifest.tasks = ids.iter().map(|id| task(id, None)).collect();
    run.lines = ids.iter().rev().map(|id| graded(id, 1, 0.5)).collect();
    run.lines[440].score = 0.25;
    run.predictions = ids
        .iter()
        .map(|id| (id.clone(), prediction.clone()))
        .collect();
    let page = written(Format::Html, &(manifest, run));
    assert_eq!(page.matches("<details").count(), 200);
    assert_eq!(page.matches("<details open>").count(), 6);
    assert!(page.contains("250 more are not drawn"));
    let first = page.find("<summary><b>many/009</b>").unwrap();
    assert!(first < page.find("<summary><b>many/000</b>").unwrap());
}

#[test]
fn only_runs_of_predictions_are_looked_into() {
    let (mut manifest, run) = actions();
    manifest.selection.clear();
    let report = RunReport::new(&manifest, &run).unwrap();
    assert_eq!(report.summary.predictions, None);
}
