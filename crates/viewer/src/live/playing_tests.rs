//! What is seen of attempts while a real writer writes them.

use std::fs;

use agon_core::input::{InputEvent, InputKind};
use agon_core::realtime::Reactions;
use agon_core::{EventBody, Source};
use agon_store::{Order, Request};
use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::live::doorbell::Notices;
use crate::live::fixture::{Written, act};
use crate::live::telling::Telling;
use crate::shape::{Feed, Progress};

struct Watcher {
    playing: Playing,
    doorbell: Doorbell,
    telling: Telling,
}

/// What somebody who listens would be told.
#[derive(Debug, Default)]
struct Heard {
    /// Attempts began or ended.
    others: bool,
    results: bool,
    moments: Vec<Moment>,
    stopping: Vec<TrialKey>,
}

impl Watcher {
    /// Reads everything.
    fn of(written: &Written) -> Self {
        let folder = &written.run.folder;
        let mut playing = Playing::all_of(folder);
        playing.plan = Some(Arc::new(written.run.manifest.clone()));
        let mut telling = Telling::default();
        telling.news(&progress(Vec::new()));
        Self {
            playing,
            doorbell: Doorbell::at(folder.path(), Notices::Inotify),
            telling,
        }
    }

    fn look(&mut self) -> Heard {
        let changes = self.playing.look(true, &mut self.doorbell);
        let mut heard = Heard {
            results: changes.results,
            ..Heard::default()
        };
        for feed in self.telling.news(&progress(self.playing.moments())) {
            match feed {
                Feed::Progress(now) => {
                    heard.others = true;
                    heard.moments = now.running;
                }
                Feed::Moment(moment) => heard.moments.push(moment),
                Feed::Stopping(key) => heard.stopping.push(key),
                Feed::Trial(_) | Feed::Review(_) => {}
            }
        }
        heard
    }
}

fn progress(running: Vec<Moment>) -> Progress {
    Progress {
        live: true,
        planned: 2,
        passed: 0,
        failed: 0,
        faulted: 0,
        missing: 2,
        running,
        revision: 1,
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
fn what_a_command_printed_is_told_until_the_next_one() {
    let written = Written::begin(1);
    let mut record = written.play(0, 1);
    let mut watcher = Watcher::of(&written);
    let run = |record: &mut agon_store::Recorder, command: &str| {
        let action = EventBody::Action(agon_core::Action::run(command));
        record.record(Source::Agent, None, action).unwrap()
    };
    let print = |record: &mut agon_store::Recorder, cause, text: &str| {
        let kind = agon_core::observation::ObservationKind::Output;
        let seen = EventBody::Observation(agon_core::Observation::new(kind, text));
        record
            .record(Source::Environment, Some(cause), seen)
            .unwrap();
    };
    let cause = run(&mut record, "ls");
    print(&mut record, cause, "a\nb\nc\n\u{202e}d\n");
    watcher.look();
    let moment = &watcher.playing.moments()[0];
    assert_eq!(
        (&*moment.brief, &*moment.output),
        ("$ ls", "b\nc\n\u{202e}d")
    );
    let cause = run(&mut record, "sleep 9");
    watcher.look();
    let moment = &watcher.playing.moments()[0];
    assert_eq!((&*moment.brief, &*moment.output), ("$ sleep 9", ""));
    print(&mut record, cause, &"x".repeat(100_000));
    watcher.look();
    let moment = &watcher.playing.moments()[0];
    assert!((1..=400).contains(&moment.output.len()), "{moment:?}");
}

#[test]
fn a_player_that_plays_by_itself_tells_its_steps_and_its_last_key() {
    let written = Written::begin(1);
    let mut record = written.play(0, 1);
    let mut watcher = Watcher::of(&written);
    let pressed = |kind, key: &str| InputEvent {
        key: Some(key.to_owned()),
        ..InputEvent::new(0.5, kind)
    };
    let reacted = |steps| {
        EventBody::Reacted(Reactions {
            steps,
            actions: 1,
            answers: Vec::new(),
        })
    };
    let left = vec![
        pressed(InputKind::KeyPress, "Right"),
        pressed(InputKind::KeyPress, "Left\u{202e}"),
        pressed(InputKind::KeyRelease, "Right"),
        InputEvent::new(0.6, InputKind::Motion),
    ];
    let mut told = |source, body| {
        record.record(source, None, body).unwrap();
        watcher.look();
        let moment = &watcher.playing.moments()[0];
        (moment.step, moment.brief.clone())
    };
    let found = told(Source::Environment, EventBody::Input(left));
    assert_eq!(found.0, 0);
    assert!(found.1.starts_with("pressed Left"), "{}", found.1);
    assert!(!found.1.contains('\u{202e}'), "{}", found.1);
    assert_eq!(told(Source::Agent, reacted(226)).0, 226);
    assert_eq!(told(Source::Agent, reacted(u64::MAX)).0, u32::MAX);
}

#[test]
fn input_that_comes_of_an_action_does_not_hide_it() {
    let written = Written::begin(1);
    let mut record = written.play(0, 1);
    act(&mut record, "ls");
    let input = vec![InputEvent {
        button: Some(1),
        ..InputEvent::new(0.5, InputKind::ButtonPress)
    }];
    let input = EventBody::Input(input);
    record.record(Source::Environment, None, input).unwrap();
    let mut watcher = Watcher::of(&written);
    watcher.look();
    let moment = &watcher.playing.moments()[0];
    assert_eq!((moment.step, &*moment.brief), (1, "$ ls"));
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
    let ask_of = |at: Timestamp, attempt, began: Option<Timestamp>| {
        let request = Request {
            at,
            order: Order::Stop,
            task: written.run.manifest.tasks[0].task.clone(),
            epoch: 1,
            attempt,
            began,
            by: "Ada".to_owned(),
        };
        request.append(&written.run.folder).unwrap();
    };
    let ask = |at, attempt| ask_of(at, attempt, None);
    let mut watcher = Watcher::of(&written);
    let _record = written.play(0, 1);
    watcher.look();
    let began = watcher.playing.moments()[0].began;
    ask(began - SignedDuration::from_secs(1), 1);
    ask(began + SignedDuration::from_secs(1), 2);
    let before = began - SignedDuration::from_millis(1);
    ask_of(began + SignedDuration::from_secs(1), 1, Some(before));
    assert!(watcher.look().stopping.is_empty());
    assert!(!watcher.playing.moments()[0].stopping);
    // Whoever names this very play means it, whatever his clock says.
    ask_of(began - SignedDuration::from_secs(1), 1, Some(began));
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
    watcher.playing.look(false, &mut watcher.doorbell);
    assert_eq!(watcher.playing.moments()[0].read, 0);
}
