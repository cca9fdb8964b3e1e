//! What is seen of attempts while a real writer writes them.

use std::fs;

use agon_core::{EventBody, Source};
use agon_store::{Order, Request};
use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::live::doorbell::Notices;
use crate::live::fixture::{Written, act};

struct Watcher {
    playing: Playing,
    doorbell: Doorbell,
}

impl Watcher {
    fn of(written: &Written) -> Self {
        let folder = &written.run.folder;
        let mut playing = Playing::new(folder, true);
        playing.plan(&written.run.manifest);
        Self {
            playing,
            doorbell: Doorbell::at(folder.path(), Notices::Inotify),
        }
    }

    fn look(&mut self) -> Changes {
        self.playing.look(true, &mut self.doorbell)
    }
}

#[test]
fn an_attempt_is_followed_from_its_first_event_to_its_end() {
    let written = Written::begin(2);
    let mut watcher = Watcher::of(&written);
    assert!(!watcher.look().others);
    let mut record = written.play(0, 1);
    let changes = watcher.look();
    assert!(changes.others);
    let stamp = &written.run.manifest.tasks[0];
    let moment = &watcher.playing.moments()[0];
    assert_eq!(moment.key, written.key(0, 1));
    assert_eq!(
        (&moment.name, moment.steps, moment.seconds),
        (&stamp.name, stamp.steps, stamp.seconds.get())
    );
    assert_eq!((moment.step, &*moment.phase), (0, "running"));

    act(&mut record, "ls");
    // What was refused is a step as well.
    let refused = EventBody::Refused("do as I say".to_owned());
    record.record(Source::Agent, None, refused).unwrap();
    watcher.look();
    let moment = &watcher.playing.moments()[0];
    assert_eq!((moment.step, &*moment.brief), (2, "refused: do as I say"));
    let blob = act(&mut record, "cat a\u{202e}b");
    let changes = watcher.look();
    assert!(!changes.others);
    let [moment] = &changes.moments[..] else {
        panic!("{changes:?}")
    };
    assert_eq!(moment.step, 3);
    assert!(moment.brief.starts_with("$ cat a"), "{}", moment.brief);
    assert!(!moment.brief.contains('\u{202e}'), "{}", moment.brief);
    assert_eq!(moment.shot, Some(blob));
    let written_bytes = fs::metadata(written.events(0, 1)).unwrap().len();
    assert_eq!(moment.read, written_bytes);
    assert!(watcher.look().moments.is_empty());

    written.end(0, 1, record);
    let changes = watcher.look();
    assert!(changes.others && changes.results);
    assert!(watcher.playing.moments().is_empty());
}

#[test]
fn a_torn_line_counts_once_it_is_whole() {
    let written = Written::begin(1);
    let _record = written.play(0, 1);
    let mut watcher = Watcher::of(&written);
    watcher.look();
    let before = watcher.playing.moments()[0].read;
    let line = r#"{"seq":9,"t":3,"source":"agent","kind":"action","action":{"action":"type","text":"hi"}}"#;
    let (one, other) = line.split_at(50);
    written.tear(&written.events(0, 1), one);
    assert!(watcher.look().moments.is_empty());
    assert_eq!(watcher.playing.moments()[0].read, before);
    written.tear(&written.events(0, 1), other);
    assert!(watcher.look().moments.is_empty());
    written.tear(&written.events(0, 1), "\n");
    let changes = watcher.look();
    assert_eq!(changes.moments[0].step, 1);
    assert_eq!(changes.moments[0].brief, "type \"hi\"");
    assert_eq!(changes.moments[0].read, before + line.len() as u64 + 1);
}

#[test]
fn what_a_later_version_writes_hides_nothing() {
    let written = Written::begin(1);
    let mut record = written.play(0, 1);
    let mut watcher = Watcher::of(&written);
    let strange = "{\"kind\":\"dream\",\"dream\":[1]}\n[7]\n\n{\"kind\":7}\nnot json\n\
        {\"kind\":\"observation\",\"observation\":{\"screen\":{\"picture\":{\"blob\":\"../../x\"}}}}\n";
    written.tear(&written.events(0, 1), strange);
    act(&mut record, "ls");
    let moment = &watcher.look().moments[0];
    assert_eq!((moment.step, &*moment.brief), (1, "$ ls"));
    assert_ne!(moment.shot.as_deref(), Some("../../x"));
}

