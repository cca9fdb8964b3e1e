//! Where events go, and that they are there when the attempt counts.

use std::fs;
use std::io::Read;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use agon_core::verdict::Verdict;
use agon_core::{Clock, EventBody, ModelCall, Picture, PictureFormat, Purpose, Source, Usage};
use agon_store::blobs::{Stored, open_compressed};
use agon_store::{Manifest, Recorder, RunFolder, RunReader, RunWriter, abandoned};
use jiff::Timestamp;

use crate::fixture::{golden, line, task, writer};

/// A clock that a test moves.
#[derive(Debug, Default)]
struct Hand(Mutex<Duration>);

impl Hand {
    fn advance(&self, seconds: u64) {
        *self.0.lock().unwrap() += Duration::from_secs(seconds);
    }
}

impl Clock for Hand {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH + self.monotonic()
    }
    fn monotonic(&self) -> Duration {
        *self.0.lock().unwrap()
    }
}

fn note(text: &str) -> EventBody {
    EventBody::Note(text.to_owned())
}

fn passed() -> Verdict {
    Verdict {
        passed: true,
        score: 1.0,
        checks: Vec::new(),
    }
}

/// Plays an attempt of `notes` and says how its events read back.
fn record(writer: &RunWriter, attempt: u32, notes: &[&str]) -> (String, Vec<EventBody>) {
    let clock = Arc::new(Hand::default());
    let mut recorder = Recorder::new(writer, clock, &task("a"), 1, attempt);
    for text in notes {
        recorder.record(Source::Harness, None, note(text)).unwrap();
    }
    read_back(writer, attempt, recorder)
}

fn read_back(writer: &RunWriter, attempt: u32, recorder: Recorder) -> (String, Vec<EventBody>) {
    let mut trial = line("a", 1, attempt, true);
    trial.events = recorder.finish(Some(&passed())).unwrap();
    writer.append_trial(&trial).unwrap();
    let folder = writer.folder();
    let manifest: Manifest =
        serde_json::from_slice(&fs::read(golden().join("run.json")).unwrap()).unwrap();
    folder.write_manifest(&manifest).unwrap();
    let reader = RunReader::open(folder.path()).unwrap();
    let trials = reader.trials().unwrap();
    let events = reader.events(trials.last().unwrap()).unwrap();
    let bodies = events.into_iter().map(|event| event.body).collect();
    (trial.events.file, bodies)
}

#[test]
fn short_attempts_share_a_segment() {
    let (_root, writer) = writer();
    let (first, events) = record(&writer, 1, &["one", "two"]);
    assert_eq!(events, [note("one"), note("two")]);
    let (second, events) = record(&writer, 2, &["three"]);
    assert_eq!(events, [note("three")]);
    assert_eq!(first, "trials/segments/000001.jsonl");
    assert_eq!(first, second);
    assert!(!writer.folder().path().join("trials/test").exists());
}

#[test]
fn every_process_has_segments_of_its_own() {
    let (root, first) = writer();
    assert_eq!(
        record(&first, 1, &["one"]).0,
        "trials/segments/000001.jsonl"
    );
    let second = RunWriter::open(&RunFolder::at(root.path())).unwrap();
    assert_eq!(
        record(&second, 2, &["two"]).0,
        "trials/segments/000002.jsonl"
    );
}

#[test]
fn a_large_attempt_gets_a_folder_of_its_own() {
    let (_root, writer) = writer();
    let large = "x".repeat(40 << 10);
    let (file, events) = record(&writer, 1, &["before", &large, "after"]);
    assert_eq!(file, "trials/test/a/1.1/events.jsonl");
    assert_eq!(events, [note("before"), note(&large), note("after")]);
    let verdict = writer
        .folder()
        .path()
        .join("trials/test/a/1.1/verdict.json");
    let verdict: Verdict = serde_json::from_slice(&fs::read(verdict).unwrap()).unwrap();
    assert_eq!(verdict, passed());
}

#[test]
fn a_long_attempt_is_on_disk_while_it_lasts() {
    let (_root, writer) = writer();
    let clock = Arc::new(Hand::default());
    let hand: Arc<dyn Clock> = Arc::<Hand>::clone(&clock);
    let mut recorder = Recorder::new(&writer, hand, &task("a"), 1, 1);
    let path = recorder.folder().join("events.jsonl");
    recorder
        .record(Source::Harness, None, note("young"))
        .unwrap();
    assert!(!path.exists());
    clock.advance(2);
    for text in ["old", "older"] {
        recorder.record(Source::Harness, None, note(text)).unwrap();
        let written = fs::read_to_string(&path).unwrap();
        assert!(written.starts_with("{\"format\":1}\n"));
        assert!(written.contains(&format!("\"{text}\"}}\n")), "{written}");
    }
    let (_, events) = read_back(&writer, 1, recorder);
    assert_eq!(events, [note("young"), note("old"), note("older")]);
}

