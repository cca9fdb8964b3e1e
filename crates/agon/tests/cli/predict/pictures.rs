//! Points on pictures: what is sent, in which pixels the answer is read, and which files are refused.

use std::fs;
use std::path::Path;

use agon::core::prediction::UiAction;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::service::{Answer, Service, into_run, predict, prompt};
use crate::support::Bench;

/// A picture of stripes, so that it is not all alike.
fn picture(path: &Path, width: u32, height: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Rgb);
    let mut writer = encoder.write_header().unwrap();
    let pixels: Vec<u8> = (0..height)
        .flat_map(|y| (0..width).flat_map(move |x| [(x * 7) as u8, (y * 13) as u8, 90]))
        .collect();
    writer.write_image_data(&pixels).unwrap();
    writer.finish().unwrap();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, &bytes).unwrap();
    bytes
}

/// What was sent of a picture.
fn sent(body: &Value) -> Vec<u8> {
    let parts = body["messages"].as_array().unwrap().last().unwrap()["content"]
        .as_array()
        .unwrap();
    let url = parts
        .iter()
        .find_map(|part| part["image_url"]["url"].as_str())
        .unwrap();
    STANDARD
        .decode(url.strip_prefix("data:image/png;base64,").unwrap())
        .unwrap()
}

/// This file is refused with these words.
fn refuses(bench: &Bench, data: &str, why: &str) {
    let said = predict(bench, &["-m", "mock/expected", "--data", data])
        .expect(2)
        .stderr();
    assert!(said.contains(why), "{said}");
}

fn hit_args<'a>(more: &[&'a str]) -> Vec<&'a str> {
    let mut args = vec![
        "--model",
        "served",
        "--data",
        "shots.jsonl",
        "--metric",
        "hit",
    ];
    args.extend(more);
    args
}

#[test]
fn a_picture_goes_to_the_model_and_a_point_in_the_box_is_a_hit() {
    let bench = Bench::new();
    let window = picture(&bench.path("images/sub/window.png"), 320, 200);
    let icon = picture(&bench.path("images/icon.png"), 64, 64);
    let service = Service::start(|body| {
        Answer::Text(match prompt(body).contains("close") {
            true => "click(start_box='(310, 8)')".to_owned(),
            false => "[3, 60]".to_owned(),
        })
    });
    service.configure(&bench, "tiny");
    // The names of ScreenSpot, and those of its kin.
    let lines = [
        json!({ "img_filename": "sub/window.png", "instruction": "close the window",
            "bbox": [304, 0, 16, 16], "data_source": "windows" }),
        json!({ "id": 7, "image": "icon.png", "instruction": "the icon", "bbox": [40, 40, 10, 10] }),
    ];
    bench.write(
        "shots.jsonl",
        &lines.map(|line| line.to_string()).join("\n"),
    );
    let args = hit_args(&["--images", "images", "--workers", "1"]);
    let json = into_run(&bench, &args).expect(0).json();
    assert_eq!((&json["passed"], &json["failed"]), (&1.into(), &1.into()));
    assert_eq!(json["score"], 0.5);
    let mut bodies = service.bodies();
    bodies.sort_by_key(|body| !prompt(body).contains("close"));
    assert_eq!((sent(&bodies[0]), sent(&bodies[1])), (window, icon));
    assert!(prompt(&bodies[0]).contains("320"), "{}", prompt(&bodies[0]));
    let tasks: Vec<String> = bench
        .trials()
        .iter()
        .map(|line| line.task.to_string())
        .collect();
    assert_eq!(tasks, ["windows/000001", "shots/7"]);
    // The page needs no other file: the picture is in it, with the box.
    let page = bench
        .call(&["report", "run", "--format", "html"])
        .expect(0)
        .stdout();
    assert_eq!(page.matches("href=\"data:image/png;base64,").count(), 2);
    assert_eq!(page.matches("<rect class=\"target\"").count(), 2);
    assert!(page.contains("box to hit"));
    assert!(page.contains("close the window") && page.contains("[3, 60]"));
    let table = bench.call(&["report", "run"]).expect(0).stdout();
    assert!(table.contains("hit             50.0 %"), "{table}");
}

