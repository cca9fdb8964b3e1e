//! Files of every past version are read for good: fields are only ever added, and what a newer
//! version adds does not disturb this one.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;

use agon_core::event::Phase;
use agon_core::screen::{ScreenMoment, ScreenPoint};
use agon_core::verdict::Outcome;
use agon_core::{
    Digest, Event, EventBody, FaultClass, InputKind, Level, Money, PictureFormat, ScreenView,
};
use agon_store::{Manifest, RunReader, TrialLine};
use serde_json::{Value, json};

use crate::fixture::{copy_of_golden, golden, golden_desktop};

#[test]
fn the_manifest_of_format_1_is_read() {
    let reader = RunReader::open(&golden()).unwrap();
    let manifest = reader.manifest();
    assert_eq!((manifest.format, manifest.agon.as_str()), (1, "0.1.0"));
    assert_eq!(manifest.agent.spec, "oracle");
    assert!(!manifest.agent.unconfined);
    assert_eq!(
        manifest.created.to_string(),
        "2026-11-15T21:55:10.221145731Z"
    );
    assert_eq!(manifest.selection["level"], "paper,wood,gold");
    let tasks: Vec<_> = manifest
        .tasks
        .iter()
        .map(|task| (task.task.to_string(), task.level.unwrap(), task.weight))
        .collect();
    assert_eq!(
        tasks,
        [
            ("files/greeting".to_owned(), Level::Paper, 0.5),
            ("files/broken".to_owned(), Level::Wood, 1.0),
            ("talk/done".to_owned(), Level::Gold, 8.0),
        ]
    );
    assert_eq!(manifest.host.cpus, 2);
}

#[test]
fn the_trials_of_format_1_are_read() {
    let reader = RunReader::open(&golden()).unwrap();
    let trials = reader.trials().unwrap();
    let seen: Vec<_> = trials
        .iter()
        .map(|line| (line.task.id(), line.attempt, line.is_final, line.outcome))
        .collect();
    use Outcome::{Failed, Faulted, Passed};
    assert_eq!(
        seen,
        [
            ("greeting", 1, true, Passed),
            ("broken", 1, false, Faulted),
            ("broken", 2, false, Faulted),
            ("done", 1, true, Failed),
            ("broken", 3, false, Faulted),
            ("broken", 4, true, Faulted),
            ("done", 2, false, Failed),
        ]
    );
    assert_eq!(trials[1].fault.as_ref().unwrap().class, FaultClass::Setup);
    let last = &trials[6];
    assert!(last.rerun && !last.retried && !last.tainted);
    assert_eq!(last.usage.input_tokens, 1200);
    assert_eq!(last.usage.money, Some(Money::from_micros(4100)));
    assert_eq!(
        last.reason,
        "returned_result: expected \"done\"; found \"later\""
    );
}

#[test]
fn the_events_and_blobs_of_format_1_are_read() {
    let reader = RunReader::open(&golden()).unwrap();
    for line in reader.trials().unwrap() {
        let events = reader.events(&line).unwrap();
        let numbers: Vec<u64> = events.iter().map(|event| event.seq).collect();
        let counted: Vec<u64> = (0..events.len() as u64).collect();
        assert_eq!(numbers, counted, "{}", line.task);
        let last = &events.last().unwrap().body;
        match line.fault {
            Some(fault) => assert_eq!(*last, EventBody::Fault(fault)),
            None => assert_eq!(*last, EventBody::Phase(Phase::Graded)),
        }
        let Some(work) = line.work else { continue };
        let stored = fs::read(reader.folder().blob(&work)).unwrap();
        assert_eq!(Digest::of(&stored), work);
        let mut tar = Vec::new();
        let unpacked = reader.unpack_blob(&work).unwrap();
        fs::File::open(&unpacked)
            .unwrap()
            .read_to_end(&mut tar)
            .unwrap();
        let tar = String::from_utf8_lossy(&tar);
        assert!(tar.contains("greeting.txt") && tar.contains("hello\n"));
    }
}

#[test]
fn the_screens_and_inputs_of_format_1_are_read() {
    let reader = RunReader::open(&golden_desktop()).unwrap();
    let line = reader.trials().unwrap().remove(0);
    let events = reader.events(&line).unwrap();
    assert_eq!(events.len(), 20);

    let moments: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Screen(record) => Some(record.what),
            _ => None,
        })
        .collect();
    use ScreenMoment::{Final, Frame, Ready};
    assert_eq!(moments, [Ready, Frame, Final]);

    let screens: Vec<&ScreenView> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Screen(record) => Some(&record.screen),
            EventBody::Observation(seen) => seen.screen.as_ref(),
            _ => None,
        })
        .collect();
    assert_eq!(screens.len(), 7);
    for screen in &screens {
        assert_eq!((screen.width, screen.height), (64, 64));
        let picture = &screen.picture;
        assert_eq!(picture.format, PictureFormat::Png);
        let stored = fs::read(reader.folder().blob(&picture.blob)).unwrap();
        assert_eq!(Digest::of(&stored), picture.blob);
        assert_eq!(stored.len() as u64, picture.bytes);
        assert!(stored.starts_with(b"\x89PNG"));
    }
    assert_eq!(screens[0].window, None);
    let window = screens[2].window.as_ref().unwrap();
    assert_eq!(
        (window.title(), window.class(), window.pid),
        ("notes.txt - Mousepad", "Mousepad", Some(41))
    );
    assert_eq!(
        (window.x, window.y, window.width, window.height),
        (-2, 0, 60, 50)
    );
    assert_eq!(screens[2].cursor, Some(ScreenPoint { x: 10, y: 20 }));

    let inputs: Vec<_> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Input(inputs) => Some(inputs),
            _ => None,
        })
        .flatten()
        .collect();
    let kinds: Vec<_> = inputs.iter().map(|input| input.kind).collect();
    use InputKind::{ButtonPress, ButtonRelease, KeyPress, KeyRelease, Motion, Scroll};
    assert_eq!(
        kinds,
        [
            Motion,
            ButtonPress,
            ButtonRelease,
            ButtonPress,
            ButtonRelease,
            KeyPress,
            KeyRelease,
            Scroll,
        ]
    );
    assert_eq!((inputs[1].button, inputs[1].x), (Some(1), Some(10)));
    assert_eq!(inputs[5].key.as_deref(), Some("Right"));
    assert_eq!((inputs[5].vk, inputs[5].keycode), (Some(0x27), Some(114)));
    assert_eq!((inputs[7].dx, inputs[7].dy), (Some(0), Some(-3)));
}

