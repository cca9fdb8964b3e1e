//! Asks a service until it answers, as often and as long as the configuration allows.
//!
//! The deadline is over all tries and the waits between them. While a call waits for its turn at the
//! limiter the deadline stands still: a busy service must not fail calls that were never sent. Those waits
//! have a bound of their own for all tries (`Bounds::turn`), so that nothing waits for ever.
//!
//! A model that does not answer as it is asked to is no trouble of its service. It is asked again a few
//! times by us; somebody's own client is told. Nor is what that client brings about itself: an answer beyond
//! our bounds, a request that a service which has answered before does not allow, and refusals for want of
//! room while its other calls are under way.

use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_core::ModelFault;
use bytes::Bytes;
use serde_json::Value;
use tokio::time::timeout;

use super::call::Reader;
use super::entry::Entry;
use super::exchange::{Exchange, Failed, Heard, Show};
use super::limiter::Limiter;
use super::model::Delta;
use super::pace::Pace;
use super::retry;
use super::session::Session;
use super::unsupported::Learnt;
use crate::error::LlmError;
use crate::mock::Mock;
use crate::reply::Reply;
use crate::request::Request;
use crate::spec::{ModelSpec, Settings};
use crate::wire::{self, Adapter, HttpCall};

/// Tries that a model may spoil.
const MOST_BAD: u32 = 3;

/// A body as it is sent.
struct Sent {
    body: Arc<Value>,
    bytes: Bytes,
}

impl Sent {
    fn new(body: Arc<Value>) -> Result<Self, LlmError> {
        let bytes = serialised(&body)?;
        Ok(Self { body, bytes })
    }
}

/// Whether a try counts as one of the agent's own client, or is ours.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Manner {
    Usual,
    Patient,
}

/// Who answers.
pub(super) enum Service<'a> {
    Http {
        exchange: Exchange<'a>,
        limiter: &'a Arc<Limiter>,
    },
    /// Weights on this machine.
    Local {
        session: &'a Session,
        spec: &'a ModelSpec,
        call: &'a HttpCall,
        adapter: &'static dyn Adapter,
        limiter: &'a Arc<Limiter>,
    },
    Mock {
        mock: &'a Mock,
        request: &'a Request,
        /// Which answer of a script it is.
        turn: &'a (dyn Fn() -> usize + Sync),
    },
}

/// What is left for a call.
struct Time {
    deadline: Instant,
    /// For waiting until a request may be sent.
    turn: Duration,
}

#[derive(Clone, Copy, Default)]
struct Failures {
    all: u32,
    /// Those of the model itself.
    bad: u32,
}

pub(super) struct Tries<'a> {
    pub(super) settings: &'a Settings,
    pub(super) reader: &'a Reader<'a>,
    pub(super) pace: &'a dyn Pace,
    pub(super) service: Service<'a>,
    pub(super) spec: &'a ModelSpec,
    /// What is known of the model.
    pub(super) seen: &'a Learnt,
    /// Time for all of it.
    pub(super) time: Duration,
    /// Time for waiting until a request may be sent.
    pub(super) turn: Duration,
    /// Told of what the model does not take. `None`: it is somebody else's request, who may ask for
    /// anything.
    pub(super) learnt: Option<&'a Learnt>,
    /// We ask, and not somebody's own client.
    pub(super) own: bool,
}

