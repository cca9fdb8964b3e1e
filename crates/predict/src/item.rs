//! One thing to predict: the question, and how its answer is scored. Becomes a task like any other.

use std::path::PathBuf;
use std::sync::Arc;

use agon_core::answer::AnswerCheck;
use agon_core::check::{Check, CheckKind};
use agon_core::digest::Hasher;
use agon_core::prediction::{UiAction, Window};
use agon_core::{
    Action, ActionKind, Digest, Environment, EnvironmentKind, HostOnly, Limits, Seconds, Solution,
    Task, TaskId, VerifyOnly,
};
use agon_llm::{AnswerKey, MediaType};

use crate::fixtures::Fixture;
use crate::model::ActionModel;
use crate::own_answer::OwnAnswer;
use crate::score::{ActionAnswer, ActionQuestion, PointUnit, WrongExpectation};

/// The answer to a question is what a model may think about for this long.
const ANSWER: Seconds = Seconds::whole(900);

#[derive(Debug, Clone)]
pub struct Item {
    pub id: TaskId,
    pub question: Question,
    /// The picture of the screen, if there is one: shown to the model.
    pub image: Option<ImageFile>,
    pub check: AnswerCheck,
    /// What `oracle` and the mock models answer.
    pub key: AnswerKey,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Question {
    /// What was done in one window is to be done in the other.
    Windows {
        reference: Window,
        actions: Vec<UiAction>,
        active: Window,
    },
    /// Where to click on a picture.
    Point {
        instruction: String,
        unit: PointUnit,
    },
}

/// A picture on disk, read when it is asked about.
#[derive(Debug, Clone, PartialEq)]
pub struct ImageFile {
    pub path: PathBuf,
    pub media: MediaType,
    pub width: u32,
    pub height: u32,
    pub bytes: u64,
    pub digest: Digest,
}

impl Item {
    /// A fixture or a variant of one, read by the model's own `parse_completion`.
    pub fn of_fixture(
        fixture: &Fixture,
        model: &Arc<dyn ActionModel>,
    ) -> Result<Self, WrongExpectation> {
        let group = fixture.group.name();
        let name = fixture.name.rsplit('/').next().unwrap_or(group);
        // The names of fixtures are names of tasks.
        let id = TaskId::new(group, name).map_err(|_| WrongExpectation::Nothing)?;
        Self::of_windows(id, fixture.into(), None, model)
    }

    pub(crate) fn of_windows(
        id: TaskId,
        question: ActionQuestion,
        image: Option<ImageFile>,
        model: &Arc<dyn ActionModel>,
    ) -> Result<Self, WrongExpectation> {
        let answer = ActionAnswer::new(question.clone())?;
        let key = AnswerKey {
            right: to_text(&question.expected),
            wrong: wrong(&question.expected),
        };
        Ok(Self {
            id,
            question: Question::Windows {
                reference: question.reference_window.unwrap_or_default(),
                actions: question.reference,
                active: question.window,
            },
            image,
            check: AnswerCheck::new(OwnAnswer::new(answer, Arc::clone(model))),
            key,
        })
    }

    pub fn task(&self) -> Task {
        let instruction = match &self.question {
            Question::Windows {
                active, actions, ..
            } => {
                let count = actions.len();
                let what = if count == 1 { "action" } else { "actions" };
                format!("Predict {count} {what} in the window \"{}\".", active.title)
            }
            Question::Point { instruction, .. } => instruction.clone(),
        };
        let check = Check {
            name: None,
            weight: 1.0,
            kind: CheckKind::Answer(self.check.clone()),
        };
        let finish = Action::Finish {
            result: Some(self.key.right.clone()),
        };
        let played = self.played();
        let environment = Environment::of_kind(EnvironmentKind::None);
        Task {
            name: self.id.to_string(),
            limits: Limits {
                steps: 1,
                seconds: ANSWER,
                step: ANSWER,
                ..Limits::default()
            },
            actions: vec![ActionKind::Finish],
            checks: VerifyOnly::new(vec![check]),
            solution: HostOnly::new(Some(Solution::Actions(vec![finish]))),
            digest: Digest::of_parts([&played.bytes()[..], self.check.digest().bytes()]),
            played,
            ..Task::plain(self.id.clone(), instruction, environment)
        }
    }

    /// Over what the model is asked.
    fn played(&self) -> Digest {
        let mut hasher = Hasher::default();
        let mut part = |text: &str| hasher.part(text.as_bytes());
        part("prediction 1");
        match &self.question {
            Question::Windows {
                reference,
                actions,
                active,
            } => {
                let text = serde_json::to_string(&(reference, actions, active));
                part(&text.unwrap_or_default());
            }
            Question::Point { instruction, unit } => {
                part(instruction);
                part(unit.name());
            }
        }
        if let Some(image) = &self.image {
            hasher.part(image.digest.bytes());
        }
        hasher.finish()
    }
}

fn to_text(actions: &[UiAction]) -> String {
    serde_json::to_string(actions).unwrap_or_default()
}

/// Valid actions, none of which is right: keys for the mouse, the mouse for keys.
fn wrong(expected: &[UiAction]) -> String {
    let other = |action: &UiAction| match action {
        UiAction::Mouse(_) => serde_json::json!({ "name": "press", "key_name": "f24" }),
        UiAction::Key(_) => serde_json::json!({
            "name": "move", "mouse_x": -1, "mouse_y": -1,
            "mouse_button_name": "left", "mouse_pressed": false,
        }),
    };
    serde_json::Value::Array(expected.iter().map(other).collect()).to_string()
}
