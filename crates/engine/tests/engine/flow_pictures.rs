//! Pictures that an agent gets to see: kept in the run folder as far as there is room, and nowhere else.

use std::sync::{Arc, Mutex};

use agon_core::user::{OwnUser, UserVoice};
use agon_core::verdict::Outcome;
use agon_core::{Action, ByteSize, Digest, Event, EventBody, HostOnly, Task, User};

use crate::flow_place::{Actor, limited, play_once, say, workplace};

/// One pixel; it comes to 70 bytes.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// Makes the picture and looks at it so many times.
fn looking(times: usize) -> Vec<Action> {
    let look = Action::Read {
        path: "p.png".to_owned(),
        lines: None,
    };
    let mut actions = vec![Action::run(format!("echo {PNG} | base64 -d > p.png"))];
    actions.extend(vec![look; times]);
    actions
}

#[tokio::test]
async fn pictures_are_kept_and_shown_as_far_as_output_is() {
    let task = limited(workplace(), |limits| limits.output = ByteSize(150));
    let actions = looking(4);
    let shown = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&shown);
    let actor = Actor::new(move |step, observation| {
        seen.lock().unwrap().push(observation.pictures.len());
        let next = actions.get(step as usize - 1).cloned();
        Ok(next
            .unwrap_or_else(|| crate::flow_place::finish("done"))
            .into())
    });
    let played = play_once(task, actor).await;
    assert_eq!(played.line.outcome, Outcome::Passed);
    // The agent sees what is recorded, and is told what it does not see.
    assert_eq!(*shown.lock().unwrap(), [0, 0, 1, 1, 0, 0]);
    let seen = played.observations();
    let recorded: Vec<_> = seen.iter().map(|seen| seen.pictures.len()).collect();
    assert_eq!(recorded, [0, 0, 1, 1, 0, 0]);
    let told = seen.iter().map(|seen| seen.text.contains("left out: 1"));
    let told: Vec<_> = told.collect();
    assert_eq!(told, [false, false, false, false, true, true]);
}

/// How many pictures there were at each message, and how many of them with their bytes.
#[derive(Debug)]
struct Counting(Arc<Mutex<Vec<(usize, usize)>>>);

impl UserVoice for Counting {
    fn digest(&self) -> Digest {
        Digest::of(b"counting")
    }

    fn reply(&self, so_far: &[Event]) -> String {
        let pictures = so_far.iter().flat_map(|event| match &event.body {
            EventBody::Observation(seen) => seen.pictures.as_slice(),
            _ => &[],
        });
        let heavy = pictures.clone().filter(|picture| picture.data().is_some());
        let counted = (pictures.count(), heavy.count());
        self.0.lock().unwrap().push(counted);
        "go on".to_owned()
    }
}

#[tokio::test]
async fn who_looks_back_sees_which_pictures_there_were_without_their_bytes() {
    let counted = Arc::default();
    let user = User::Own(OwnUser::new(Counting(Arc::clone(&counted))));
    let mut actions = looking(2);
    actions.push(say("done?"));
    let task = Task {
        user: HostOnly::new(user),
        ..workplace()
    };
    let played = play_once(task, Actor::doing(&actions)).await;
    assert_eq!(played.line.outcome, Outcome::Passed);
    assert_eq!(*counted.lock().unwrap(), [(2, 0)]);
}