/// Reading and writing again loses nothing: every field of the past has a place in the types.
#[test]
fn nothing_of_format_1_is_lost() {
    fn check<T: serde::de::DeserializeOwned + serde::Serialize>(text: &str) {
        let before: Value = serde_json::from_str(text).unwrap();
        let read: T = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_value(&read).unwrap(), before);
    }
    let read = |name: &str| fs::read_to_string(golden().join(name)).unwrap();
    for folder in ["../format-1", "../format-1-desktop", "../format-1-models"] {
        check::<Manifest>(&read(&format!("{folder}/run.json")));
        let trials = read(&format!("{folder}/trials.jsonl"));
        trials.lines().for_each(check::<TrialLine>);
    }
    for file in [
        "trials/segments/000001.jsonl",
        "trials/segments/000002.jsonl",
        "trials/files/greeting/1.1/events.jsonl",
        "../format-1-desktop/trials/segments/000001.jsonl",
        "../format-1-models/trials/segments/000001.jsonl",
    ] {
        let text = read(file);
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some("{\"format\":1}"));
        lines.for_each(check::<Event>);
    }
}

#[test]
fn what_a_newer_version_adds_is_passed_over() {
    let (_root, folder) = copy_of_golden();
    let before = RunReader::open(folder.path()).unwrap().trials().unwrap();

    let mut manifest: Value =
        serde_json::from_slice(&fs::read(folder.manifest_file()).unwrap()).unwrap();
    manifest["mood"] = json!("bright");
    manifest["host"]["cats"] = json!(2);
    fs::write(folder.manifest_file(), manifest.to_string()).unwrap();
    let lines = fs::read_to_string(folder.trials_file()).unwrap();
    let lines = lines.replace("{\"task\"", "{\"mood\":{\"a\":[1]},\"task\"");
    fs::write(folder.trials_file(), lines).unwrap();

    let reader = RunReader::open(folder.path()).unwrap();
    assert_eq!(reader.manifest().seed, 0);
    assert_eq!(reader.trials().unwrap(), before);

    // An event of a kind that is not known here is left out; the others stay.
    let path = folder.path().join(&before[0].events.file);
    let events = fs::read_to_string(&path).unwrap();
    let named = "\"kind\":\"phase\",\"phase\":\"running\"";
    assert!(events.contains(named));
    let other = events.replace(named, "\"kind\":\"dream\",\"dream\":\"flying\" ");
    fs::write(&path, &other).unwrap();
    let mut line = before[0].clone();
    line.events.bytes = other.len() as u64 - line.events.at;
    let kinds = reader.events(&line).unwrap();
    assert_eq!(kinds.len(), events.lines().count() - 2);
}

/// What a file says about where its events are is not believed when it leads out of the folder.
#[test]
fn events_outside_of_the_run_folder_are_refused() {
    let reader = RunReader::open(&golden()).unwrap();
    let line = reader.trials().unwrap().remove(0);
    for file in [
        "../format-1/run.json",
        "/etc/hostname",
        "trials/../../x",
        "",
    ] {
        let mut line = line.clone();
        line.events.file = file.to_owned();
        assert!(reader.events(&line).is_err(), "{file}");
    }
}

/// Schemas of format 1 as they were published: what they promise holds for what is written today.
#[test]
fn the_published_schemas_still_hold() {
    let today = [
        ("run", schemars::schema_for!(Manifest).to_value()),
        ("trial", schemars::schema_for!(TrialLine).to_value()),
        ("event", schemars::schema_for!(Event).to_value()),
    ];
    for (name, today) in today {
        let path = golden().join(format!("../format-1-schema/{name}.json"));
        let published: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
        check_promises(name, &published, &today);
        for (part, published) in published["$defs"].as_object().into_iter().flatten() {
            check_promises(&format!("{name}/{part}"), published, &today["$defs"][part]);
        }
    }
}

fn check_promises(name: &str, published: &Value, today: &Value) {
    let properties = |schema: &Value| -> BTreeSet<String> {
        let found = schema["properties"].as_object();
        found
            .into_iter()
            .flat_map(|all| all.keys().cloned())
            .collect()
    };
    let required = |schema: &Value| -> BTreeSet<String> {
        let found = schema["required"].as_array();
        found
            .into_iter()
            .flatten()
            .map(|name| name.as_str().unwrap().to_owned())
            .collect()
    };
    let lost: Vec<_> = properties(published)
        .difference(&properties(today))
        .cloned()
        .collect();
    assert!(lost.is_empty(), "{name}: {lost:?} is gone");
    // Old files don't have what was added, so nothing added may be required.
    let demanded: Vec<_> = required(today)
        .difference(&required(published))
        .cloned()
        .collect();
    assert!(demanded.is_empty(), "{name}: {demanded:?} is demanded");
}
