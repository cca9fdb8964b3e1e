//! A desktop with an agent server on it, an evaluator that only listens, and agents made of closures.

use std::net::TcpListener;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use agon_arena::wire::path;
use agon_arena::{
    Agent, AgentServer, Flow, Play, PlayError, ProcessAgent, Server, ServerOptions, Task,
};
use agon_core::InputKind;
use agon_desktop::{Desktop, DesktopConfig, DisplayAddress, InputLog};
use axum::Router;
use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::routing::post;
use serde_json::{Value, json};

/// Far beyond what anything here takes: who waits so long has failed.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// A door that an agent waits at, deaf to everything else, until a test opens it.
#[derive(Clone, Default)]
pub(super) struct Door {
    open: Arc<(Mutex<bool>, Condvar)>,
}

impl Door {
    pub(super) fn open(&self) {
        *self.open.0.lock().unwrap() = true;
        self.open.1.notify_all();
    }

    pub(super) fn pass(&self) {
        let open = self.open.0.lock().unwrap();
        let waited = self
            .open
            .1
            .wait_timeout_while(open, PATIENCE, |open| !*open);
        assert!(!waited.unwrap().1.timed_out(), "nobody opened the door");
    }
}

type Init = Box<dyn FnMut(&Task, &mut Play) -> Result<(), PlayError> + Send>;
type Step = Box<dyn FnMut(&Task, &mut Play) -> Flow + Send>;

/// Does nothing but what it is told to.
pub(super) struct Closures {
    pub(super) init: Init,
    pub(super) step: Step,
    pub(super) finish: Box<dyn FnMut(&Task) + Send>,
}

impl Closures {
    pub(super) fn step(step: impl FnMut(&Task, &mut Play) -> Flow + Send + 'static) -> Self {
        Self {
            init: Box::new(|_, _| Ok(())),
            step: Box::new(step),
            finish: Box::new(|_| ()),
        }
    }
}

impl Agent for Closures {
    fn init_task(&mut self, task: &Task, play: &mut Play) -> Result<(), PlayError> {
        (self.init)(task, play)
    }

    fn play_env(&mut self, task: &Task, play: &mut Play) -> Flow {
        (self.step)(task, play)
    }

    fn finish_task(&mut self, task: &Task) {
        (self.finish)(task);
    }
}

/// A word that came to the evaluator, and the token with it.
#[derive(Debug)]
pub(super) struct Word {
    pub(super) body: Value,
    pub(super) token: Option<String>,
}

/// An evaluator that does nothing but listen, on other threads than who waits for it.
pub(super) struct Ear {
    pub(super) url: String,
    words: Receiver<Word>,
}

impl Ear {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let (tell, words) = channel();
        tokio::spawn(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            let hear = move |headers: HeaderMap, body: Bytes| {
                std::future::ready(hear(&tell, &headers, &body))
            };
            let router = Router::new().route(path::EVALUATOR_AGENT_FINISHED, post(hear));
            serve(listener, router).await;
        });
        Self { url, words }
    }

    pub(super) fn hear(&self) -> Word {
        self.words.recv_timeout(PATIENCE).unwrap()
    }

    /// What has come so far and was not taken.
    pub(super) fn heard(&self) -> Vec<Word> {
        self.words.try_iter().collect()
    }
}

fn hear(tell: &Sender<Word>, headers: &HeaderMap, body: &[u8]) -> &'static str {
    let token = headers.get("authorization");
    let token = token.map(|token| token.to_str().unwrap().to_owned());
    let body = serde_json::from_slice(body).unwrap();
    let _ = tell.send(Word { body, token });
    "{}"
}

async fn serve(listener: tokio::net::TcpListener, router: Router) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let service = hyper_util::service::TowerToHyperService::new(router.clone());
        tokio::spawn(async move {
            let stream = hyper_util::rt::TokioIo::new(stream);
            let http = hyper::server::conn::http1::Builder::new();
            let _ = http.serve_connection(stream, service).await;
        });
    }
}

/// A server and who speaks to it.
pub(super) struct Stage {
    pub(super) server: Server,
    pub(super) ear: Ear,
    pub(super) client: reqwest::Client,
}

