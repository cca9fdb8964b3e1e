//! The seed's way in: a model of one's own, one call, a score. For whole suites, reports and resuming there
//! is `agon predict`.

use std::sync::Arc;

use agon_core::answer::AnswerScore;
use agon_llm::Model;

use crate::ask::ask;
use crate::fixtures::{Fixture, Group};
use crate::item::Item;
use crate::model::{ActionModel, PredictError};

/// What a model predicted, and what that is worth.
#[derive(Debug, Clone)]
pub struct Evaluation {
    /// `single_mouse`
    pub fixture: String,
    pub completion: String,
    pub score: AnswerScore,
    /// Such as that the prompt was cut.
    pub warnings: Vec<String>,
}

/// Evaluates a model outside of any run.
#[derive(Debug)]
pub struct Evaluator<M> {
    model: Arc<M>,
    llm: Option<Model>,
}

impl<M: ActionModel + 'static> Evaluator<M> {
    /// Initialises the model. `llm` is what [`ActionModel::get_completion`] asks unless it is overridden.
    pub async fn new(mut model: M, llm: Option<Model>) -> Result<Self, PredictError> {
        model.init_model().await?;
        Ok(Self {
            model: Arc::new(model),
            llm,
        })
    }

    /// The first fixture: one click.
    pub async fn evaluate_single_action(&self) -> Result<Evaluation, PredictError> {
        self.evaluate(&Group::SingleMouse.fixture()).await
    }

    pub async fn evaluate(&self, fixture: &Fixture) -> Result<Evaluation, PredictError> {
        let model: Arc<dyn ActionModel> = Arc::clone(&self.model) as _;
        let item = Item::of_fixture(fixture, &model)
            .map_err(|error| PredictError::Own(error.to_string()))?;
        let asked = ask(model.as_ref(), self.llm.as_ref(), &item).await;
        let completion = asked.answer?;
        Ok(Evaluation {
            fixture: fixture.name.clone(),
            score: item.check.judge(Some(&completion)),
            completion,
            warnings: asked.warnings,
        })
    }
}