#[test]
fn a_point_on_a_smaller_picture_is_one_on_the_picture_itself() {
    let bench = Bench::new();
    picture(&bench.path("wide.png"), 3136, 400);
    // Of half the size where it is sent.
    let service = Service::start(|_| Answer::Text("{\"x\": 1510, \"y\": 100}".to_owned()));
    service.configure(&bench, "claude-of-another");
    let line =
        json!({ "image": "wide.png", "instruction": "the end", "bbox": [3000, 190, 3040, 210] });
    bench.write("shots.jsonl", &line.to_string());
    let args = hit_args(&["--boxes", "xyxy"]);
    let json = into_run(&bench, &args).expect(0).json();
    let told = prompt(&service.bodies()[0]);
    let shown = sent(&service.bodies()[0]);
    let (width, height) = (&shown[16..20], &shown[20..24]);
    let number = |bytes: &[u8]| u32::from_be_bytes(bytes.try_into().unwrap());
    let (width, height) = (number(width), number(height));
    assert!(width < 3136 && height < 400, "{width} x {height}");
    assert!(told.contains(&width.to_string()), "{told}");
    let verdict = bench.reader().verdict(&bench.trial()).unwrap().unwrap();
    let prediction = verdict.checks[0].prediction.as_ref().unwrap();
    let UiAction::Mouse(point) = &prediction.predicted[0] else {
        panic!("a point is a click");
    };
    let expected = 1510.0 * 3136.0 / f64::from(width);
    assert!((point.mouse_x - expected).abs() < 1e-6, "{point:?}");
    assert_eq!(
        json["passed"],
        u64::from((3000.0..=3040.0).contains(&expected))
    );
    assert_eq!(
        (prediction.window.width, prediction.window.height),
        (3136, 400)
    );
}

#[test]
fn lines_of_the_published_sets_are_read_as_they_are() {
    let bench = Bench::new();
    picture(&bench.path("a.png"), 200, 100);
    let set = |name: &str, boxes: &str, line: Value| {
        bench.write("set.jsonl", &line.to_string());
        let args = [
            "-m",
            "mock/expected",
            "--data",
            "set.jsonl",
            "--metric",
            "hit",
            "--boxes",
            boxes,
        ];
        predict(&bench, &[&args[..], &["--out", name]].concat()).expect(0);
        let reader = agon::store::RunReader::open(&bench.path(name)).unwrap();
        let line = reader.trials().unwrap().remove(0);
        let verdict = reader.verdict(&line).unwrap().unwrap();
        let target = verdict.checks[0]
            .prediction
            .as_ref()
            .unwrap()
            .target
            .unwrap();
        (line.task.to_string(), target.width, target.height)
    };
    let first = json!({ "img_filename": "a.png", "bbox": [150, 40, 20, 10], "instruction": "close",
        "data_type": "icon", "data_source": "windows" });
    let expected = ("windows/000001".to_owned(), 20.0, 10.0);
    assert_eq!(set("first", "xywh", first), expected);
    let pro = json!({ "img_filename": "a.png", "bbox": [150, 40, 170, 50], "instruction": "close",
        "instruction_cn": "关闭", "id": "word_windows_0", "application": "word",
        "platform": "windows", "img_size": [200, 100], "ui_type": "icon", "group": "Office" });
    let expected = ("Office/word_windows_0".to_owned(), 20.0, 10.0);
    assert_eq!(set("pro", "xyxy", pro), expected);
}

#[test]
fn models_that_write_other_units_are_understood() {
    let bench = Bench::new();
    picture(&bench.path("a.png"), 200, 100);
    let line = json!({ "image": "a.png", "instruction": "x", "bbox": [100, 50, 4, 4] }).to_string();
    bench.write("shots.jsonl", &line);
    for unit in ["pixels", "relative", "percent", "thousandths"] {
        let args = [
            "--model",
            "mock/expected",
            "--data",
            "shots.jsonl",
            "--metric",
            "hit",
            "--json",
        ];
        let args = [&args[..], &["--unit", unit, "--out", unit]].concat();
        assert_eq!(
            predict(&bench, &args).expect(0).json()["passed"],
            1,
            "{unit}"
        );
    }
    let wrong = [
        "--model",
        "mock/wrong",
        "--data",
        "shots.jsonl",
        "--metric",
        "hit",
        "--json",
    ];
    assert_eq!(predict(&bench, &wrong).expect(0).json()["failed"], 1);
}

