//! One trial without an engine: what the model says is given, what the environment says is given.

use std::sync::Arc;

use agon_agent::{Agent as _, AgentError, Answer, Reply};
use agon_core::observation::ObservationKind;
use agon_core::{Action, Brief, EnvironmentKind, Observation, Seconds};
use agon_llm::config::{Config, ConfigSource, Environment as Variables};
use agon_llm::{Account, Budget, Session, SessionOptions};
use serde_json::{Value, json};

use crate::codeact::{CodeAct, CodeActContender, Options, Past};

pub(super) struct Play {
    pub(super) agent: CodeAct,
    pub(super) account: Arc<Account>,
    _folder: tempfile::TempDir,
}

/// What a play is made from.
#[derive(Default)]
pub(super) struct Setup<'a> {
    /// Sections beside `[llm.test]`.
    pub(super) toml: &'a str,
    /// Keys of `[llm.test]`.
    pub(super) model: &'a str,
    pub(super) answers: Vec<Value>,
    /// Of a second model, `[llm.small]`.
    pub(super) small: Vec<Value>,
    pub(super) tokens: Option<u64>,
    pub(super) played: Vec<Action>,
    pub(super) past: Option<Past>,
    pub(super) no_model: bool,
    /// A model of a service in its place, which nobody answers for.
    pub(super) service: Option<&'a str>,
}

fn brief() -> Brief {
    Brief {
        trial: "0123".to_owned(),
        instruction: "Print hello.".to_owned(),
        actions: EnvironmentKind::Local.default_actions().to_vec(),
        environment: "local".to_owned(),
        max_steps: 20,
        max_seconds: Seconds::whole(60),
        seed: 7,
    }
}

impl Play {
    pub(super) async fn of(setup: Setup<'_>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = |name: &str, answers: &[Value]| {
            let path = folder.path().join(name);
            let answers = if answers.is_empty() {
                &[json!("ok")][..]
            } else {
                answers
            };
            std::fs::write(&path, Value::from(answers.to_vec()).to_string()).unwrap();
            path.display().to_string()
        };
        let text = format!(
            "{}\n[llm.test]\nmodel = \"mock/script:{}\"\n{}\n[llm.small]\nmodel = \"mock/script:{}\"\n",
            setup.toml,
            script("test.json", &setup.answers),
            setup.model,
            script("small.json", &setup.small),
        );
        let file = folder.path().join("config.toml");
        std::fs::write(&file, text).unwrap();
        let source = ConfigSource {
            file: Some(file),
            folder: folder.path().to_owned(),
            environment: Variables::default(),
        };
        let config = Arc::new(Config::load(&source).unwrap());
        let tape = folder.path().join("tape.jsonl");
        std::fs::write(&tape, "").unwrap();
        let session = Session::open(&SessionOptions {
            replay: setup.service.map(|_| tape),
            ..SessionOptions::default()
        });
        let session = session.unwrap();
        let model = config.model(setup.service.unwrap_or("test")).unwrap();
        let model = session.model(model).unwrap();
        let variables = Variables::default();
        let options = Options::of(Some(&config), Some(&session), &variables).unwrap();
        let model = (!setup.no_model).then_some(model);
        let mut contender = CodeActContender::new(options, model).with_script(setup.played);
        if let Some(past) = setup.past {
            contender = contender.with_past(Arc::new(past));
        }
        let budget = Budget {
            tokens: setup.tokens,
            money: None,
        };
        let account = Arc::new(Account::of_trial(budget, None));
        let mut agent = contender.agent(&account);
        agent.start(&brief()).await.unwrap();
        Self {
            agent,
            account,
            _folder: folder,
        }
    }

    pub(super) async fn says(answers: impl IntoIterator<Item = Value>) -> Self {
        Self::of(Setup {
            answers: answers.into_iter().collect(),
            ..Setup::default()
        })
        .await
    }

    pub(super) async fn first(&mut self) -> Reply {
        self.then(&Observation::ready("")).await
    }

    pub(super) async fn then(&mut self, observation: &Observation) -> Reply {
        match self.agent.act(observation).await.unwrap() {
            Answer::Reply(reply) => reply,
            other @ Answer::NotAnAction { .. } => panic!("{other:?}"),
        }
    }

    /// The reason why what the model said was refused.
    pub(super) async fn refused(&mut self, observation: &Observation) -> String {
        match self.agent.act(observation).await.unwrap() {
            Answer::NotAnAction { why, .. } => why,
            Answer::Reply(reply) => panic!("{reply:?}"),
        }
    }

    pub(super) async fn fails(&mut self, observation: &Observation) -> AgentError {
        self.agent.act(observation).await.unwrap_err()
    }

    /// The bodies of the questions since the last time.
    pub(super) fn asked(&self) -> Vec<Value> {
        let calls = self.account.take_calls();
        let requests = calls.iter().map(|call| call.request.as_deref().cloned());
        requests.map(Option::unwrap_or_default).collect()
    }

    /// The messages of the last question, without the system prompt.
    pub(super) fn shown(&self) -> Vec<Value> {
        let body = self.asked().pop().unwrap();
        body["messages"].as_array().unwrap()[1..].to_vec()
    }

    /// So many commands, each in an answer of its own; the last result is not given yet.
    pub(super) async fn commands(&mut self, count: usize) -> Vec<Reply> {
        let mut replies = vec![self.first().await];
        for n in 1..count {
            replies.push(self.then(&output(&format!("result {n}"), 0)).await);
        }
        replies
    }
}

pub(super) fn call(name: &str, input: Value) -> Value {
    json!({"tool_calls": [{"name": name, "input": input}]})
}

pub(super) fn bash(command: &str) -> Value {
    call("execute_bash", json!({"command": command}))
}

/// The same command for ever.
pub(super) fn endless() -> Vec<Value> {
    vec![bash("ls")]
}

pub(super) fn output(text: &str, exit: i32) -> Observation {
    let mut seen = Observation::new(ObservationKind::Output, text);
    seen.exit_status = Some(exit);
    seen.cwd = Some("/work".to_owned());
    seen
}
