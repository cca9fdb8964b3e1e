//! What those who listen are told, while a real writer writes in a thread of its own.

use std::pin::Pin;
use std::time::Duration;

use agon_store::{Review, ReviewVerdict};
use futures_util::StreamExt;

use super::*;
use crate::live::fixture::{Written, act};
use crate::shape::{Moment, Progress};

/// Nothing takes that long unless it never comes.
const PATIENCE: Duration = Duration::from_secs(30);

struct Ear(Pin<Box<dyn Stream<Item = Feed> + Send>>);

impl Ear {
    fn of(feeds: &Feeds, run: &Arc<Run>) -> Self {
        Self(Box::pin(feeds.of(run)))
    }

    async fn next(&mut self) -> Option<Feed> {
        tokio::time::timeout(PATIENCE, self.0.next()).await.unwrap()
    }

    async fn until<T>(&mut self, mut wanted: impl FnMut(&Feed) -> Option<T>) -> T {
        loop {
            let feed = self.next().await.unwrap();
            if let Some(found) = wanted(&feed) {
                return found;
            }
        }
    }

    async fn progress(&mut self, wanted: impl Fn(&Progress) -> bool) -> Progress {
        self.until(|feed| match feed {
            Feed::Progress(progress) if wanted(progress) => Some(progress.clone()),
            _ => None,
        })
        .await
    }

    /// The state of a trial, whichever way it is told.
    async fn moment(&mut self, wanted: impl Fn(&Moment) -> bool) -> Moment {
        self.until(|feed| match feed {
            Feed::Progress(progress) => progress.running.iter().find(|m| wanted(m)).cloned(),
            Feed::Moment(moment) => Some(moment).filter(|m| wanted(m)).cloned(),
            _ => None,
        })
        .await
    }
}

fn by(notices: Notices) -> Feeds {
    Feeds {
        notices,
        watched: Mutex::default(),
    }
}

async fn hear_a_run(notices: Notices) {
    let written = Written::begin(3);
    let run = written.opened();
    let feeds = by(notices);
    let mut ear = Ear::of(&feeds, &run);
    let first = ear.next().await.unwrap();
    let Feed::Progress(first) = first else {
        panic!("{first:?}")
    };
    assert!(first.live && first.running.is_empty(), "{first:?}");
    assert_eq!((first.planned, first.missing), (3, 3));

    let written = tokio::task::spawn_blocking(move || {
        let mut record = written.play(0, 1);
        let blob = act(&mut record, "ls");
        (written, record, blob)
    });
    let (written, mut record, blob) = written.await.unwrap();
    // What it sees is written after what it does.
    let seen = |moment: &Moment| moment.step == 1 && moment.shot.is_some();
    let moment = ear.moment(seen).await;
    assert_eq!(moment.key, written.key(0, 1));
    assert_eq!(moment.shot, Some(blob));
    act(&mut record, "pwd");
    let moment = ear.moment(|moment| moment.step == 2).await;
    assert_eq!(moment.brief, "$ pwd");

    written.end(0, 1, record);
    let mut row = None;
    let mut gone = false;
    while row.is_none() || !gone {
        match ear.next().await.unwrap() {
            Feed::Trial(trial) => row = Some(trial),
            Feed::Progress(progress) => gone = progress.running.is_empty() && progress.passed == 1,
            _ => {}
        }
    }
    let row = row.unwrap();
    assert_eq!(row.key, written.key(0, 1));

    let review = Review {
        at: "2026-11-16T12:00:00Z".parse().unwrap(),
        task: written.run.manifest.tasks[0].task.clone(),
        epoch: 1,
        attempt: 1,
        verdict: ReviewVerdict::Fail,
        comment: String::new(),
        reviewer: "Ada".to_owned(),
    };
    review.append(&written.run.folder).unwrap();
    let wanted = written.key(0, 1);
    ear.until(|feed| (*feed == Feed::Review(wanted.clone())).then_some(()))
        .await;
    ear.progress(|progress| progress.failed == 1 && progress.passed == 0)
        .await;

    drop(written);
    ear.progress(|progress| !progress.live).await;
}

#[tokio::test]
async fn a_run_is_heard_of_as_it_is_written() {
    hear_a_run(Notices::Inotify).await;
}

#[tokio::test]
async fn the_same_where_the_kernel_tells_nothing() {
    hear_a_run(Notices::Polling).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_running_trials_do_is_told_while_the_index_is_busy() {
    let written = Written::begin(2);
    let run = written.opened();
    let feeds = Feeds::default();
    let mut ear = Ear::of(&feeds, &run);
    ear.next().await.unwrap();
    let mut record = written.play(1, 1);
    let ended = written.play(0, 1);
    let (begun, wait_begun) = std::sync::mpsc::channel::<()>();
    let (release, held) = std::sync::mpsc::channel::<()>();
    let busy = std::thread::spawn(move || {
        run.with_index(|_| {
            begun.send(()).unwrap();
            held.recv().unwrap();
            Ok(())
        })
    });
    wait_begun.recv().unwrap();
    // Whoever counts waits for the index from here on.
    written.end(0, 1, ended);
    let gone = |progress: &Progress| progress.running.iter().all(|m| m.key != written.key(0, 1));
    ear.progress(gone).await;
    act(&mut record, "ls");
    let moment = ear.moment(|moment| moment.step == 1).await;
    assert_eq!(moment.key, written.key(1, 1));
    release.send(()).unwrap();
    busy.join().unwrap().unwrap();
    ear.progress(|progress| progress.passed == 1).await;
}

#[tokio::test]
async fn all_who_look_at_a_run_share_a_watcher_that_ends_with_the_last() {
    let written = Written::begin(1);
    let run = written.opened();
    let feeds = Feeds::default();
    let mut one = Ear::of(&feeds, &run);
    let mut other = Ear::of(&feeds, &run);
    assert_eq!(one.next().await, other.next().await);
    let watched = feeds.watched(&run);
    // Each of the two, and this.
    assert_eq!(Arc::strong_count(&watched), 3);
    let listeners = Arc::clone(&watched.0);
    drop((one, watched));
    assert!(!listeners.has_ended());
    drop(other);
    assert!(listeners.has_ended());
    // The thread lets go of the run.
    let gone = async {
        while Arc::strong_count(&listeners) > 1 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, gone).await.unwrap();
    // Who comes now gets another one.
    let mut again = Ear::of(&feeds, &run);
    assert!(matches!(again.next().await, Some(Feed::Progress(_))));
}

#[tokio::test]
async fn it_ends_with_the_server() {
    let written = Written::begin(1);
    let feeds = Feeds::default();
    let mut ear = Ear::of(&feeds, &written.opened());
    ear.next().await.unwrap();
    drop(feeds);
    while ear.next().await.is_some() {}
}

#[tokio::test]
async fn who_falls_behind_gets_the_state_as_it_is() {
    let listeners = Arc::new(Listeners::new());
    let mut listener = Listener::of(Arc::new(Watched(Arc::clone(&listeners))));
    let at = |revision| Progress {
        live: true,
        planned: 1,
        passed: 0,
        failed: 0,
        faulted: 0,
        missing: 1,
        running: Vec::new(),
        revision,
    };
    for revision in 0..5_000 {
        listeners.tell(at(revision), vec![Feed::Progress(at(revision))]);
    }
    assert_eq!(listener.next().await, Some(Feed::Progress(at(4_999))));
    listeners.tell(at(5_000), vec![Feed::Progress(at(5_000))]);
    assert_eq!(listener.next().await, Some(Feed::Progress(at(5_000))));
    listeners.end();
    assert_eq!(listener.next().await, None);
}
