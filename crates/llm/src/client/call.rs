//! One call from question to answer: what is filled in, who answers, what it cost. The order of the steps
//! is the same for services, tapes and mocks.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use agon_core::ModelFault;
use serde_json::Value;
use tokio::time::timeout;

use super::entry::Entry;
use super::exchange::{Exchange, Show};
use super::model::{Delta, Model, Route};
use super::tries::{Service, Tries};
use crate::error::LlmError;
use crate::key::Scrubber;
use crate::picture::{self, Limits, PictureError};
use crate::reply::Reply;
use crate::request::Request;
use crate::spec::{ModelSpec, Settings};
use crate::tape::Tape;
use crate::wire::{self, Adapter, Bill, Emulated, Encoding, HttpCall};

pub(super) async fn ask(
    model: &Model,
    request: &Request,
    show: Option<Show<'_>>,
) -> Result<Reply, LlmError> {
    let mut entry = model.entry();
    let outcome = run(model, request, &mut entry, show).await;
    let outcome = outcome.map_err(|error| keyless(model, error));
    let logged = entry.close(&outcome);
    outcome.and_then(|reply| logged.map(|()| reply))
}

/// Says so where a service asks for a key and was sent none.
fn keyless(model: &Model, error: LlmError) -> LlmError {
    let none = model.spec().key.is_none() && model.asks_itself();
    if error.fault != ModelFault::Authentication || !none {
        return error;
    }
    error.and(
        "no key was sent: a vendor's key goes to the vendor's own address alone; put the one of this service into \
         a section of config.toml, as api_key beside its base_url",
    )
}

async fn run(
    model: &Model,
    request: &Request,
    entry: &mut Entry<'_>,
    show: Option<Show<'_>>,
) -> Result<Reply, LlmError> {
    entry.check()?;
    let spec = model.spec();
    let mut request = filled(request, &spec.settings);
    let own = model.asks_itself() && request.raw.is_none();
    let emulated = Emulated::of(spec, &request).map(|(emulated, instead)| {
        request = instead;
        emulated
    });
    // A body of this form that somebody else wrote goes out as it is: the service says what it takes.
    let as_it_is = (request.raw.as_ref()).is_some_and(|(wire, _)| *wire == spec.wire);
    if !as_it_is {
        wire::only_known_parts(spec.wire, &request)?;
        request = fitted(model, request).await?;
    }
    let reader = Reader {
        spec,
        adapter: wire::adapter(spec.wire),
        emulated,
        own,
    };
    let call = Call {
        model,
        request: &request,
        reader: &reader,
    };
    match &model.session().replay {
        Some(tape) => call.replayed(tape, entry, show),
        None => call.answered(entry, show).await,
    }
}

/// Reads the body of an answer.
pub(super) struct Reader<'a> {
    spec: &'a ModelSpec,
    adapter: &'static dyn Adapter,
    emulated: Option<Emulated>,
    /// The request is ours, and not one that somebody's own client made.
    own: bool,
}

impl Reader<'_> {
    fn encode(&self, request: &Request, stream: bool) -> Result<HttpCall, LlmError> {
        self.adapter.encode(self.spec, request, Encoding { stream })
    }

    /// What it cost is booked before it is understood: it is paid for in any case.
    pub(super) fn read(&self, body: Value, entry: &mut Entry<'_>) -> Result<Reply, LlmError> {
        // A service that says a key back says it to the agent, too.
        let body = match Scrubber::clean(&body) {
            Cow::Owned(clean) => clean,
            Cow::Borrowed(_) => body,
        };
        let usage = entry.price(self.adapter.usage(&body), Bill::of(&body));
        let counted = usage.tokens() > 0;
        if counted {
            entry.pay(&usage);
        }
        let decoded = self.adapter.decode(self.spec, body);
        // An answer that nobody counted was one; an error in its place was none.
        let answered = match &decoded {
            Ok(_) => true,
            Err(error) => is_answer(error.fault),
        };
        let usage = match answered && !counted {
            true => entry.estimate(),
            false => usage,
        };
        let mut reply = decoded?;
        reply.usage = usage;
        match &self.emulated {
            Some(emulated) => emulated.read(reply, !self.own),
            None => Ok(reply),
        }
    }
}

/// Whether an answer came that can't be used.
const fn is_answer(fault: ModelFault) -> bool {
    matches!(
        fault,
        ModelFault::BrokenResponse | ModelFault::BadAnswer | ModelFault::Refusal
    )
}

/// What is asked, of whom, and how its answer is read.
struct Call<'a> {
    model: &'a Model,
    request: &'a Request,
    reader: &'a Reader<'a>,
}

