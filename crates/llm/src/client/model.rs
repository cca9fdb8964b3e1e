//! A model that can be asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use agon_core::{Purpose, Usage};

use super::call;
use super::entry::Entry;
use super::limiter::Limiter;
use super::session::Session;
use super::unsupported::Learnt;
use crate::account::Account;
use crate::error::LlmError;
use crate::mock::Mock;
use crate::reply::Reply;
use crate::request::Request;
use crate::spec::ModelSpec;

/// A piece of an answer, as it comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Delta {
    Text(String),
    Reasoning(String),
    /// The answer broke off and is asked for again: what was shown so far does not count.
    Again,
}

/// Who answers.
#[derive(Debug)]
pub(super) enum Route {
    Http,
    /// Weights on this machine.
    Local,
    Mock(Mock),
}

/// Cheap to clone. Deadlines, retries, budgets, tapes and records are in here, so that nobody can forget
/// them.
#[derive(Debug, Clone)]
pub struct Model {
    session: Arc<Session>,
    inner: Arc<Inner>,
    account: Option<Arc<Account>>,
    purpose: Purpose,
}

/// What all handles of a model share.
#[derive(Debug)]
pub(super) struct Inner {
    pub(super) spec: ModelSpec,
    pub(super) route: Route,
    pub(super) limiter: Arc<Limiter>,
    pub(super) learnt: Arc<Learnt>,
    /// How often it was asked without an account.
    pub(super) turns: AtomicUsize,
}

impl Model {
    pub(super) fn new(session: Arc<Session>, inner: Inner) -> Self {
        Self {
            session,
            inner: Arc::new(inner),
            account: None,
            purpose: Purpose::default(),
        }
    }

    /// The same model, paid for and recorded by `account`.
    pub fn on(&self, account: &Arc<Account>, purpose: Purpose) -> Self {
        Self {
            account: Some(Arc::clone(account)),
            purpose,
            ..self.clone()
        }
    }

    pub fn spec(&self) -> &ModelSpec {
        &self.inner.spec
    }

    /// Whether it is known what its calls cost.
    pub fn has_price(&self) -> bool {
        let usage = Usage {
            input_tokens: 1,
            output_tokens: 1,
            ..Usage::default()
        };
        let prices = self.session.prices();
        prices.cost(&self.inner.spec, &usage).is_some()
    }

    /// A call whose future is dropped gives its place back at once; if it had sent anything, it is
    /// booked as cancelled.
    pub async fn ask(&self, request: &Request) -> Result<Reply, LlmError> {
        call::ask(self, request, None).await
    }

    /// The same, with the answer shown as it comes.
    pub async fn ask_streaming(
        &self,
        request: &Request,
        show: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<Reply, LlmError> {
        call::ask(self, request, Some(show)).await
    }

    /// It is asked by us, and not by somebody's own client.
    pub(super) fn asks_itself(&self) -> bool {
        self.purpose != Purpose::Gateway
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    pub(super) fn route(&self) -> &Route {
        &self.inner.route
    }

    pub(super) fn limiter(&self) -> &Arc<Limiter> {
        &self.inner.limiter
    }

    pub(super) fn entry(&self) -> Entry<'_> {
        Entry::open(
            &self.session,
            self.account.as_deref(),
            &self.inner.spec,
            self.purpose,
        )
    }

    /// The place in a script of answers: every account begins at its start.
    pub(super) fn turn(&self) -> usize {
        match &self.account {
            Some(account) => account.turn(&self.inner.spec.model),
            None => self.inner.turns.fetch_add(1, Ordering::Relaxed),
        }
    }

    pub(super) fn learnt(&self) -> &Learnt {
        &self.inner.learnt
    }
}