impl Tries<'_> {
    pub(super) async fn run(
        &self,
        body: Value,
        entry: &mut Entry<'_>,
        mut show: Option<Show<'_>>,
    ) -> Result<Reply, LlmError> {
        let settings = self.settings;
        let mut sent = Sent::new(Arc::new(body))?;
        entry.asked(&sent.body);
        let mut time = Time {
            deadline: self.pace.now() + self.time,
            turn: self.turn,
        };
        let (mut failures, mut remedies) = (Failures::default(), Vec::new());
        loop {
            let tried = self.once(&sent, entry, &mut time, &mut show, Manner::Usual);
            let failed = match tried.await {
                Ok(reply) => return Ok(reply),
                Err(failed) => failed,
            };
            entry.failed(&failed.error);
            if let Some(asked) = failed.remedy.filter(|_| settings.drop_params)
                && !remedies.contains(&asked.remedy)
                && asked.remedy.apply(Arc::make_mut(&mut sent.body))
            {
                remedies.push(asked.remedy);
                sent = Sent::new(sent.body)?;
                entry.asked(&sent.body);
                if let Some(learnt) = self.learnt.filter(|_| asked.always) {
                    learnt.add(asked.remedy);
                }
                continue;
            }
            failures.all += 1;
            failures.bad += u32::from(failed.error.fault == ModelFault::BadAnswer);
            match self.wait(failed.error, failures, time.deadline) {
                Ok(wait) => self.pace.sleep(wait).await,
                Err(error) => {
                    return self
                        .patiently(error, &sent, entry, &mut time, &mut show)
                        .await;
                }
            }
        }
    }

    /// A service that has no room for a call may mean the other calls of the same agent. So the call is tried
    /// once more when these have been over for a while: a service that refuses it even then is to blame.
    async fn patiently(
        &self,
        mut error: LlmError,
        sent: &Sent,
        entry: &mut Entry<'_>,
        time: &mut Time,
        show: &mut Option<Show<'_>>,
    ) -> Result<Reply, LlmError> {
        let Some((account, name)) = entry.of_agent().filter(|_| error.is_busy()) else {
            return Err(error);
        };
        if !entry.provoked() {
            return Err(error);
        }
        let (rate, quiet) = (account.rate(), retry::quiet(self.settings));
        let _alone = rate.alone().await;
        if rate.refused(quiet, self.pace.now()) {
            return Err(error.and("also when it is asked patiently"));
        }
        while entry.provoked() {
            let now = self.pace.now();
            let rest = quiet.saturating_sub(rate.quiet(name, now).unwrap_or_default());
            if now + rest >= time.deadline {
                error.provoked = true;
                return Err(error.and("the agent's other calls may be why"));
            }
            self.pace.sleep(rest).await;
        }
        let tried = self.once(sent, entry, time, show, Manner::Patient).await;
        let failed = tried.map_err(|failed| failed.error);
        if let Err(error) = &failed {
            entry.failed(error);
            if error.is_busy() {
                rate.refuse(self.pace.now());
            }
        }
        failed
    }

    /// One request, with leave of the budget and of the limiter.
    async fn once(
        &self,
        sent: &Sent,
        entry: &mut Entry<'_>,
        time: &mut Time,
        show: &mut Option<Show<'_>>,
        manner: Manner,
    ) -> Result<Reply, Failed> {
        let tried = self.tried(sent, entry, time, show, manner).await;
        // What it came to is counted by now.
        entry.settle();
        match &tried {
            Ok(_) => self.seen.answer(),
            Err(_) if self.own => {}
            Err(_) => return tried.map_err(|failed| self.of_client(failed)),
        }
        tried
    }

    /// What somebody's own client has to answer for, and not the service.
    fn of_client(&self, mut failed: Failed) -> Failed {
        let error = &mut failed.error;
        let refused = matches!(
            (error.fault, error.status),
            (ModelFault::Authentication, Some(403)) | (ModelFault::Setup, Some(404))
        );
        if error.is_of_bound() {
            error.fault = ModelFault::BadAnswer;
        } else if refused && self.seen.has_answered() {
            // The model is there, and takes our key: it is this request that may not be.
            error.fault = ModelFault::BadRequest;
        }
        failed
    }

    /// The room that there is for it in the budgets; it is shortened to that.
    async fn room(
        &self,
        sent: &Sent,
        entry: &mut Entry<'_>,
        time: &mut Time,
    ) -> Result<Bytes, LlmError> {
        let began = self.pace.now();
        let held = timeout(time.turn, entry.hold(&sent.body)).await;
        let unsettled = "other calls under way left no room in the budget";
        let most = held.map_err(|_| LlmError::new(ModelFault::Budget, unsettled))??;
        time.deadline += self.pace.now().saturating_duration_since(began);
        if most >= wire::longest(self.spec, &sent.body) {
            return Ok(sent.bytes.clone());
        }
        let mut short = Value::clone(&sent.body);
        wire::shorten(self.spec, &mut short, most);
        let short = Sent::new(Arc::new(short))?;
        entry.asked(&short.body);
        Ok(short.bytes)
    }

    async fn tried(
        &self,
        sent: &Sent,
        entry: &mut Entry<'_>,
        time: &mut Time,
        show: &mut Option<Show<'_>>,
        manner: Manner,
    ) -> Result<Reply, Failed> {
        entry.check()?;
        let bytes = &self.room(sent, entry, time).await?;
        let limiter = match &self.service {
            Service::Http { limiter, .. } | Service::Local { limiter, .. } => limiter,
            Service::Mock {
                mock,
                request,
                turn,
            } => {
                entry.tries += 1;
                let reply = self.reader.read(mock.answer(request, turn())?, entry)?;
                if let Some(show) = show {
                    show(Delta::Text(reply.text()));
                }
                return Ok(reply);
            }
        };
        let heard = entry.waits();
        let queued = self.pace.now();
        // Given up here, it has taken nothing: a permit that was on its way is back.
        let permit = timeout(time.turn, limiter.permit()).await;
        let permit = permit.map_err(|_| self.crowded())?;
        let now = self.pace.now();
        let waited = now.saturating_duration_since(queued);
        time.deadline += waited;
        time.turn = time.turn.saturating_sub(waited);
        // Others may have spent it in the meantime.
        entry.check()?;
        entry.sends();
        let of_agent = entry.of_agent().filter(|_| manner == Manner::Usual);
        if let Some((account, name)) = of_agent {
            account.rate().begin(name, now);
        }
        let mut shown = false;
        let left = time.deadline.saturating_duration_since(now);
        let answer = match show {
            Some(show) => {
                let mut watch = |delta| {
                    shown = true;
                    show(delta);
                };
                timeout(left, self.exchange(bytes, Some(&mut watch), &heard)).await
            }
            None => timeout(left, self.exchange(bytes, None, &heard)).await,
        };
        let ended = self.pace.now();
        if let Some((account, name)) = of_agent {
            account.rate().end(name, ended);
        }
        let result = answer.unwrap_or_else(|_| {
            let over = self.over();
            // An answer that was on its way for most of the time was asked to be too long.
            let long = heard.begun() && 2 * ended.saturating_duration_since(now) >= self.time;
            Err(if long { over.of_bound() } else { over }.into())
        });
        entry.ended(result.as_ref().err().map(|failed| &failed.error));
        let result = result.and_then(|body| Ok(self.reader.read(body, entry)?));
        match &result {
            Ok(_) => permit.answered(),
            Err(failed) if failed.error.fault == ModelFault::BadAnswer => permit.answered(),
            Err(failed) => permit.refused(
                failed.error.fault,
                failed.error.retry_after,
                self.pace.now(),
            ),
        }
        if result.is_err()
            && shown
            && let Some(show) = show
        {
            show(Delta::Again);
        }
        result
    }

    /// A server on this machine may have gone since the last try, and is looked for in each.
    async fn exchange(
        &self,
        bytes: &Bytes,
        show: Option<Show<'_>>,
        heard: &Heard,
    ) -> Result<Value, Failed> {
        match &self.service {
            Service::Http { exchange, .. } => exchange.run(bytes.clone(), show, heard).await,
            Service::Local {
                session,
                spec,
                call,
                adapter,
                ..
            } => {
                let socket = session.local.socket(&spec.model).await?;
                let prepared = session.transport.prepare(spec, call, Some(&socket))?;
                let exchange = Exchange {
                    prepared: &prepared,
                    adapter: *adapter,
                    bounds: &session.bounds,
                    clock: session.clock.as_ref(),
                };
                match exchange.run(bytes.clone(), show, heard).await {
                    Err(failed) if gone(failed.error.fault) => {
                        Err((session.local.explain(&spec.model, failed.error).await).into())
                    }
                    answer => answer,
                }
            }
            Service::Mock { .. } => {
                Err(LlmError::new(ModelFault::Setup, "a mock is not sent anything").into())
            }
        }
    }

    fn crowded(&self) -> LlmError {
        let text = format!(
            "other calls to this service left no room for {} s: run fewer trials at once",
            self.turn.as_secs_f64()
        );
        LlmError::new(ModelFault::Timeout, text).lasting()
    }

    fn over(&self) -> LlmError {
        let text = format!(
            "no answer within {} s, all tries together",
            self.time.as_secs_f64()
        );
        LlmError::new(ModelFault::Timeout, text).lasting()
    }

    /// How long to wait, or why not to try again.
    fn wait(
        &self,
        error: LlmError,
        failures: Failures,
        deadline: Instant,
    ) -> Result<Duration, LlmError> {
        let bad = error.fault == ModelFault::BadAnswer && self.own && failures.bad < MOST_BAD;
        if !error.passing() && !bad {
            return Err(error);
        }
        let (settings, failures) = (self.settings, failures.all);
        if failures >= settings.num_retries.max(1) {
            return Err(match failures {
                1 => error,
                _ => error.and(format_args!("given up after {failures} tries")),
            });
        }
        let wait = retry::wait(settings, &error, failures, self.pace.jitter());
        if self.pace.now() + wait < deadline {
            return Ok(wait);
        }
        let time = self.time.as_secs_f64();
        Err(match error.retry_after {
            Some(asked) => error.and(format_args!(
                "the service asks to wait {} s, beyond the {time} s of the call",
                asked.as_secs_f64()
            )),
            None => error.and(format_args!(
                "given up after {failures} tries: {time} s are over"
            )),
        })
    }
}

/// Whether a server may have ended.
const fn gone(fault: ModelFault) -> bool {
    matches!(fault, ModelFault::Network | ModelFault::BrokenResponse)
}

fn serialised(body: &Value) -> Result<Bytes, LlmError> {
    let bytes = serde_json::to_vec(body).map_err(|error| {
        LlmError::new(
            ModelFault::BadRequest,
            format!("the request can't be written: {error}"),
        )
    })?;
    Ok(Bytes::from(bytes))
}
