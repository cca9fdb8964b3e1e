//! A call's line in the books: written exactly once, whatever becomes of the call.
//!
//! A call that is given up (its future is dropped) after something was sent is booked as well, as
//! cancelled, with what its earlier tries used: what the service did with the last one nobody knows. So is
//! one that had to wait for the service. It says how the service had kept it waiting, unless an answer had
//! begun. If nothing was to be sent, nothing is booked.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use agon_core::{ModelFault, Purpose, Usage};
use serde_json::Value;

use super::log;
use super::session::Session;
use crate::account::{Account, CallRecord};
use crate::error::LlmError;
use crate::key::Scrubber;
use crate::reply::Reply;
use crate::spec::{ModelSpec, Provider};
use crate::wire::Bill;

#[derive(Debug)]
pub(super) struct Entry<'a> {
    session: &'a Session,
    account: Option<&'a Account>,
    spec: &'a ModelSpec,
    purpose: Purpose,
    began: Instant,
    /// Requests that were sent.
    pub(super) tries: u32,
    /// It was answered by a tape.
    pub(super) taped: bool,
    /// A request is under way, and what it costs is not known yet.
    sent: bool,
    /// It waits for the service, or for leave to ask it.
    waits: bool,
    /// An answer to the current try has begun.
    heard: Arc<AtomicBool>,
    /// How the last try failed.
    failure: Option<ModelFault>,
    request: Option<Arc<Value>>,
    /// Of all answers that came, understood or not.
    usage: Usage,
    booked: bool,
}

impl<'a> Entry<'a> {
    pub(super) fn open(
        session: &'a Session,
        account: Option<&'a Account>,
        spec: &'a ModelSpec,
        purpose: Purpose,
    ) -> Self {
        Self {
            session,
            account,
            spec,
            purpose,
            began: session.pace.now(),
            tries: 0,
            taped: false,
            sent: false,
            waits: false,
            heard: Arc::default(),
            failure: None,
            request: None,
            usage: Usage::default(),
            booked: false,
        }
    }

    /// Whether anybody wants to know what was said.
    fn listens(&self) -> bool {
        self.account.is_some_and(Account::listens) || log::folder(&self.spec.settings).is_some()
    }

    pub(super) fn account(&self) -> Option<&'a Account> {
        self.account
    }

    /// From here on it is the service that is waited for. What comes back is to be set when an answer
    /// begins.
    pub(super) fn waits(&mut self) -> Arc<AtomicBool> {
        self.waits = true;
        Arc::clone(&self.heard)
    }

    /// One more request goes out.
    pub(super) fn sends(&mut self) {
        self.tries += 1;
        self.sent = true;
    }

    /// What became of it is known. One that the service may have worked for in vain is paid for as well:
    /// how much, nobody says.
    pub(super) fn ended(&mut self, error: Option<&LlmError>) {
        let heard = self.heard.load(Ordering::Relaxed);
        self.sent = false;
        // One that says itself that it had no time has refused.
        let lost = |error: &LlmError| match error.fault {
            ModelFault::Timeout => error.status.is_none(),
            ModelFault::Network => heard,
            _ => false,
        };
        if error.is_some_and(lost) {
            self.lose();
        }
    }

    fn lose(&mut self) {
        let free = matches!(self.spec.provider, Provider::Mock | Provider::Local);
        self.usage.unpriced_calls += u64::from(!free);
    }

    /// A try gave no answer.
    pub(super) fn failed(&mut self, fault: ModelFault) {
        self.failure = Some(fault);
        self.heard.store(false, Ordering::Relaxed);
    }

    /// How the service keeps this call waiting, if it does.
    fn kept_waiting(&self) -> Option<ModelFault> {
        let silent = self.waits && !self.heard.load(Ordering::Relaxed);
        let failure = self.failure.filter(|fault| fault.of_service());
        silent.then(|| failure.unwrap_or(ModelFault::Timeout))
    }

    /// Before the next request.
    pub(super) fn check(&self) -> Result<(), LlmError> {
        self.account.map_or(Ok(()), Account::check)
    }

    /// The body as it is sent.
    pub(super) fn asked(&mut self, body: &Arc<Value>) {
        if self.listens() {
            self.request = Some(match Scrubber::clean(body) {
                Cow::Borrowed(_) => Arc::clone(body),
                Cow::Owned(clean) => Arc::new(clean),
            });
        }
    }

    /// What an answer used, with what that costs.
    pub(super) fn price(&self, usage: Usage, bill: Bill) -> Usage {
        let money = self.session.prices.billed(self.spec, &usage, bill);
        Usage {
            calls: 1,
            unpriced_calls: u64::from(money.is_none()),
            money,
            ..usage
        }
    }

    /// An answer has come: its usage is counted, once, and before anything can go wrong with it.
    pub(super) fn pay(&mut self, usage: &Usage) {
        self.usage += usage;
    }

    /// An error if it can't be logged where the configuration wants it to be.
    pub(super) fn close(mut self, outcome: &Result<Reply, LlmError>) -> Result<(), LlmError> {
        let reply = outcome.as_ref().ok().filter(|_| self.listens());
        let response = reply.map(|reply| Arc::new(Scrubber::clean(&reply.raw).into_owned()));
        self.book(response, outcome.as_ref().err().cloned())
    }

    fn book(
        &mut self,
        response: Option<Arc<Value>>,
        error: Option<LlmError>,
    ) -> Result<(), LlmError> {
        self.booked = true;
        let now = self.session.pace.now();
        let record = CallRecord {
            model: self.spec.name.clone(),
            purpose: self.purpose,
            seconds: now.saturating_duration_since(self.began).as_secs_f64(),
            tries: self.tries,
            taped: self.taped,
            usage: std::mem::take(&mut self.usage),
            request: self.request.take(),
            response,
            error,
        };
        let logged = match log::folder(&self.spec.settings) {
            Some(folder) => log::write(folder, self.session.clock.now(), &record),
            None => Ok(()),
        };
        if let Some(account) = self.account {
            account.book(record);
        }
        logged
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        if !self.booked && (self.waits || self.tries > 0) {
            if self.sent {
                self.lose();
            }
            let kept_waiting = self.kept_waiting();
            let text = match kept_waiting {
                Some(_) => "the call was given up before any answer came",
                None => "the call was given up before its answer was complete",
            };
            let mut error = LlmError::new(ModelFault::Cancelled, text);
            error.kept_waiting = kept_waiting;
            // Nobody is there any more to be told that it can't be logged.
            let _ = self.book(None, Some(error));
        }
    }
}
