//! A call's line in the books: written exactly once, whatever becomes of the call.
//!
//! Everything that was sent is counted as soon as it is known what it came to, and before the room that was
//! held for it is given back. Where the service does not say, it is estimated, and marked as not exact by a
//! call without a price.
//!
//! A call that is given up (its future is dropped) after something was sent is booked as well, as
//! cancelled: what the service did with its last try nobody knows. So is one that had to wait for the service. It says how the service had kept it waiting, unless an answer had
//! begun. If nothing was to be sent, nothing is booked.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Instant;

use agon_core::{ModelFault, Purpose, Usage};
use serde_json::Value;

use super::exchange::Heard;
use super::log;
use super::retry;
use super::session::Session;
use crate::account::{Account, CallRecord, Hold, Quote};
use crate::error::LlmError;
use crate::estimate;
use crate::key::Scrubber;
use crate::reply::Reply;
use crate::spec::{ModelSpec, Provider};
use crate::wire::{self, Bill};

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
    /// What came of the answer to the current try.
    heard: Arc<Heard>,
    /// Tokens of the question; an estimate.
    question: u64,
    /// Room in the budgets for the current try.
    hold: Option<Hold<'a>>,
    /// Its name among the calls of its agent's own client; 0: it is of another.
    name: u64,
    /// How the last try failed.
    failure: Option<ModelFault>,
    /// It was refused for want of room.
    busy: bool,
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
            question: 0,
            hold: None,
            name: match (account, purpose, spec.provider) {
                (_, _, Provider::Mock | Provider::Local) => 0,
                (Some(account), Purpose::Gateway, _) => account.rate().name(),
                _ => 0,
            },
            failure: None,
            busy: false,
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
    pub(super) fn waits(&mut self) -> Arc<Heard> {
        self.waits = true;
        Arc::clone(&self.heard)
    }

    /// Room in all budgets for one request. How long its answer can be.
    pub(super) async fn hold(&mut self, body: &Value) -> Result<u64, LlmError> {
        let longest = wire::longest(self.spec, body);
        let Some(account) = self.account else {
            return Ok(longest);
        };
        let cost = |input_tokens, output_tokens| {
            let usage = Usage {
                input_tokens,
                output_tokens,
                ..Usage::default()
            };
            self.session
                .prices
                .cost(self.spec, &usage)
                .unwrap_or_default()
        };
        let of_question = cost(self.question, 0);
        let quote = Quote {
            question: self.question,
            answer: longest,
            least: wire::shortest(body),
            of_question,
            of_token: cost(self.question, 1).less(of_question),
        };
        let hold = account.hold(&quote).await?;
        let answer = hold.answer;
        self.hold = Some(hold);
        Ok(answer)
    }

    /// One more request goes out.
    pub(super) fn sends(&mut self) {
        self.tries += 1;
        self.sent = true;
    }

    /// What became of it is known. One that the service may have worked for in vain is paid for as well.
    pub(super) fn ended(&mut self, error: Option<&LlmError>) {
        let heard = self.heard.begun();
        self.sent = false;
        // One that says itself that it had no time has refused.
        let lost = |error: &LlmError| match error.fault {
            ModelFault::Timeout => error.status.is_none(),
            ModelFault::Network | ModelFault::BrokenResponse | ModelFault::BadAnswer => heard,
            _ => false,
        };
        if error.is_some_and(lost) {
            self.estimate();
        }
    }

    /// Everything that it came to is counted.
    pub(super) fn settle(&mut self) {
        self.hold = None;
    }

    /// Counts a request of which the service did not say what it came to.
    pub(super) fn estimate(&mut self) -> Usage {
        let free = matches!(self.spec.provider, Provider::Mock | Provider::Local);
        let most = self.hold.as_ref().map_or(u64::MAX, |hold| hold.answer);
        let usage = Usage {
            input_tokens: self.question,
            output_tokens: self.heard.tokens().min(most),
            calls: u64::from(self.heard.begun()),
            ..Usage::default()
        };
        let usage = Usage {
            money: self.session.prices.cost(self.spec, &usage),
            unpriced_calls: u64::from(!free),
            ..usage
        };
        self.pay(&usage);
        usage
    }

    /// Its name among those that its agent's own client makes, and whose they are.
    pub(super) fn of_agent(&self) -> Option<(&'a Account, u64)> {
        self.account.zip((self.name > 0).then_some(self.name))
    }

    /// Whether other calls of the same agent may be why the service refuses this one.
    pub(super) fn provoked(&self) -> bool {
        self.of_agent().is_some_and(|(account, name)| {
            let quiet = account.rate().quiet(name, self.session.pace.now());
            quiet.is_none_or(|quiet| quiet < retry::quiet(&self.spec.settings))
        })
    }

    /// A try gave no answer.
    pub(super) fn failed(&mut self, error: &LlmError) {
        self.failure = Some(error.fault);
        self.busy = error.is_busy();
        self.heard.clear();
    }

    /// How the service keeps this call waiting, if it does.
    fn kept_waiting(&self) -> Option<ModelFault> {
        let silent = self.waits && !self.heard.begun();
        // Of what its own calls brought about an agent can't complain.
        if self.busy && self.provoked() {
            return None;
        }
        let failure = self.failure.filter(|fault| fault.of_service());
        silent.then(|| failure.unwrap_or(ModelFault::Timeout))
    }

    /// Before the next request.
    pub(super) fn check(&self) -> Result<(), LlmError> {
        self.account.map_or(Ok(()), Account::check)
    }

    /// The body as it is sent.
    pub(super) fn asked(&mut self, body: &Arc<Value>) {
        self.question = estimate::tokens(body);
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
        if let Some(account) = self.account {
            account.add(usage);
        }
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
            let missed = |error: &LlmError| error.fault == ModelFault::NotOnTape;
            if self.purpose == Purpose::Agent && record.error.as_ref().is_some_and(missed) {
                account.miss_tape();
            }
            account.keep(record);
        }
        logged
    }
}

impl Drop for Entry<'_> {
    fn drop(&mut self) {
        if !self.booked && (self.waits || self.tries > 0) {
            if self.sent {
                self.estimate();
            }
            if let Some((account, name)) = self.of_agent() {
                account.rate().end(name, self.session.pace.now());
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