/// A display that is not there.
pub(super) fn nowhere() -> ServerOptions {
    ServerOptions {
        desktop: Some(DisplayAddress::Named(":4999".to_owned())),
        ..ServerOptions::default()
    }
}

pub(super) fn on(desktop: &Desktop) -> ServerOptions {
    ServerOptions {
        desktop: Some(desktop.address().clone()),
        ..ServerOptions::default()
    }
}

pub(super) fn task(id: &str) -> Value {
    json!({
        "task_id": id, "env_name": "test", "window_name": "none", "task_description": "play",
        "timeout": 3600, "success_criteria": {},
    })
}

impl Stage {
    pub(super) fn of(server: Server) -> Self {
        Self {
            server,
            ear: Ear::start(),
            // No connection is used twice: the server closes idle ones, perhaps in the moment of a request.
            client: agon_llm::plain_http()
                .pool_max_idle_per_host(0)
                .build()
                .unwrap(),
        }
    }

    /// Agents as they are needed, and an evaluator that is known.
    pub(super) async fn with(
        options: &ServerOptions,
        make: impl Fn() -> Closures + Send + Sync + 'static,
    ) -> Self {
        let server = AgentServer::start(move || Box::new(make()), options).unwrap();
        let stage = Self::of(server);
        assert_eq!(stage.register().await, 200);
        stage
    }

    pub(super) async fn in_process(desktop: &Desktop, agent: ProcessAgent) -> Self {
        let stage = Self::of(AgentServer::start_process(agent, &on(desktop)).unwrap());
        assert_eq!(stage.register().await, 200);
        stage
    }

    pub(super) async fn register(&self) -> u16 {
        let body = json!({ "evaluator_url": self.ear.url });
        self.post(path::AGENT_REGISTER_EVALUATOR, Some(body))
            .await
            .0
    }

    pub(super) async fn post(&self, path: &str, body: Option<Value>) -> (u16, Value) {
        let mut request = self.client.post(format!("{}{path}", self.server.url()));
        if let Some(body) = body {
            request = request.json(&body);
        }
        let answer = request.send().await.unwrap();
        let status = answer.status().as_u16();
        (status, answer.json().await.unwrap())
    }

    pub(super) async fn start(&self, id: &str) {
        let (status, body) = self.post(path::AGENT_TASK_START, Some(task(id))).await;
        assert_eq!(status, 200, "{body}");
    }

    pub(super) async fn stop(&self) -> (u16, Value) {
        self.post(path::AGENT_TASK_STOP, None).await
    }

    pub(super) async fn status(&self) -> Value {
        let url = format!("{}{}", self.server.url(), path::AGENT_STATUS);
        self.client
            .get(url)
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap()
    }

    pub(super) async fn state(&self) -> String {
        self.status().await["state"].as_str().unwrap().to_owned()
    }

    pub(super) async fn wait_for(&self, state: &str) {
        let began = Instant::now();
        while self.state().await != state {
            assert!(began.elapsed() < PATIENCE, "{}", self.status().await);
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

/// A desktop with a record of all keys on it.
pub(super) struct Keys {
    pub(super) desktop: Desktop,
    log: InputLog,
}

impl Keys {
    pub(super) fn start() -> Self {
        let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
        let log = desktop.input_log().unwrap();
        Self { desktop, log }
    }

    pub(super) fn options(&self) -> ServerOptions {
        on(&self.desktop)
    }

    /// Keys that went down (true) and up since this was called last.
    pub(super) fn seen(&self) -> Vec<(String, bool)> {
        self.log.sync(PATIENCE).unwrap();
        let key = |event: agon_desktop::InputEvent| match event.kind {
            InputKind::KeyPress => Some((event.key?, true)),
            InputKind::KeyRelease => Some((event.key?, false)),
            _ => None,
        };
        self.log.take().0.into_iter().filter_map(key).collect()
    }

    pub(super) fn are_down(&self) -> bool {
        !self.desktop.keyboard().state().unwrap().keys.is_empty()
    }

    pub(super) async fn wait_until(&self, down: bool) {
        let began = Instant::now();
        while self.are_down() != down {
            assert!(
                began.elapsed() < PATIENCE,
                "keys never were as they should be"
            );
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}
