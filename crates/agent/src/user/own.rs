//! A user that is code of the program around us. It may take as long as it likes, for whoever waits for it
//! does not wait for ever.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use agon_core::user::OwnUser;
use async_trait::async_trait;
use tokio::sync::oneshot;

use super::contract::{Heard, Reply, Respondent, UserError};

#[derive(Debug)]
pub(super) struct Own(pub(super) OwnUser);

#[async_trait]
impl Respondent for Own {
    async fn reply(&mut self, heard: Heard<'_>) -> Result<Reply, UserError> {
        let (voice, so_far) = (self.0.clone(), Arc::clone(heard.so_far));
        let (tell, told) = oneshot::channel();
        // A thread of its own: one that never comes back would keep the runtime's pool from ending.
        let speaking = thread::Builder::new().name("own user".to_owned());
        let spoken = speaking.spawn(move || {
            // The code is somebody else's; it keeps nothing that a panic could leave half done.
            let words = catch_unwind(AssertUnwindSafe(|| voice.reply(&so_far)));
            // The next event is added in place if nobody else holds those before it.
            drop(so_far);
            tell.send(words.map_err(|panic| panicked(panic.as_ref())))
                .ok();
        });
        let lost = |why: &dyn std::fmt::Display| {
            UserError::Setup(format!("the program's own user can't be asked: {why}"))
        };
        spoken.map_err(|error| lost(&error))?;
        let words = told.await.map_err(|error| lost(&error))??;
        Ok(Reply::from_words(words))
    }
}

fn panicked(panic: &(dyn Any + Send)) -> UserError {
    let said = panic.downcast_ref::<&str>().copied();
    let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let said = said.unwrap_or("no message");
    UserError::Setup(format!("the program's own user panicked: {said}"))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use agon_core::user::{EXIT, UserVoice};
    use agon_core::{Action, Digest, Event, EventBody, Source};

    use super::*;

    #[derive(Debug)]
    struct Counting;

    impl UserVoice for Counting {
        fn digest(&self) -> Digest {
            Digest::of(b"counting")
        }

        fn reply(&self, so_far: &[Event]) -> String {
            match so_far.len() {
                0 => panic!("nothing happened"),
                1 => "one".to_owned(),
                _ => EXIT.to_owned(),
            }
        }
    }

    #[tokio::test]
    async fn its_words_depend_on_what_happened_and_its_panics_are_errors() {
        let mut user = Own(OwnUser::new(Counting));
        let event = Event {
            seq: 0,
            t: 0.0,
            at: jiff::Timestamp::UNIX_EPOCH,
            source: Source::Agent,
            cause: None,
            body: EventBody::Action(Action::run("ls")),
        };
        let events = |count| Arc::new(vec![event.clone(); count]);
        fn heard(so_far: &Arc<Vec<Event>>) -> Heard<'_> {
            Heard {
                message: "hello",
                so_far,
            }
        }
        let error = user.reply(heard(&events(0))).await.unwrap_err();
        assert!(error.to_string().contains("nothing happened"), "{error}");
        let words = user.reply(heard(&events(1))).await.unwrap();
        assert_eq!(words, Reply::Words("one".to_owned()));
        let mut both = events(2);
        assert_eq!(user.reply(heard(&both)).await.unwrap(), Reply::Exit);
        assert!(Arc::get_mut(&mut both).is_some(), "nobody holds them");
    }

    /// Waits for something that never happens.
    #[derive(Debug)]
    struct Lost;

    impl UserVoice for Lost {
        fn digest(&self) -> Digest {
            Digest::of(b"lost")
        }

        fn reply(&self, _: &[Event]) -> String {
            loop {
                thread::park();
            }
        }
    }

    #[tokio::test]
    async fn one_that_never_answers_does_not_stop_who_waits_for_it() {
        let mut user = Own(OwnUser::new(Lost));
        let heard = Heard {
            message: "hello",
            so_far: &Arc::default(),
        };
        let asked = tokio::time::timeout(Duration::from_millis(50), user.reply(heard));
        assert!(asked.await.is_err());
    }
}
