//! One request and its answer over HTTP: every wait has a deadline, every answer a bound. Knows nothing
//! of tries, money or tapes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use agon_core::ModelFault;
use agon_core::clock::Clock;
use bytes::{Bytes, BytesMut};
use reqwest::Response;
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use serde_json::Value;
use tokio::time::timeout;

use super::model::Delta;
use super::pace::Bounds;
use super::retry;
use super::sse::{Event, Events};
use super::transport::{Prepared, broken};
use super::unsupported::{self, Asked};
use super::weight;
use crate::error::LlmError;
use crate::estimate;
use crate::key::Scrubber;
use crate::wire::{Adapter, unparsed};

/// Shown of an answer that can't be read.
const EXCERPT: usize = 200;
/// Values of an event that are not counted: there are many events, and little is kept of most.
const USUAL: usize = 512;
/// The end of a stream mostly comes with its last event: then the connection can be used again.
const GRACE: Duration = Duration::from_millis(20);

/// Where the parts of an answer are shown as they come.
pub(super) type Show<'a> = &'a mut (dyn FnMut(Delta) + Send);

/// What has come of an answer so far. Others may look at it meanwhile.
#[derive(Debug, Default)]
pub(super) struct Heard {
    begun: AtomicBool,
    /// An estimate.
    tokens: AtomicU64,
}

impl Heard {
    pub(super) fn begun(&self) -> bool {
        self.begun.load(Ordering::Relaxed)
    }

    pub(super) fn tokens(&self) -> u64 {
        self.tokens.load(Ordering::Relaxed)
    }

    pub(super) fn clear(&self) {
        self.begun.store(false, Ordering::Relaxed);
        self.tokens.store(0, Ordering::Relaxed);
    }

    fn begin(&self) {
        self.begun.store(true, Ordering::Relaxed);
    }

    fn add(&self, tokens: u64) {
        self.tokens.fetch_add(tokens, Ordering::Relaxed);
    }
}

/// Why a try gave nothing.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) error: LlmError,
    /// What would make the request acceptable.
    pub(super) remedy: Option<Asked>,
}

impl From<LlmError> for Failed {
    fn from(error: LlmError) -> Self {
        Self {
            error,
            remedy: None,
        }
    }
}

#[derive(Clone, Copy)]
pub(super) struct Exchange<'a> {
    pub(super) prepared: &'a Prepared,
    pub(super) adapter: &'static dyn Adapter,
    pub(super) bounds: &'a Bounds,
    pub(super) clock: &'a dyn Clock,
}

