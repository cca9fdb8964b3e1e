//! Takes the body of a request: bounded in bytes, in values, in time, and in how much lies here at once.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use hyper::body::{Body, Bytes};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::fault::Fault;
use crate::client::values;

/// The longest body.
const MOST_BYTES: usize = 32 << 20;

/// Of all bodies of a trial that lie here at the same time.
const MOST_HELD: usize = 96 << 20;

/// A body of short values would take twenty times its length in memory.
const MOST_VALUES: usize = 200_000;

/// The whole body must have come by then.
const PATIENCE: Duration = Duration::from_secs(30);

/// Room for the bodies of one gateway.
#[derive(Debug, Clone)]
pub(super) struct Intake {
    room: Arc<Semaphore>,
    patience: Duration,
}

/// A body, and the room that it takes as long as it is held.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) body: Value,
    pub(super) room: OwnedSemaphorePermit,
}

impl Intake {
    pub(super) fn new() -> Self {
        Self {
            room: Arc::new(Semaphore::new(MOST_HELD)),
            patience: PATIENCE,
        }
    }

    pub(super) async fn take<B>(&self, body: B) -> Result<Taken, Fault>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let late = |_| Fault::of_client(StatusCode::REQUEST_TIMEOUT, "the body came too slowly");
        let (bytes, room) = timeout(self.patience, self.read(body))
            .await
            .map_err(late)??;
        Ok(Taken {
            body: parse(&bytes)?,
            room,
        })
    }

    async fn read<B>(&self, mut body: B) -> Result<(Vec<u8>, OwnedSemaphorePermit), Fault>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        if body.size_hint().lower() > MOST_BYTES as u64 {
            return Err(too_long());
        }
        let mut bytes = Vec::new();
        let mut room = self.reserve(0)?;
        while let Some(frame) = poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await {
            let broken = |_| Fault::of_client(StatusCode::BAD_REQUEST, "the body broke off");
            let Ok(data) = frame.map_err(broken)?.into_data() else {
                continue;
            };
            if bytes.len() + data.len() > MOST_BYTES {
                return Err(too_long());
            }
            room.merge(self.reserve(data.len())?);
            bytes.extend_from_slice(&data);
        }
        Ok((bytes, room))
    }

    fn reserve(&self, bytes: usize) -> Result<OwnedSemaphorePermit, Fault> {
        let full = || {
            Fault::of_client(
                StatusCode::TOO_MANY_REQUESTS,
                "the requests that wait for their answers are too long together; wait for one",
            )
        };
        let bytes = u32::try_from(bytes).map_err(|_| too_long())?;
        Arc::clone(&self.room)
            .try_acquire_many_owned(bytes)
            .map_err(|_| full())
    }
}

fn too_long() -> Fault {
    Fault::of_client(
        StatusCode::PAYLOAD_TOO_LARGE,
        "the body is longer than 32 MiB",
    )
}

fn parse(bytes: &[u8]) -> Result<Value, Fault> {
    let bad = |why: &str| Fault::of_client(StatusCode::BAD_REQUEST, why);
    if values(bytes) > MOST_VALUES {
        return Err(bad("the body holds too many values"));
    }
    let body: Value = serde_json::from_slice(bytes)
        .map_err(|error| bad(&format!("the body is no JSON: {error}")))?;
    match body.is_object() {
        true => Ok(body),
        false => Err(bad("the body is no JSON object")),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::task::{Context, Poll};

    use hyper::body::Frame;
    use proptest::prelude::*;

    use super::*;

    /// Comes in pieces; never ends if it says so.
    struct Pieces(VecDeque<Bytes>, bool);

    impl Body for Pieces {
        type Data = Bytes;
        type Error = Infallible;
        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            match self.0.pop_front() {
                Some(piece) => Poll::Ready(Some(Ok(Frame::data(piece)))),
                None if self.1 => Poll::Pending,
                None => Poll::Ready(None),
            }
        }
    }

    fn pieces(pieces: impl IntoIterator<Item = Vec<u8>>) -> Pieces {
        Pieces(pieces.into_iter().map(Bytes::from).collect(), false)
    }

    #[tokio::test]
    async fn a_body_in_pieces_is_put_together() {
        let parts = [br#"{"mod"#.to_vec(), br#"el":"m"}"#.to_vec()];
        let taken = Intake::new().take(pieces(parts)).await.unwrap();
        assert_eq!(taken.body["model"], "m");
        assert_eq!(taken.room.num_permits(), 13);
    }

    #[tokio::test]
    async fn long_slow_and_odd_bodies_are_refused() {
        let intake = Intake {
            patience: Duration::from_millis(20),
            ..Intake::new()
        };
        let mebibyte = vec![b' '; 1 << 20];
        let refused = async |body| intake.take(body).await.unwrap_err().status.as_u16();
        assert_eq!(refused(pieces(vec![mebibyte; 33])).await, 413);
        assert_eq!(refused(Pieces(VecDeque::new(), true)).await, 408);
        for odd in ["", "[1]", "{", "\"x\"", "\u{0}"] {
            assert_eq!(refused(pieces([odd.into()])).await, 400, "{odd}");
        }
        let many = format!("{{\"a\":[{}0]}}", "0,".repeat(MOST_VALUES));
        assert_eq!(refused(pieces([many.into()])).await, 400);
        let deep = format!("{{\"a\":{}}}", "[".repeat(100_000));
        assert_eq!(refused(pieces([deep.into()])).await, 400);
    }

    #[tokio::test]
    async fn what_lies_here_is_bounded_and_room_comes_back() {
        let intake = Intake {
            room: Arc::new(Semaphore::new(350)),
            ..Intake::new()
        };
        let long = || {
            let text = format!("{{\"a\":\"{}\"}}", "x".repeat(92));
            pieces([text.into_bytes()])
        };
        let mut held = Vec::new();
        for _ in 0..3 {
            held.push(intake.take(long()).await.unwrap());
        }
        assert_eq!(intake.take(long()).await.unwrap_err().status.as_u16(), 429);
        held.pop();
        intake.take(long()).await.unwrap();
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<i32>().prop_map(Value::from),
            ".{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map("[\",:a\\\\]{0,4}", inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn count(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(count).sum(),
            Value::Object(map) => map.values().map(count).sum(),
            _ => 0,
        }
    }

    proptest! {
        #[test]
        fn there_are_never_more_values_than_counted(value in json()) {
            prop_assert!(values(value.to_string().as_bytes()) >= count(&value));
        }
    }
}
