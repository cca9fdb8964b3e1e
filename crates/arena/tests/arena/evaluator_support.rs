//! An evaluator that does what a task asks for in its criteria, and a client that waits for results.

use std::collections::HashMap;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use agon_arena::{
    EvaluationResult, Evaluator, EvaluatorServer, JudgeError, Judging, Server, ServerOptions, Task,
};
use serde_json::{Map, Value, json};

use super::evaluator_agent::FakeAgent;

/// Far beyond what anything here takes: who waits so long has failed.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// A door that hooks wait at until a test opens it.
#[derive(Default)]
pub(super) struct Door {
    open: Mutex<bool>,
    changed: Condvar,
}

impl Door {
    pub(super) fn open(&self) {
        *self.open.lock().unwrap() = true;
        self.changed.notify_all();
    }

    fn pass(&self) {
        let open = self.open.lock().unwrap();
        let waited = self
            .changed
            .wait_timeout_while(open, PATIENCE, |open| !*open);
        assert!(!waited.unwrap().1.timed_out(), "nobody opened the door");
    }
}

/// Each hook looks at `success_criteria.NAME`: `error`, `panic`, `end`, `wait` (at the task's door,
/// then goes on), `wait_end`; anything else is well.
#[derive(Clone, Default)]
pub(super) struct Scripted {
    doors: Arc<Mutex<HashMap<String, Arc<Door>>>>,
    entered: Arc<Mutex<Vec<(&'static str, String)>>>,
    /// Hook and task of every call that has come back.
    calls: Arc<Mutex<Vec<(&'static str, String)>>>,
}

impl Scripted {
    pub(super) fn door(&self, task: &str) -> Arc<Door> {
        let mut doors = self.doors.lock().unwrap();
        Arc::clone(doors.entry(task.to_owned()).or_default())
    }

    pub(super) fn count(&self, hook: &str, task: &str) -> usize {
        let calls = self.calls.lock().unwrap();
        let meant = |call: &&(&str, String)| call.0 == hook && call.1 == task;
        calls.iter().filter(meant).count()
    }

    pub(super) fn has_entered(&self, hook: &'static str, task: &str) -> bool {
        let entered = self.entered.lock().unwrap();
        entered.contains(&(hook, task.to_owned()))
    }

    /// Says whether the environment goes on.
    fn act(&self, hook: &'static str, task: &Task) -> Result<bool, JudgeError> {
        let call = (hook, task.task_id.clone());
        self.entered.lock().unwrap().push(call.clone());
        let script = task.success_criteria.get(hook).and_then(Value::as_str);
        let goes_on = match script {
            Some("error") => return Err(JudgeError::Evaluator("broken on purpose".to_owned())),
            Some("panic") => panic!("on purpose"),
            Some("end") => false,
            Some("wait") => {
                self.door(&task.task_id).pass();
                true
            }
            Some("wait_end") => {
                self.door(&task.task_id).pass();
                false
            }
            _ => true,
        };
        self.calls.lock().unwrap().push(call);
        Ok(goes_on)
    }
}

impl Evaluator for Scripted {
    fn setup_environment(&self, task: &Task, _: &Judging) -> Result<(), JudgeError> {
        self.act("setup", task).map(drop)
    }

    fn check_env_continue(&self, task: &Task, _: &Judging) -> Result<bool, JudgeError> {
        self.act("check", task)
    }

    fn check_env_continue_timer(&self, task: &Task, _: &Judging) -> Result<bool, JudgeError> {
        self.act("timer", task)
    }

    fn score_task(
        &self,
        task: &Task,
        elapsed: Duration,
        note: &str,
        _: &Judging,
    ) -> Result<EvaluationResult, JudgeError> {
        self.act("score", task)?;
        let metrics = json!({
            "task_elapsed_time": elapsed.as_secs_f64(), "success": true, "score": 1,
        });
        Ok(EvaluationResult {
            task_id: task.task_id.clone(),
            metrics: metrics.as_object().cloned().unwrap_or_default(),
            notes: Some(note.to_owned()),
        })
    }
}

/// Who asks an evaluator server.
pub(super) struct Client {
    pub(super) server: Server,
    pub(super) http: reqwest::Client,
}

/// An evaluator server with an agent, and who asks it.
pub(super) struct Pair {
    pub(super) evaluator: Scripted,
    pub(super) agent: FakeAgent,
    pub(super) client: Client,
}

impl Deref for Pair {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// A server that looks at no screen, whatever this machine has.
pub(super) fn options() -> ServerOptions {
    ServerOptions {
        panic_key: None,
        ..ServerOptions::default()
    }
}

pub(super) fn task(id: &str, criteria: Value) -> Value {
    json!({
        "task_id": id, "env_name": "test", "window_name": "none", "task_description": "play",
        "timeout": 3600, "check_env_interval_seconds": 0.05, "success_criteria": criteria,
    })
}

impl Pair {
    pub(super) async fn start() -> Self {
        Self::reporting(None).await
    }

    pub(super) async fn reporting(report: Option<PathBuf>) -> Self {
        let evaluator = Scripted::default();
        let server = EvaluatorServer::start(evaluator.clone(), &options(), report).unwrap();
        let pair = Self::of(evaluator, server);
        assert_eq!(pair.register().await.0, 200);
        pair
    }

    /// An agent beside a server that does not know it yet.
    pub(super) fn of(evaluator: Scripted, server: Server) -> Self {
        Self {
            evaluator,
            agent: FakeAgent::start(server.url()),
            client: Client::new(server),
        }
    }

    pub(super) async fn register(&self) -> (u16, Value) {
        self.client.register(&self.agent.url()).await
    }
}

impl Client {
    pub(super) fn new(server: Server) -> Self {
        Self {
            server,
            // No connection is used twice: the server closes idle ones, perhaps in the moment of a request.
            http: agon_llm::plain_http()
                .pool_max_idle_per_host(0)
                .build()
                .unwrap(),
        }
    }

    pub(super) async fn register(&self, agent: &str) -> (u16, Value) {
        let body = json!({ "agent_url": agent });
        self.post("/evaluator/register_agent", Some(body)).await
    }

    pub(super) async fn post(&self, path: &str, body: Option<Value>) -> (u16, Value) {
        let request = self.http.post(format!("{}{path}", self.server.url()));
        let request = match body {
            Some(body) => request.json(&body),
            None => request,
        };
        answer(request).await
    }

    pub(super) async fn get(&self, path: &str) -> (u16, Value) {
        answer(self.http.get(format!("{}{path}", self.server.url()))).await
    }

    pub(super) async fn begin(&self, task: Value) -> (u16, Value) {
        self.post("/evaluator/evaluation/start", Some(task)).await
    }

    pub(super) async fn finished(&self, body: Option<Value>) -> (u16, Value) {
        self.post("/evaluator/agent_finished", body).await
    }

    pub(super) async fn state(&self) -> String {
        let (_, status) = self.get("/evaluator/status").await;
        status["state"].as_str().unwrap().to_owned()
    }

    pub(super) async fn results(&self) -> (u16, Value) {
        self.get("/evaluator/evaluation/results").await
    }

    /// Starts a task and waits for its record.
    pub(super) async fn evaluate(&self, task: Value) -> Value {
        let id = task["task_id"].as_str().unwrap().to_owned();
        let (status, said) = self.begin(task).await;
        assert_eq!(status, 200, "{said}");
        self.record(&id).await
    }

    pub(super) async fn record(&self, id: &str) -> Value {
        let path = format!("/evaluator/evaluation/results/{id}");
        let record = async |()| match self.get(&path).await {
            (200, record) => Some(record),
            (204, _) => None,
            other => panic!("{id}: {other:?}"),
        };
        until(record).await
    }

    pub(super) async fn until_state(&self, wanted: &str) {
        until(async |()| (self.state().await == wanted).then_some(())).await;
    }
}

async fn answer(request: reqwest::RequestBuilder) -> (u16, Value) {
    let response = request.timeout(PATIENCE).send().await.unwrap();
    let status = response.status().as_u16();
    let body = response.bytes().await.unwrap();
    (status, serde_json::from_slice(&body).unwrap_or(Value::Null))
}

/// Asks again and again.
pub(super) async fn until<T>(ask: impl AsyncFn(()) -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(answer) = ask(()).await {
            return answer;
        }
        assert!(began.elapsed() < PATIENCE, "it never came");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

pub(super) fn keys(object: &Value) -> Vec<&String> {
    object.as_object().map(Map::keys).unwrap().collect()
}