#[test]
fn lines_that_cannot_be_used_are_told_by_number() {
    let bench = Bench::new();
    picture(&bench.path("images/a.png"), 20, 20);
    bench.write("secret.txt", "x");
    bench.write("images/no-picture.png", "x");
    let line = |image: &str, bbox: &str| {
        format!("{{\"image\": \"{image}\", \"instruction\": \"x\", \"bbox\": {bbox}}}")
    };
    let lines = [
        line("a.png", "[1, 2, 3, 4]"),
        "{\"image\": ".to_owned(),
        line("../secret.txt", "[1, 2, 3, 4]"),
        line("no-picture.png", "[1, 2, 3, 4]"),
        line("missing.png", "[1, 2, 3, 4]"),
        line("a.png", "[1, 2, 0, 4]"),
        line("a.png", "[1, 2, 3]"),
    ];
    bench.write("shots.jsonl", &lines.join("\n"));
    let args = [
        "--model",
        "mock/expected",
        "--data",
        "shots.jsonl",
        "--metric",
        "hit",
    ];
    let args = [&args[..], &["--images", "images"]].concat();
    let said = predict(&bench, &args).expect(2).stderr();
    for part in [
        "line 2: ",
        "line 3: the picture `../secret.txt` is not below",
        "line 4: ",
        "is no PNG",
        "line 5: ",
        "missing.png",
        "line 6: [1.0, 2.0, 0.0, 4.0] is no box",
        "line 7: ",
    ] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("line 1:"), "{said}");
    bench.write("empty.jsonl", "\n\n");
    refuses(&bench, "empty.jsonl", "has no line");
    refuses(&bench, "nothing.jsonl", "nothing.jsonl");
}

#[test]
fn windows_with_a_picture_are_asked_about_as_windows() {
    let bench = Bench::new();
    picture(&bench.path("a.png"), 200, 100);
    let window = json!({ "left": 0, "top": 0, "width": 100, "height": 100 });
    let line = json!({ "reference_window": window, "active_window": window, "image": "a.png",
        "actions": { "name": "press", "key_name": "x" } });
    bench.write("mine.jsonl", &line.to_string());
    let service = Service::start(|_| Answer::Text("{'name': 'press', 'key_name': 'x'}".to_owned()));
    service.configure(&bench, "tiny");
    let args = ["--model", "served", "--data", "mine.jsonl"];
    assert_eq!(into_run(&bench, &args).expect(0).json()["passed"], 1);
    let system = &service.bodies()[0]["messages"][0]["content"];
    assert!(system.to_string().contains("reference window"), "{system}");
}

#[test]
fn a_model_that_sees_nothing_is_not_asked() {
    let bench = Bench::new();
    picture(&bench.path("a.png"), 200, 100);
    let line = json!({ "image": "a.png", "instruction": "x", "bbox": [1, 1, 4, 4] });
    bench.write("shots.jsonl", &line.to_string());
    let service = Service::start(|_| Answer::Text("(2, 2)".to_owned()));
    service.configure(&bench, "tiny");
    let config = std::fs::read_to_string(bench.path("config.toml")).unwrap();
    bench.write("config.toml", &format!("{config}disable_vision = true\n"));
    let said = predict(&bench, &hit_args(&[])).expect(2).stderr();
    assert!(said.contains("choose one that sees"), "{said}");
    assert_eq!(service.bodies().len(), 0);
}

