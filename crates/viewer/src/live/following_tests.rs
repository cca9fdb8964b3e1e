//! How much of a run folder is read by those who come one after the other, and at once.

use std::fs;
use std::sync::Arc;

use agon_store::{Order, Recorder, Request};
use futures_util::StreamExt;

use super::*;
use crate::live::fixture::{Written, act};
use crate::live::{Feeds, progress};
use crate::shape::{Feed, Progress};

/// Nothing takes that long unless it never comes.
const PATIENCE: Duration = Duration::from_secs(30);
const ENDED: usize = 40;

/// Many trials that ended, and one that has done much.
fn busy() -> (Written, Recorder) {
    let written = Written::begin(ENDED as u64 + 5);
    for n in 0..ENDED {
        let record = written.play(n, 1);
        written.end(n, 1, record);
    }
    let mut record = written.play(ENDED, 1);
    for n in 0..100 {
        act(&mut record, &format!("echo {n}"));
    }
    (written, record)
}

fn length(path: &std::path::Path) -> u64 {
    fs::metadata(path).unwrap().len()
}

/// What was read so far of what is still being played.
fn bytes(run: &Run) -> u64 {
    lock(&run.following).as_ref().unwrap().playing.bytes()
}

async fn first(run: &Arc<Run>) -> Progress {
    let feeds = Feeds::default();
    let mut feed = Box::pin(feeds.of(run));
    let told = tokio::time::timeout(PATIENCE, feed.next()).await.unwrap();
    match told {
        Some(Feed::Progress(progress)) => progress,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn only_what_was_appended_is_read() {
    let (written, mut record) = busy();
    let run = written.opened();
    let seen = progress(&run);
    assert_eq!((seen.passed, seen.running.len()), (ENDED as u64, 1));
    assert_eq!(seen.running[0].step, 100);
    // What the index has read already is not read again: only the record of what is being played is.
    let events = written.events(ENDED, 1);
    assert_eq!(bytes(&run), length(&events));
    // Somebody else who looks reads nothing at all.
    assert_eq!(progress(&run).running, seen.running);
    assert_eq!(first(&run).await.running, seen.running);
    assert_eq!(bytes(&run), length(&events));

    act(&mut record, "pwd");
    let folder = &written.run.folder;
    let (begun, ended) = (
        length(&folder.running_file()),
        length(&folder.trials_file()),
    );
    let other = written.play(ENDED + 1, 1);
    written.end(ENDED + 1, 1, other);
    let seen = progress(&run);
    assert_eq!((seen.passed, seen.running.len()), (ENDED as u64 + 1, 1));
    assert_eq!(seen.running[0].step, 101);
    let lines = length(&folder.running_file()) - begun + length(&folder.trials_file()) - ended;
    assert_eq!(bytes(&run), length(&events) + lines);
    let told = first(&run).await;
    assert_eq!(told.running, seen.running);
    assert_eq!(bytes(&run), length(&events) + lines);
}

#[tokio::test]
async fn nobody_takes_away_what_another_is_told() {
    let (written, mut record) = busy();
    let run = written.opened();
    let feeds = Feeds::default();
    let mut feed = Box::pin(feeds.of(&run));
    let mut next = async || {
        let told = tokio::time::timeout(PATIENCE, feed.next()).await;
        told.unwrap().unwrap()
    };
    assert!(matches!(next().await, Feed::Progress(_)));
    for step in 101..=105 {
        act(&mut record, "ls");
        // Another page sees it first, or both at once.
        assert_eq!(progress(&run).running[0].step, step);
        loop {
            if let Feed::Moment(moment) = next().await
                && moment.step == step
            {
                break;
            }
        }
    }
    let moment = progress(&run).running.remove(0);
    let request = Request {
        at: moment.began,
        order: Order::Stop,
        task: written.run.manifest.tasks[ENDED].task.clone(),
        epoch: 1,
        attempt: 1,
        began: None,
        by: String::new(),
    };
    request.append(&written.run.folder).unwrap();
    assert!(progress(&run).running[0].stopping);
    while next().await != Feed::Stopping(written.key(ENDED, 1)) {}
}

#[test]
fn it_begins_anew_with_the_next_process() {
    let (written, record) = busy();
    let run = written.opened();
    assert_eq!(progress(&run).running.len(), 1);
    // As after kill -9: nothing was ended.
    std::mem::forget(record);
    let again = agon_store::RunWriter::open(&written.run.folder).unwrap();
    assert!(progress(&run).running.is_empty());
    let task = &written.run.manifest.tasks[ENDED].task;
    let clock = Arc::clone(&written.run.clock);
    let mut record = Recorder::new(&again, clock, task, 1, 1);
    written.run.clock.advance(Duration::from_secs(2));
    act(&mut record, "pwd");
    let seen = progress(&run);
    assert_eq!(
        (seen.running[0].step, &*seen.running[0].brief),
        (1, "$ pwd")
    );
}
