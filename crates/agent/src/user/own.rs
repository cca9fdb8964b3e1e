//! A user that is code of the program around us.

use std::panic::{AssertUnwindSafe, catch_unwind};

use agon_core::user::OwnUser;
use async_trait::async_trait;

use super::contract::{Heard, Reply, Respondent, UserError};

#[derive(Debug)]
pub(super) struct Own(pub(super) OwnUser);

#[async_trait]
impl Respondent for Own {
    async fn reply(&mut self, heard: Heard<'_>) -> Result<Reply, UserError> {
        // The code is somebody else's; it keeps nothing that a panic could leave half done.
        let voice = AssertUnwindSafe(|| self.0.reply(heard.so_far));
        let words = catch_unwind(voice).map_err(|panic| {
            let said = panic.downcast_ref::<&str>().copied();
            let said = said.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
            let said = said.unwrap_or("no message");
            UserError::Setup(format!("the program's own user panicked: {said}"))
        })?;
        Ok(Reply::from_words(words))
    }

    fn looks_back(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
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
        assert!(user.looks_back());
        let event = Event {
            seq: 0,
            t: 0.0,
            at: jiff::Timestamp::UNIX_EPOCH,
            source: Source::Agent,
            cause: None,
            body: EventBody::Action(Action::run("ls")),
        };
        let events = [event.clone(), event];
        let message = "hello";
        let heard = |so_far| Heard { message, so_far };
        let error = user.reply(heard(&[])).await.unwrap_err();
        assert!(error.to_string().contains("nothing happened"), "{error}");
        let words = user.reply(heard(&events[..1])).await.unwrap();
        assert_eq!(words, Reply::Words("one".to_owned()));
        assert_eq!(user.reply(heard(&events)).await.unwrap(), Reply::Exit);
    }
}