#[test]
fn a_large_picture_that_is_no_png_is_told_before_anything_is_asked() {
    let bench = Bench::new();
    // The head of a GIF says how large it is.
    let mut gif = b"GIF89a".to_vec();
    gif.extend([0x40, 0x1f, 0x40, 0x1f, 0, 0, 0]);
    gif.extend([0; 64]);
    std::fs::write(bench.path("large.gif"), gif).unwrap();
    let line = json!({ "image": "large.gif", "instruction": "x", "bbox": [1, 1, 4, 4] });
    bench.write("shots.jsonl", &line.to_string());
    let service = Service::start(|_| Answer::Text("(2, 2)".to_owned()));
    service.configure(&bench, "claude-of-another");
    let said = predict(&bench, &hit_args(&[])).expect(2).stderr();
    for part in ["convert them to PNG", "large.gif", "8000 x 8000"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert_eq!(service.bodies().len(), 0);
}

#[test]
fn lines_say_what_is_wrong_with_them() {
    let bench = Bench::new();
    picture(&bench.path("a.png"), 200, 100);
    let window = json!({ "left": 0, "top": 0, "width": 100, "height": 100 });
    let wrong = |metric: &str, content: &str| {
        bench.write("data.jsonl", content);
        let args = [
            "-m",
            "mock/expected",
            "--data",
            "data.jsonl",
            "--metric",
            metric,
        ];
        let said = predict(&bench, &args).expect(2).stderr();
        assert!(!said.contains("line 1 column"), "{said}");
        said
    };
    let said = wrong("hit", "[{\"image\": \"a.png\"}]");
    assert!(said.contains("jq -c '.[]'"), "{said}");
    let boxed = json!({ "image": "a.png", "instruction": "x", "bbox": [150, 40, 170, 50] });
    let said = wrong("hit", &boxed.to_string());
    assert!(said.contains("is --boxes xyxy meant?"), "{said}");
    let line = json!({ "reference_window": window, "active_window": window,
        "actions": [{ "name": "click", "mouse_x": 1 }] });
    let said = wrong("action", &line.to_string());
    assert!(said.contains("`actions[0]`: expected `mouse_y`"), "{said}");
    let mut line = json!({ "reference_window": window, "active_window": window,
        "actions": { "name": "press", "key_name": "x" }, "meta": 1, "expect": [] });
    assert!(wrong("action", &line.to_string()).contains("unknown field `expect`"));
    // A byte order mark is no part of the first line.
    line.as_object_mut().unwrap().remove("expect");
    bench.write("data.jsonl", &format!("\u{feff}{line}"));
    predict(&bench, &["-m", "mock/expected", "--data", "data.jsonl"]).expect(0);
    let made = std::process::Command::new("mkfifo")
        .arg(bench.path("pipe"))
        .status();
    assert!(made.unwrap().success());
    refuses(&bench, "pipe", "is no file");
}

#[test]
fn actions_of_ones_own_are_scored_against_what_is_expected() {
    let bench = Bench::new();
    let window =
        |left: i64| json!({ "title": "w", "left": left, "top": 0, "width": 100, "height": 100 });
    let click = json!({ "name": "click", "mouse_x": 10, "mouse_y": 20, "mouse_button_name": "left",
        "mouse_pressed": true });
    let key = json!({ "name": "press", "key_name": "x" });
    let lines = [
        json!({ "id": "moved", "reference_window": window(0), "actions": [click], "active_window": window(50) }),
        json!({ "id": "named", "ref_window": window(0), "action": click, "active_window": window(50),
            "expected": key, "group": "own" }),
    ];
    bench.write("mine.jsonl", &lines.map(|line| line.to_string()).join("\n"));
    let args = ["--model", "mock/expected", "--data", "mine.jsonl"];
    assert_eq!(into_run(&bench, &args).expect(0).json()["score"], 1.0);
    let reader = bench.reader();
    let mut expected = Vec::new();
    for line in bench.trials() {
        let verdict = reader.verdict(&line).unwrap().unwrap();
        let prediction = verdict.checks[0].prediction.clone().unwrap();
        expected.push((
            line.task.to_string(),
            serde_json::to_value(&prediction.expected[0]).unwrap(),
        ));
    }
    expected.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(
        (expected[0].0.as_str(), &expected[0].1["mouse_x"]),
        ("mine/moved", &json!(60))
    );
    assert_eq!(
        (expected[1].0.as_str(), &expected[1].1),
        ("own/named", &key)
    );
}
