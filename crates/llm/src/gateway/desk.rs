//! Answers the requests of one trial: who may ask, which model, what it costs is on the trial's account.
//! A call that was begun is seen through and paid for, whether its client waits or not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use agon_core::{ModelFault, Purpose, Usage};
use hyper::body::{Body, Bytes};
use hyper::header::{AUTHORIZATION, HeaderMap};
use hyper::{Request as HttpRequest, Response, StatusCode};
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::allowed::Allowed;
use super::betas;
use super::fault::Fault;
use super::intake::Intake;
use super::outlet::{self, Outlet};
use super::question::{Question, find};
use super::route::Route;
use super::stream::{Called, Stream, over};
use super::tally::Tally;
use crate::account::{Account, CallRecord};
use crate::client::Model;
use crate::error::LlmError;
use crate::estimate;
use crate::reply::Reply;
use crate::request::Request;
use crate::spec::Provider;
use crate::wire::Spoken;

/// A stream shows that we are still there this often. What fails before that fails with its status.
const STILL_HERE_EVERY: Duration = Duration::from_secs(10);

/// Requests of one trial that were refused and are recorded all the same. They cost nothing, so there can
/// be any number.
const MOST_REFUSED: u32 = 1_000;

/// Every request of Anthropic's clients has it.
const MESSAGES_VERSION: &str = "anthropic-version";

#[derive(Debug)]
pub(super) struct Desk {
    allowed: Allowed,
    account: Arc<Account>,
    /// `None`: nobody else can call here.
    token: Option<String>,
    places: Arc<Semaphore>,
    intake: Intake,
    tally: Arc<Tally>,
    refused: AtomicU32,
    still_here_every: Duration,
    closed: CancellationToken,
    tasks: TaskTracker,
}

impl Desk {
    pub(super) fn new(
        allowed: Allowed,
        account: Arc<Account>,
        token: Option<String>,
        most_in_flight: usize,
        closed: CancellationToken,
        tasks: TaskTracker,
    ) -> Self {
        Self {
            allowed,
            token,
            places: Arc::new(Semaphore::new(most_in_flight)),
            intake: Intake::new(),
            tally: Arc::new(Tally::of(Arc::clone(&account))),
            account,
            refused: AtomicU32::new(0),
            still_here_every: STILL_HERE_EVERY,
            closed,
            tasks,
        }
    }

    #[cfg(test)]
    pub(super) fn still_here_every(self, still_here_every: Duration) -> Self {
        Self {
            still_here_every,
            ..self
        }
    }