impl Exchange<'_> {
    /// The body of the answer, as if it had not been streamed. `heard` is set when it begins.
    pub(super) async fn run(
        &self,
        body: Bytes,
        show: Option<Show<'_>>,
        heard: &Heard,
    ) -> Result<Value, Failed> {
        let sent = timeout(self.bounds.headers, self.prepared.send(body)).await;
        let response = sent.map_err(|_| late("no answer", self.bounds.headers))??;
        let status = response.status();
        if status.is_redirection() {
            return Err(self.redirect(&response).into());
        }
        if !status.is_success() {
            return Err(self.refusal(response).await);
        }
        heard.begin();
        let header = |name| {
            response
                .headers()
                .get(name)
                .and_then(|value| value.to_str().ok())
        };
        if let Some(encoding) = header(CONTENT_ENCODING).filter(|encoding| *encoding != "identity")
        {
            let text = format!("the answer is compressed ({encoding}), which was not asked for");
            return Err(LlmError::new(ModelFault::BrokenResponse, text).into());
        }
        let streamed =
            header(CONTENT_TYPE).is_some_and(|kind| kind.starts_with("text/event-stream"));
        match show {
            Some(show) if streamed => Ok(self.stream(response, show, heard).await?),
            // Some services answer in one piece, whatever they were asked for.
            _ => Ok(self.whole(response, heard).await?),
        }
    }

    async fn whole(&self, mut response: Response, heard: &Heard) -> Result<Value, LlmError> {
        let most = self.bounds.body;
        let announced = response.content_length().unwrap_or(0);
        if announced > most as u64 {
            return Err(too_large(most));
        }
        let mut body = BytesMut::with_capacity(announced as usize);
        let mut wait = self.bounds.headers;
        while let Some(part) = next(&mut response, wait).await? {
            wait = self.bounds.stall;
            heard.add(estimate::of_bytes(part.len() as u64));
            if body.len() + part.len() > most {
                return Err(too_large(most));
            }
            body.extend_from_slice(&part);
        }
        // No value is shorter than two bytes, with what parts it from the next.
        if body.len() / 2 >= self.bounds.values && weight::values(&body) > self.bounds.values {
            return Err(self.too_many());
        }
        serde_json::from_slice(&body).map_err(|error| unreadable(&body, &error))
    }

    fn too_many(&self) -> LlmError {
        let text = format!("the answer has more than {} values", self.bounds.values);
        LlmError::new(ModelFault::BrokenResponse, text).of_bound()
    }

    async fn stream(
        &self,
        mut response: Response,
        show: Show<'_>,
        heard: &Heard,
    ) -> Result<Value, LlmError> {
        let mut assembler = self.adapter.assembler();
        let mut events = Events::new(self.bounds.event);
        let (mut pending, mut read, mut extra) = (Vec::new(), 0_usize, 0_usize);
        // A model may think for long before it says anything; then it must go on.
        let mut wait = self.bounds.headers;
        'stream: loop {
            // Pieces of an event are no event: only whole ones buy more time.
            let part = async {
                loop {
                    let part = next(&mut response, self.bounds.headers).await?;
                    let Some(part) = part else {
                        return Ok(false);
                    };
                    read = read.saturating_add(part.len());
                    let long = events.push(&part, &mut pending).is_err();
                    if long {
                        return Err(too_large(self.bounds.event));
                    }
                    if read > self.bounds.stream {
                        return Err(too_large(self.bounds.stream));
                    }
                    if !pending.is_empty() {
                        return Ok(true);
                    }
                }
            };
            let went_on = timeout(wait, part).await;
            if !went_on.map_err(|_| late("no further part of the answer", wait))?? {
                break;
            }
            wait = self.bounds.stall;
            for event in pending.drain(..) {
                let Event::Message { name, data } = event else {
                    continue;
                };
                // Most services send a token with each.
                heard.add(1);
                extra += weight::values(data.as_bytes()).saturating_sub(USUAL);
                if extra > self.bounds.values {
                    return Err(self.too_many());
                }
                let data = Scrubber::scrub(&data);
                if let Some(delta) = assembler.event(name.as_deref(), &data)? {
                    show(delta);
                }
                if is_last(name.as_deref(), &data) {
                    let _ = timeout(GRACE, response.chunk()).await;
                    break 'stream;
                }
            }
        }
        assembler.finish()
    }

    fn redirect(&self, response: &Response) -> LlmError {
        let target = response
            .headers()
            .get(LOCATION)
            .and_then(|value| value.to_str().ok())
            .and_then(|text| response.url().join(text).ok());
        let host = target.as_ref().and_then(|url| url.host_str());
        let text = format!(
            "{} sends us on to `{}`, and no request follows: set base_url to the right address",
            self.prepared.host(),
            host.unwrap_or("nowhere"),
        );
        let mut error = LlmError::new(ModelFault::BrokenResponse, text).lasting();
        error.status = Some(response.status().as_u16());
        error
    }

    async fn refusal(&self, mut response: Response) -> Failed {
        let status = response.status().as_u16();
        let asked = retry::asked(response.headers(), self.clock.now());
        let mut body = BytesMut::new();
        // What comes of it is enough: the status says most.
        while let Ok(Some(part)) = next(&mut response, self.bounds.stall).await {
            let room = self.bounds.error.saturating_sub(body.len());
            body.extend_from_slice(&part[..part.len().min(room)]);
            if body.len() >= self.bounds.error {
                break;
            }
        }
        let mut error = self.adapter.fault(status, &body);
        error.status = error.status.or(Some(status));
        error.retry_after = asked.or(error.retry_after);
        let bad = error.fault == ModelFault::BadRequest;
        Failed {
            remedy: bad.then(|| unsupported::named(&body)).flatten(),
            error,
        }
    }
}

async fn next(response: &mut Response, wait: Duration) -> Result<Option<Bytes>, LlmError> {
    let part = timeout(wait, response.chunk()).await;
    part.map_err(|_| late("no further part of the answer", wait))?
        .map_err(|error| broken(&error).and("the answer was cut off"))
}

/// Some services keep the connection open after the last event.
fn is_last(name: Option<&str>, data: &str) -> bool {
    data == "[DONE]"
        || matches!(
            name,
            Some("message_stop" | "response.completed" | "response.incomplete")
        )
}

fn late(what: &str, after: Duration) -> LlmError {
    let text = format!("{what} within {} s", after.as_secs_f64());
    LlmError::new(ModelFault::Timeout, text)
}

fn too_large(most: usize) -> LlmError {
    let text = format!("the answer has more than {most} bytes");
    LlmError::new(ModelFault::BrokenResponse, text).of_bound()
}

fn unreadable(body: &[u8], error: &serde_json::Error) -> LlmError {
    let text = String::from_utf8_lossy(&body[..body.len().min(4 * EXCERPT)]);
    let text = text.trim_start();
    let start: String = text.chars().take(EXCERPT).collect();
    let text = if text.is_empty() {
        "the answer is empty".to_owned()
    } else if text.starts_with('<') {
        format!("the answer is a web page, so base_url may be wrong: {start}")
    } else {
        format!("the answer is no JSON ({error}): {start}")
    };
    unparsed(text, error)
}
