//! Answers requests at the socket, until nobody needs it any more.

use std::convert::Infallible;
use std::io::{Read as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::net::UnixListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::sync::{Notify, oneshot};

use crate::answer::{Answer, Form};
use crate::body::{self, Wanted};
use crate::engine::{Engine, Piece};
use crate::options::Options;
use crate::refusal::Refusal;
use crate::socket::Socket;

const LARGEST_BODY: usize = 16 << 20;

#[derive(Debug, thiserror::Error)]
enum ServeError {
    #[error(transparent)]
    Load(#[from] crate::weights::LoadError),
    #[error(transparent)]
    Socket(#[from] crate::socket::SocketError),
    #[error("the model's thread is gone")]
    Gone,
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

/// Shared by all requests.
#[derive(Debug)]
struct Service {
    engine: Engine,
    model: String,
    answers: AtomicU64,
    at_work: AtomicUsize,
    /// A request came or went.
    moved: Notify,
}

/// A request that is being answered.
#[derive(Debug)]
struct Work(Arc<Service>);

impl Work {
    fn begin(service: &Arc<Service>) -> Self {
        service.at_work.fetch_add(1, Ordering::Relaxed);
        service.moved.notify_one();
        Self(Arc::clone(service))
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        self.0.at_work.fetch_sub(1, Ordering::Relaxed);
        self.0.moved.notify_one();
    }
}

pub(crate) fn run(options: Options) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let served = runtime
        .map_err(ServeError::from)
        .and_then(|runtime| runtime.block_on(serve(options)));
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Whoever started this reads it.
            let _ = writeln!(std::io::stderr(), "agon-local: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(options: Options) -> Result<(), ServeError> {
    let input = end_of_input()?;
    let mut terminated = signal(SignalKind::terminate())?;
    let mut interrupted = signal(SignalKind::interrupt())?;
    let ended = async move {
        tokio::select! {
            _ = input => {}
            _ = terminated.recv() => {}
            _ = interrupted.recv() => {}
        }
    };
    tokio::pin!(ended);
    let idle = Duration::from_secs(options.idle);
    let path = options.socket.clone();
    let name = options.model.file_stem().unwrap_or_default();
    let model = name.to_string_lossy().into_owned();
    let (engine, loaded) = Engine::start(options)?;
    tokio::select! {
        loaded = loaded => loaded.map_err(|_| ServeError::Gone)??,
        () = &mut ended => return Ok(()),
    }
    let (_socket, listener) = Socket::open(&path)?;
    let service = Arc::new(Service {
        engine,
        model,
        answers: AtomicU64::new(0),
        at_work: AtomicUsize::new(0),
        moved: Notify::new(),
    });
    std::io::stdout().write_all(b"ready\n")?;
    std::io::stdout().flush()?;
    tokio::select! {
        done = listen(listener, Arc::clone(&service)) => done?,
        () = idleness(&service, idle) => {}
        () = &mut ended => {}
    }
    Ok(())
}

async fn listen(listener: UnixListener, service: Arc<Service>) -> std::io::Result<()> {
    let router = Router::new()
        .route("/health", get(|| async { Json(json!({"status": "ok"})) }))
        .route("/v1/models", get(models))
        .route("/v1/chat/completions", post(chat))
        .route("/v1/completions", post(completion))
        .fallback(|| async { refused(&Refusal::unknown()) })
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .with_state(service);
    axum::serve(listener, router).await
}

/// Comes back when nothing has been asked for so long.
async fn idleness(service: &Service, idle: Duration) {
    loop {
        let quiet = tokio::time::timeout(idle, service.moved.notified())
            .await
            .is_err();
        if quiet && service.at_work.load(Ordering::Relaxed) == 0 {
            return;
        }
    }
}

/// Who started us holds the other end of our standard input: when it is closed, nobody needs us. On a
/// thread of its own, which a runtime would wait for.
fn end_of_input() -> std::io::Result<oneshot::Receiver<()>> {
    let (ended, is_ended) = oneshot::channel();
    std::thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || {
            let mut input = std::io::stdin().lock();
            let mut some = [0; 256];
            while input.read(&mut some).is_ok_and(|read| read > 0) {}
            let _ = ended.send(());
        })?;
    Ok(is_ended)
}

async fn models(State(service): State<Arc<Service>>) -> Json<Value> {
    let model = json!({"id": service.model, "object": "model", "created": 0, "owned_by": "local"});
    Json(json!({"object": "list", "data": [model]}))
}

async fn chat(State(service): State<Arc<Service>>, bytes: Bytes) -> Response {
    answer(&service, Form::Chat, body::chat(&bytes)).await
}

async fn completion(State(service): State<Arc<Service>>, bytes: Bytes) -> Response {
    answer(&service, Form::Completion, body::completion(&bytes)).await
}

async fn answer(service: &Arc<Service>, form: Form, wanted: Result<Wanted, Refusal>) -> Response {
    let work = Work::begin(service);
    let asked = wanted.and_then(|wanted| {
        let pieces = service.engine.ask(wanted.ask)?;
        Ok((pieces, wanted.stream, wanted.usage_in_stream))
    });
    let (mut pieces, stream, usage) = match asked {
        Ok(asked) => asked,
        Err(refusal) => return refused(&refusal),
    };
    let answer = Answer {
        form,
        id: service.answers.fetch_add(1, Ordering::Relaxed) + 1,
        model: service.model.clone(),
    };
    // A refusal has a status of its own, which must be known before a stream begins.
    let first = match next(&mut pieces).await {
        Piece::Refused(refusal) => return refused(&refusal),
        first => first,
    };
    if stream {
        return streamed(answer, first, pieces, usage, work);
    }
    let mut text = String::new();
    let mut piece = first;
    loop {
        match piece {
            Piece::Text(more) => text.push_str(&more),
            Piece::Done(finish) => return Json(answer.whole(&text, &finish)).into_response(),
            Piece::Refused(refusal) => return refused(&refusal),
        }
        piece = next(&mut pieces).await;
    }
}

async fn next(pieces: &mut UnboundedReceiver<Piece>) -> Piece {
    let gone = || Piece::Refused(Refusal::broken("the answer broke off"));
    pieces.recv().await.unwrap_or_else(gone)
}

fn refused(refusal: &Refusal) -> Response {
    let status = StatusCode::from_u16(refusal.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, Json(refusal.body())).into_response()
}

/// Server-sent events. When the client goes, the stream is dropped, and with it the question.
fn streamed(
    answer: Answer,
    first: Piece,
    pieces: UnboundedReceiver<Piece>,
    usage: bool,
    work: Work,
) -> Response {
    let begin = Some((Some(first), pieces, work));
    let events = futures_util::stream::unfold(begin, move |state| {
        let answer = answer.clone();
        async move {
            let (first, mut pieces, work) = state?;
            let piece = match first {
                Some(first) => first,
                None => next(&mut pieces).await,
            };
            let (events, goes_on) = events(&answer, piece, usage);
            let text: String = events
                .iter()
                .map(|event| format!("data: {event}\n\n"))
                .collect();
            let state = goes_on.then_some((None, pieces, work));
            Some((Ok::<_, Infallible>(text), state))
        }
    });
    let head = [(header::CONTENT_TYPE, "text/event-stream")];
    (head, Body::from_stream(events)).into_response()
}

/// The events for one piece, and whether there will be more.
fn events(answer: &Answer, piece: Piece, usage: bool) -> (Vec<String>, bool) {
    match piece {
        Piece::Text(text) => (vec![answer.piece(&text, None).to_string()], true),
        Piece::Refused(refusal) => (vec![refusal.body().to_string()], false),
        Piece::Done(finish) => {
            let mut events = vec![answer.piece("", Some(&finish)).to_string()];
            if usage {
                events.push(answer.usage_piece(&finish).to_string());
            }
            events.push("[DONE]".to_owned());
            (events, false)
        }
    }
}