    pub(super) async fn answer<B>(&self, request: HttpRequest<B>) -> Response<Outlet>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let route = Route::of(request.method(), request.uri().path());
        let messages_client = request.headers().contains_key(MESSAGES_VERSION);
        let wire = route.wire(messages_client);
        match self.try_answer(route, messages_client, request).await {
            Ok(response) => response,
            Err(fault) => outlet::refusal(&fault, wire),
        }
    }

    async fn try_answer<B>(
        &self,
        route: Route,
        messages_client: bool,
        request: HttpRequest<B>,
    ) -> Result<Response<Outlet>, Fault>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        self.admit(request.headers())?;
        let found = |body: &Value| Ok(outlet::whole(StatusCode::OK, body, None));
        match route {
            Route::Ask(wire) => {
                let understood = self.understand(wire, request).await;
                let (question, place) = understood.inspect_err(|fault| self.note(fault))?;
                Ok(self.ask(question, place).await)
            }
            Route::CountTokens => {
                let _place = self.place()?;
                let taken = self.intake.take(request.into_body()).await?;
                let parts = ["system", "messages", "tools"];
                let parts = parts.iter().filter_map(|part| taken.body.get(part));
                let tokens: u64 = parts.map(estimate::tokens).sum();
                found(&json!({"input_tokens": tokens.max(1)}))
            }
            Route::Models if messages_client => found(&self.allowed.list_for_messages()),
            Route::Models => found(&self.allowed.list()),
            Route::Model(name) => {
                let offer = find(&self.allowed, Some(&name))?;
                found(&match messages_client {
                    true => offer.describe_for_messages(),
                    false => offer.describe(),
                })
            }
            Route::Unknown => Err(Fault::of_client(
                StatusCode::NOT_FOUND,
                "there is nothing here; this gateway answers POST /v1/chat/completions, \
                 /v1/responses, /v1/messages and /v1/messages/count_tokens, and GET /v1/models",
            )),
        }
    }

    fn admit(&self, headers: &HeaderMap) -> Result<(), Fault> {
        let Some(token) = &self.token else {
            return Ok(());
        };
        let bearer = headers.get(AUTHORIZATION).map(|value| {
            let value = value.as_bytes();
            value.strip_prefix(b"Bearer ").unwrap_or(value)
        });
        let key = headers.get("x-api-key").map(|value| value.as_bytes());
        let shown = [bearer, key].into_iter().flatten();
        match shown.into_iter().any(|shown| same(shown, token.as_bytes())) {
            true => Ok(()),
            false => Err(Fault::of_client(
                StatusCode::UNAUTHORIZED,
                "this gateway takes the key in OPENAI_API_KEY (or ANTHROPIC_API_KEY) of the agent's \
                 environment, and no other",
            )),
        }
    }

    fn place(&self) -> Result<OwnedSemaphorePermit, Fault> {
        let places = Arc::clone(&self.places);
        places.try_acquire_owned().map_err(|_| {
            Fault::of_client(
                StatusCode::TOO_MANY_REQUESTS,
                "too many calls at the same time; wait for one to be answered",
            )
        })
    }

    async fn understand<B>(
        &self,
        wire: Spoken,
        request: HttpRequest<B>,
    ) -> Result<(Question<'_>, OwnedSemaphorePermit), Fault>
    where
        B: Body<Data = Bytes> + Unpin,
    {
        let place = self.place()?;
        let (head, body) = request.into_parts();
        let taken = self.intake.take(body).await?;
        let bytes = taken.room.num_permits();
        let mut question = Question::read(&self.allowed, wire, taken, self.token.is_none())?;
        question.request.betas = betas::of(&head.headers);
        self.tally.ask(bytes)?;
        Ok((question, place))
    }

    /// Puts a call on the record that was never made. Whatever its status is called, it is no failure of a
    /// service.
    fn note(&self, fault: &Fault) {
        if self.refused.fetch_add(1, Ordering::Relaxed) >= MOST_REFUSED {
            self.refused.store(MOST_REFUSED, Ordering::Relaxed);
            return;
        }
        let why = format_args!(
            "refused by the gateway with {}: {}",
            fault.status.as_u16(),
            fault.error.message()
        );
        self.account.book(CallRecord {
            model: self.allowed.first().model.spec().name.clone(),
            purpose: Purpose::Gateway,
            seconds: 0.0,
            tries: 0,
            taped: false,
            usage: Usage::default(),
            request: None,
            response: None,
            error: Some(LlmError::new(ModelFault::BadRequest, why)),
        });
    }

    async fn ask(&self, question: Question<'_>, place: OwnedSemaphorePermit) -> Response<Outlet> {
        let Question {
            offer,
            wire,
            stream,
            request,
            room,
        } = question;
        let model = offer.name.clone();
        let asking = offer.model.on(&self.account, Purpose::Gateway);
        let tally = Arc::clone(&self.tally);
        let (tell, mut called) = oneshot::channel();
        self.begin(async move {
            let answer = ask(&asking, &request).await;
            drop(room);
            if let Ok(reply) = &answer {
                tally.answered(&reply.raw);
            }
            // Nobody may wait any more.
            let _ = tell.send((answer, place));
        });
        if !stream {
            return written(called.await.ok(), &model, wire);
        }
        let (out, events) = mpsc::channel(1);
        let (waited, every) = (
            timeout(self.still_here_every, &mut called),
            self.still_here_every,
        );
        let waited = waited.await;
        let stream = Stream { out, model, wire };
        match waited {
            Ok(Ok((Ok(reply), place))) => {
                self.begin(stream.play(Ok(reply)));
                outlet::events(events, Some(place))
            }
            Ok(failed) => written(failed.ok(), &stream.model, wire),
            Err(_) => {
                self.begin(stream.wait_and_play(called, every));
                outlet::events(events, None)
            }
        }
    }

    /// Goes on until it is done or the gateway is closed.
    fn begin(&self, work: impl Future<Output = ()> + Send + 'static) {
        let closed = self.closed.clone();
        self.tasks.spawn(closed.run_until_cancelled_owned(work));
    }
}

/// Services are asked for a stream, whatever the client wants: a long answer then shows that it is coming,
/// and can be told from one that never will.
async fn ask(model: &Model, request: &Request) -> Result<Reply, LlmError> {
    match model.spec().provider {
        Provider::Mock | Provider::Local => model.ask(request).await,
        Provider::OpenAi | Provider::Anthropic | Provider::Gemini | Provider::Compatible => {
            model.ask_streaming(request, &mut |_| {}).await
        }
    }
}

/// `None`: it was given up in the middle.
fn written(called: Option<Called>, model: &str, wire: Spoken) -> Response<Outlet> {
    match called {
        Some((Ok(reply), place)) => {
            let body = wire.form().write_reply(model, &reply);
            outlet::whole(StatusCode::OK, &body, Some(place))
        }
        Some((Err(error), _)) => outlet::refusal(&Fault::of_model(error, wire), wire),
        None => outlet::refusal(&Fault::of_model(over(), wire), wire),
    }
}

/// Takes as long whatever is wrong about it.
fn same(shown: &[u8], wanted: &[u8]) -> bool {
    let different = shown
        .iter()
        .zip(wanted)
        .fold(0, |sum, (a, b)| sum | (a ^ b));
    shown.len() == wanted.len() && different == 0
}
