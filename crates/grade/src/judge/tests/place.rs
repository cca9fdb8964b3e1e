//! What tests of judges need: a judge that is played by a mock, questions, pictures.

use std::sync::Arc;

use agon_core::check::ProseSubject;
use agon_core::{Action, Fault, FaultClass, Judged, Picture, PictureFormat, RanCommand};
use agon_llm::{
    Account, Budget, CallRecord, Model, ModelSpec, Provider, Session, SessionOptions, Settings,
    Wire,
};
use serde_json::{Value, json};

use crate::canned::NoPictures;
use crate::flow::{FlowStep, PictureSource};
use crate::judge::{Judge, JudgeOptions, Question, Shown};

/// A picture of one shade.
pub(in crate::judge) fn png(width: u32, height: u32, shade: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().unwrap();
    let pixels = vec![shade; (width * height) as usize];
    writer.write_image_data(&pixels).unwrap();
    writer.finish().unwrap();
    bytes
}

pub(super) fn spec(provider: Provider, model: &str, base_url: &str) -> ModelSpec {
    ModelSpec {
        name: format!("{}/judge", provider.name()),
        provider,
        wire: Wire::Chat,
        model: model.to_owned(),
        base_url: base_url.to_owned(),
        key: None,
        settings: Settings {
            num_retries: 1,
            ..Settings::default()
        },
    }
}

/// A judge and who pays for it.
pub(super) struct Place {
    _folder: tempfile::TempDir,
    pub(super) judge: Judge,
    pub(super) account: Arc<Account>,
}

impl Place {
    /// Gives these answers in order.
    pub(super) fn answering(answers: &[Value], options: JudgeOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("script.json");
        std::fs::write(&file, json!(answers).to_string()).unwrap();
        let name = format!("script:{}", file.display());
        let session = Session::open(&SessionOptions::default()).unwrap();
        let model = session.model(spec(Provider::Mock, &name, "")).unwrap();
        Self {
            judge: Judge::new(model, options),
            _folder: folder,
            account: Arc::new(Account::of_trial(Budget::default(), None)),
        }
    }

    pub(super) fn of(model: Model, options: JudgeOptions) -> Self {
        Self {
            _folder: tempfile::tempdir().unwrap(),
            judge: Judge::new(model, options),
            account: Arc::new(Account::of_trial(Budget::default(), None)),
        }
    }

    pub(super) async fn ask(&self, question: &Question<'_>) -> Result<(bool, Judged), Fault> {
        self.judge.ask(&self.account, question).await
    }

    pub(super) fn calls(&self) -> Vec<CallRecord> {
        self.account.take_calls()
    }

    /// The bodies that were sent.
    pub(super) fn sent(&self) -> Vec<Value> {
        let body = |call: CallRecord| (*call.request.unwrap()).clone();
        self.calls().into_iter().map(body).collect()
    }
}

pub(super) fn votes(votes: u32) -> JudgeOptions {
    JudgeOptions {
        votes,
        ..JudgeOptions::default()
    }
}

/// What a judge says.
pub(super) fn says(verdict: &str) -> Value {
    let answer = json!({
        "analysis": format!("I say {verdict}."), "confidence": 0.8,
        "evidence": [{ "step": 1, "what": "seen" }], "verdict": verdict,
    });
    json!({ "text": answer.to_string(), "usage": { "input_tokens": 100, "output_tokens": 10 } })
}

pub(super) fn fault(name: &str) -> Value {
    json!({ "fault": name, "why": "the test says so" })
}

pub(super) const NOTHING: Shown<'static> = Shown {
    result: None,
    last: None,
    flow: &[],
    pictures: &NoPictures,
    ran: None,
};

pub(super) fn question<'a>(subject: &'a ProseSubject, shown: Shown<'a>) -> Question<'a> {
    Question {
        instruction: "Count the chairs.",
        subject,
        value: "It says that there are 42.",
        shown,
    }
}

pub(super) fn returned(result: &str) -> Question<'_> {
    let shown = Shown {
        result: Some(result),
        ..NOTHING
    };
    question(&ProseSubject::ReturnedResult, shown)
}

pub(super) fn ran(stdout: &str, stderr: &str) -> RanCommand {
    RanCommand {
        command: "cat notes.txt".into(),
        status: Some(3),
        exit: "exit status 3".into(),
        stdout: stdout.into(),
        stderr: stderr.into(),
        omitted: 0,
        tainted: false,
    }
}

/// A step with a screen of this shade.
pub(super) fn step(number: u32, action: Action, shade: Option<u8>) -> FlowStep {
    FlowStep {
        step: number,
        seq: u64::from(number),
        t: f64::from(number),
        action: Some(action),
        said: None,
        screen: shade.map(|shade| Picture::new(PictureFormat::Png, png(1280, 800, shade))),
        window: None,
    }
}

/// Pictures that have their bytes with them.
#[derive(Debug)]
pub(super) struct Held;

impl PictureSource for Held {
    fn load(&self, picture: &Picture) -> Result<Arc<[u8]>, Fault> {
        let gone = || Fault::new(FaultClass::Evidence, "the picture is gone");
        picture.data().map(Arc::from).ok_or_else(gone)
    }
}

/// All texts of a body's last message, in order, with `[picture]` for each picture.
pub(super) fn text(body: &Value) -> String {
    let content = &body["messages"].as_array().unwrap().last().unwrap()["content"];
    match content {
        Value::String(text) => text.clone(),
        parts => parts
            .as_array()
            .unwrap()
            .iter()
            .map(|part| part["text"].as_str().unwrap_or("[picture]\n"))
            .collect(),
    }
}