#[test]
fn what_a_killed_process_left_of_an_attempt_is_no_evidence_of_the_next() {
    let (root, writer) = writer();
    let left = root.path().join("trials/test/a/1.1");
    fs::create_dir_all(left.join("logs")).unwrap();
    for name in ["events.jsonl", "verdict.json", "logs/shell.log"] {
        fs::write(left.join(name), "of a play that never counted").unwrap();
    }
    let (file, _) = record(&writer, 1, &["short"]);
    assert_eq!(file, "trials/segments/000001.jsonl");
    assert!(!left.exists());
}

#[test]
fn half_written_files_of_a_killed_process_are_removed() {
    let (root, writer) = writer();
    let kept = writer.keep(&mut b"evidence".as_slice(), 100).unwrap();
    let Stored::As { digest, .. } = kept else {
        panic!("not kept")
    };
    for name in [".unfinished-abc", "blobs/.unfinished-xyz"] {
        fs::write(root.path().join(name), "half").unwrap();
    }
    let again = RunWriter::open(&RunFolder::at(root.path())).unwrap();
    let left = |folder: &str| fs::read_dir(root.path().join(folder)).unwrap().count();
    assert_eq!((left("."), left("blobs")), (2, 1));
    let mut content = String::new();
    open_compressed(again.folder(), &digest)
        .unwrap()
        .read_to_string(&mut content)
        .unwrap();
    assert_eq!(content, "evidence");
}

#[test]
fn a_picture_is_read_back_as_it_was_recorded_or_not_at_all() {
    let (root, writer) = writer();
    let picture = Picture::new(PictureFormat::Png, b"pixels".as_slice());
    writer.keep_picture(&picture).unwrap();
    record(&writer, 1, &["x"]);
    let reader = RunReader::open(writer.folder().path()).unwrap();
    // As a record names it: without its bytes.
    let name = serde_json::to_string(&picture).unwrap();
    let named: Picture = serde_json::from_str(&name).unwrap();
    assert_eq!(named.data(), None);
    let found = reader.picture(&named).unwrap();
    assert_eq!(found.data(), Some(b"pixels".as_slice()));

    let blob = writer.folder().blob(&picture.blob);
    for forged in [&b"pixelz"[..], b"pixel", b"pixels and more"] {
        fs::write(&blob, forged).unwrap();
        let error = reader.picture(&named).unwrap_err();
        let said = format!("{error:?}");
        assert!(said.contains("has changed"), "{said}");
    }
    fs::remove_file(&blob).unwrap();
    assert!(reader.picture(&named).is_err());
    drop(root);
}

/// A process that was killed leaves no line, but what its attempt spent is gone.
#[test]
fn what_an_unfinished_attempt_had_spent_is_known() {
    let (_root, writer) = writer();
    let spent = |attempt| abandoned(writer.folder(), &task("a"), 1, attempt).unwrap();
    assert_eq!(spent(1), Usage::default());
    let usage = Usage {
        input_tokens: 70,
        calls: 1,
        ..Usage::default()
    };
    let call = |purpose| {
        EventBody::Model(ModelCall {
            model: "m".to_owned(),
            purpose,
            seconds: 1.0,
            tries: 1,
            taped: false,
            usage: usage.clone(),
            request: None,
            response: None,
            fault: None,
            why: None,
        })
    };
    for (purpose, tokens) in [(Purpose::Gateway, 140), (Purpose::Judge, 210)] {
        let clock = Arc::new(Hand::default());
        let mut recorder = Recorder::new(&writer, clock.clone(), &task("a"), 1, 1);
        clock.advance(5);
        let mut record = |body| recorder.record(Source::Agent, None, body).unwrap();
        record(call(purpose));
        record(call(purpose));
        // Of itself, which counts only if nobody saw it ask.
        record(EventBody::Usage(usage.clone()));
        drop(recorder);
        assert_eq!(spent(1).tokens(), tokens);
        assert_eq!(spent(2), Usage::default());
    }
}
