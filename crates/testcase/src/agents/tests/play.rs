//! One trial without an engine.

use std::sync::Arc;

use agon_agent::{Agent as _, AgentError, AgentSpec, Answer, Reply};
use agon_core::{
    Action, ActionKind, Brief, EnvironmentKind, Observation, Picture, PictureFormat, Purpose,
    ScreenPoint, ScreenView, Seconds,
};
use agon_llm::config::{Config, ConfigSource, Environment as Variables};
use agon_llm::{Account, Budget, Model, Session, SessionOptions};
use serde_json::Value;

use crate::agents::agent::GuiAgent;
use crate::agents::manner::Manner;

pub(in crate::agents) struct Play {
    agent: GuiAgent,
    account: Arc<Account>,
    _folder: tempfile::TempDir,
}

/// What a play is made from.
#[derive(Default)]
pub(in crate::agents) struct Setup<'a> {
    /// What the model says, in order: the last one again and again.
    pub(in crate::agents) answers: Vec<Value>,
    /// Kinds that the task allows beside those of every desktop.
    pub(in crate::agents) also: &'a [ActionKind],
    pub(in crate::agents) tokens: Option<u64>,
}

fn brief(also: &[ActionKind]) -> Brief {
    let mut actions = EnvironmentKind::Desktop.default_actions().to_vec();
    actions.extend(also);
    Brief {
        trial: "0123".to_owned(),
        instruction: "Open the door.".to_owned(),
        actions,
        environment: "desktop".to_owned(),
        max_steps: 20,
        max_seconds: Seconds::whole(60),
        seed: 7,
    }
}

/// The model that `text`, a table of `config.toml`, names.
pub(in crate::agents) fn model(folder: &std::path::Path, text: &str) -> Model {
    let file = folder.join("config.toml");
    std::fs::write(&file, format!("[llm.test]\n{text}\n")).unwrap();
    let source = ConfigSource {
        file: Some(file),
        folder: folder.to_owned(),
        environment: Variables::default(),
    };
    let config = Config::load(&source).unwrap();
    let session = Session::open(&SessionOptions::default()).unwrap();
    session.model(config.model("test").unwrap()).unwrap()
}

impl Play {
    pub(in crate::agents) async fn of(manner: Arc<dyn Manner>, setup: Setup<'_>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("answers.json");
        std::fs::write(&script, Value::from(setup.answers).to_string()).unwrap();
        let text = format!(
            "model = \"mock/script:{}\"\nnum_retries = 1",
            script.display()
        );
        let budget = Budget {
            tokens: setup.tokens,
            money: None,
        };
        let account = Arc::new(Account::of_trial(budget, None));
        let model = model(folder.path(), &text).on(&account, Purpose::Agent);
        let mut agent = GuiAgent::new(manner, model);
        agent.start(&brief(setup.also)).await.unwrap();
        Self {
            agent,
            account,
            _folder: folder,
        }
    }

    /// What comes of an observation.
    pub(in crate::agents) async fn act(
        &mut self,
        seen: &Observation,
    ) -> Result<Answer, AgentError> {
        self.agent.act(seen).await
    }

    #[track_caller]
    pub(in crate::agents) fn reply(answer: Result<Answer, AgentError>) -> Reply {
        match answer {
            Ok(Answer::Reply(reply)) => reply,
            other => panic!("no action: {other:?}"),
        }
    }

    pub(in crate::agents) async fn does(&mut self, seen: &Observation) -> Action {
        Self::reply(self.act(seen).await).action
    }

    /// What was written and why it is no action.
    pub(in crate::agents) async fn refused(&mut self, seen: &Observation) -> (String, String) {
        match self.act(seen).await {
            Ok(Answer::NotAnAction { text, why, .. }) => (text, why),
            other => panic!("not refused: {other:?}"),
        }
    }

    /// The bodies of the questions since the last time.
    pub(in crate::agents) fn asked(&self) -> Vec<Value> {
        let calls = self.account.take_calls().into_iter();
        calls
            .filter_map(|call| Some(call.request?.as_ref().clone()))
            .collect()
    }
}

/// The screen, all of one shade, with the pointer at (5, 6).
pub(in crate::agents) fn screen(width: u32, height: u32, shade: u8) -> Observation {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().unwrap();
    let pixels = vec![shade; width as usize * height as usize];
    writer.write_image_data(&pixels).unwrap();
    writer.finish().unwrap();
    let mut seen = Observation::done();
    seen.screen = Some(ScreenView {
        width,
        height,
        cursor: Some(ScreenPoint { x: 5, y: 6 }),
        window: None,
        picture: Picture::new(PictureFormat::Png, bytes),
    });
    seen
}

/// Whether a spec is one of ours.
#[track_caller]
pub(in crate::agents) fn known(spec: &str) -> Result<AgentSpec, agon_agent::SetupError> {
    AgentSpec::parse_among(spec, crate::agents::KINDS)
}