#[test]
fn an_attempt_that_has_ended_before_it_was_seen_is_never_shown() {
    let written = Written::begin(2);
    let mut watcher = Watcher::of(&written);
    watcher.look();
    let record = written.play(0, 1);
    // The lines arrive in the other order.
    let late = fs::read(written.run.folder.running_file()).unwrap();
    fs::write(written.run.folder.running_file(), "").unwrap();
    written.end(0, 1, record);
    assert!(watcher.look().results);
    fs::write(written.run.folder.running_file(), late).unwrap();
    watcher.look();
    assert!(watcher.playing.moments().is_empty());
    // Both at once.
    let record = written.play(1, 1);
    written.end(1, 1, record);
    watcher.look();
    assert!(watcher.playing.moments().is_empty());
}

#[test]
fn many_that_ended_long_ago_leave_room_for_those_that_run() {
    let written = Written::begin(1);
    let count = MOST as u32 + 10;
    for attempt in 1..=count {
        let record = written.play(0, attempt);
        if attempt < count {
            written.end(0, attempt, record);
        }
    }
    let mut watcher = Watcher::of(&written);
    watcher.look();
    let keys: Vec<u32> = watcher
        .playing
        .moments()
        .iter()
        .map(|m| m.key.attempt)
        .collect();
    assert_eq!(keys, [count]);
}

#[test]
fn another_process_plays_the_same_attempt_from_the_beginning() {
    let written = Written::begin(1);
    let mut record = written.play(0, 1);
    act(&mut record, "ls");
    let mut watcher = Watcher::of(&written);
    watcher.look();
    assert_eq!(watcher.playing.moments()[0].step, 1);
    // As after kill -9: nothing was ended.
    std::mem::forget(record);
    let again = agon_store::RunWriter::open(&written.run.folder).unwrap();
    watcher.look();
    assert!(watcher.playing.moments().is_empty());
    let task = &written.run.manifest.tasks[0].task;
    let clock = std::sync::Arc::clone(&written.run.clock);
    let mut record = agon_store::Recorder::new(&again, clock, task, 1, 1);
    written.run.clock.advance(std::time::Duration::from_secs(2));
    act(&mut record, "pwd");
    act(&mut record, "id");
    assert!(watcher.look().others);
    let moment = &watcher.playing.moments()[0];
    assert_eq!((moment.step, &*moment.brief), (2, "$ id"));
}

#[test]
fn a_request_to_stop_is_seen_once_and_only_of_this_play() {
    let written = Written::begin(1);
    let ask = |at: Timestamp, attempt| {
        let request = Request {
            at,
            order: Order::Stop,
            task: written.run.manifest.tasks[0].task.clone(),
            epoch: 1,
            attempt,
            by: "Ada".to_owned(),
        };
        request.append(&written.run.folder).unwrap();
    };
    let mut watcher = Watcher::of(&written);
    let _record = written.play(0, 1);
    watcher.look();
    let began = watcher.playing.moments()[0].began;
    ask(began - SignedDuration::from_secs(1), 1);
    ask(began + SignedDuration::from_secs(1), 2);
    assert!(watcher.look().stopping.is_empty());
    assert!(!watcher.playing.moments()[0].stopping);
    ask(began + SignedDuration::from_secs(1), 1);
    ask(began + SignedDuration::from_secs(2), 1);
    assert_eq!(watcher.look().stopping, [written.key(0, 1)]);
    assert!(watcher.playing.moments()[0].stopping);
    // Somebody who comes later sees it too.
    let mut late = Watcher::of(&written);
    late.look();
    assert!(late.playing.moments()[0].stopping);
}

#[test]
fn of_a_run_that_nobody_writes_no_record_is_read() {
    let written = Written::begin(1);
    let mut record = written.play(0, 1);
    act(&mut record, "ls");
    let mut watcher = Watcher::of(&written);
    let changes = watcher.playing.look(false, &mut watcher.doorbell);
    assert!(changes.moments.is_empty());
    assert_eq!(watcher.playing.moments()[0].read, 0);
}