impl Call<'_> {
    /// From the tape, and from nowhere else.
    fn replayed(
        &self,
        tape: &Tape,
        entry: &mut Entry<'_>,
        show: Option<Show<'_>>,
    ) -> Result<Reply, LlmError> {
        let spec = self.model.spec();
        let body = Arc::new(self.reader.encode(self.request, false)?.body);
        entry.asked(&body);
        let answer = tape.answer(spec.wire, &spec.model, &body, entry.account())?;
        entry.taped = true;
        let reply = self.reader.read(Value::clone(&answer), entry)?;
        if let Some(show) = show {
            show(Delta::Text(reply.text()));
        }
        Ok(reply)
    }

    /// From the service, and onto the tape that is being made.
    async fn answered(
        &self,
        entry: &mut Entry<'_>,
        show: Option<Show<'_>>,
    ) -> Result<Reply, LlmError> {
        let (spec, session) = (self.model.spec(), self.model.session());
        let call = self.reader.encode(self.request, show.is_some())?;
        // Tapes know no streams, and not what a model was found not to take: a request is the same on them
        // whichever way it was answered.
        let on_tape = match (&session.record, show.is_some()) {
            (None, _) => None,
            (Some(_), false) => Some(call.body.clone()),
            (Some(_), true) => Some(self.reader.encode(self.request, false)?.body),
        };
        let reply = self.send(&call, entry, show).await?;
        if let (Some(recording), Some(body)) = (&session.record, on_tape) {
            recording.keep(spec.wire, &spec.model, &body, &reply.raw)?;
        }
        Ok(reply)
    }

    async fn send(
        &self,
        call: &HttpCall,
        entry: &mut Entry<'_>,
        show: Option<Show<'_>>,
    ) -> Result<Reply, LlmError> {
        let Self {
            model,
            request,
            reader,
        } = *self;
        let (spec, session) = (model.spec(), model.session());
        let prepared;
        let turn = || model.turn();
        let service = match model.route() {
            Route::Mock(mock) => Service::Mock {
                mock,
                request,
                turn: &turn,
            },
            Route::Local => Service::Local {
                session,
                spec,
                call,
                adapter: reader.adapter,
                limiter: model.limiter(),
            },
            Route::Http => {
                prepared = session.transport.prepare(spec, call, None)?;
                Service::Http {
                    exchange: Exchange {
                        prepared: &prepared,
                        adapter: reader.adapter,
                        bounds: &session.bounds,
                        clock: session.clock.as_ref(),
                    },
                    limiter: model.limiter(),
                }
            }
        };
        let learnt = (reader.own && spec.settings.drop_params).then(|| model.learnt());
        let mut body = call.body.clone();
        if let Some(learnt) = learnt {
            learnt.apply(&mut body);
        }
        let time = time(&spec.settings, session.bounds.call);
        let tries = Tries {
            settings: &spec.settings,
            reader,
            pace: session.pace.as_ref(),
            service,
            spec,
            seen: model.learnt(),
            time,
            // Whoever is before us may need all of its time.
            turn: session.bounds.turn.max(time),
            learnt,
            own: reader.own,
        };
        tries.run(body, entry, show).await
    }
}

/// With pictures that the provider takes. They may be large and many: nobody else waits for them.
async fn fitted(model: &Model, request: Request) -> Result<Request, LlmError> {
    if picture::pictures(&request) == 0 {
        return Ok(request);
    }
    let (spec, session) = (model.spec(), model.session());
    let limits = Limits::of(spec.provider, spec.wire, &spec.model);
    let time = time(&spec.settings, session.bounds.call);
    let work = async {
        // Nobody closes it.
        let place = Arc::clone(&session.drawing).acquire_owned().await.ok();
        tokio::task::spawn_blocking(move || {
            let fitted = picture::fit_request(&request, limits);
            drop(place);
            Ok(fitted?.unwrap_or(request))
        })
        .await
    };
    let bad = |why: &dyn std::fmt::Display| LlmError::new(ModelFault::BadRequest, why);
    match timeout(time, work).await {
        Ok(Ok(fitted)) => fitted.map_err(|error: PictureError| bad(&error)),
        Ok(Err(error)) => Err(bad(&error)),
        Err(_) => Err(bad(&"the pictures of the request took too long to scale")),
    }
}

fn time(settings: &Settings, usual: Duration) -> Duration {
    let seconds = settings.timeout.filter(|seconds| *seconds > 0.0);
    let time = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    time.unwrap_or(usual)
}

/// With what the configuration says where the request leaves it open.
fn filled(request: &Request, settings: &Settings) -> Request {
    let mut request = request.clone();
    let sampling = &mut request.sampling;
    sampling.temperature = sampling.temperature.or(settings.temperature);
    sampling.top_p = sampling.top_p.or(settings.top_p);
    sampling.top_k = sampling.top_k.or(settings.top_k);
    sampling.seed = sampling.seed.or(settings.seed);
    sampling.max_tokens = sampling.max_tokens.or(settings.max_output_tokens);
    if sampling.reasoning_effort.is_none() {
        sampling
            .reasoning_effort
            .clone_from(&settings.reasoning_effort);
    }
    request
}
