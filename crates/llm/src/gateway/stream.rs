//! Answers as the events of a stream. It begins when the answer is there, or when the client has waited
//! for a while: then it is shown that somebody is still here.

use std::time::Duration;

use agon_core::ModelFault;
use hyper::body::Bytes;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::time::{Instant, interval_at};

use super::fault::Fault;
use super::outlet;
use crate::error::LlmError;
use crate::reply::Reply;
use crate::wire::Spoken;

/// A line that no client takes for an event.
const STILL_HERE: &[u8] = b": still waiting\n\n";

/// What came of a call, and the place that it took.
pub(super) type Called = (Result<Reply, LlmError>, OwnedSemaphorePermit);

/// Where events go, and how they are to look.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) out: mpsc::Sender<Bytes>,
    /// As it is called here.
    pub(super) model: String,
    pub(super) wire: Spoken,
}

impl Stream {
    pub(super) async fn wait_and_play(
        self,
        mut called: oneshot::Receiver<Called>,
        every: Duration,
    ) {
        let mut still_here = interval_at(Instant::now(), every);
        loop {
            tokio::select! {
                biased;
                called = &mut called => {
                    // The place is given back once everything was taken.
                    let (answer, _place) = called.map_or_else(
                        |_| (Err(over()), None),
                        |(answer, place)| (answer, Some(place)),
                    );
                    return self.play(answer).await;
                }
                _ = still_here.tick() => {
                    if self.out.send(Bytes::from_static(STILL_HERE)).await.is_err() {
                        return;
                    }
                }
            }
        }
    }

    pub(super) async fn play(self, answer: Result<Reply, LlmError>) {
        let events = match answer {
            Ok(reply) => self.wire.form().write_stream(&self.model, &reply),
            Err(error) => {
                let body = Fault::of_model(error, self.wire).body(self.wire);
                vec![(Some("error".to_owned()), body.to_string())]
            }
        };
        for (name, data) in events {
            let event = outlet::event(name.as_deref(), &data);
            if self.out.send(event).await.is_err() {
                return;
            }
        }
    }
}

/// It was given up in the middle.
pub(super) fn over() -> LlmError {
    LlmError::new(ModelFault::Network, "the trial is over")
}
