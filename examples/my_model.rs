//! A model of one's own that predicts actions, after the class of the guide that `agon predict` was made
//! after: what differs is overridden, the rest is there. In place of a network there is a rule, which a real
//! one would have to learn.
//!
//! ```text
//! cargo run --example my_model
//! ```
//!
//! A model that Agon can talk to needs no code at all: `agon predict --model NAME`.

use std::error::Error;
use std::io::Write as _;

use agon::predict::prompt::literal;
use agon::predict::{ActionModel, Asker, Evaluator, Options, PredictError, UiAction, Window};
use async_trait::async_trait;

const MAX_SCREEN_SIZE: (u32, u32) = (1920, 1080);
const MAX_INPUT_SIZE: usize = 1024;
const MAX_TOKENS: u64 = 1024;

#[derive(Debug)]
struct MyFineTunedModel {
    options: Options,
    model: Option<Weights>,
}

impl MyFineTunedModel {
    fn new(model_name: &str) -> Self {
        Self {
            options: Options {
                model_name: model_name.to_owned(),
                max_input_size: Some(MAX_INPUT_SIZE),
                max_tokens: MAX_TOKENS,
                max_screen_size: MAX_SCREEN_SIZE,
            },
            model: None,
        }
    }
}

#[async_trait]
impl ActionModel for MyFineTunedModel {
    fn options(&self) -> &Options {
        &self.options
    }

    async fn init_model(&mut self) -> Result<(), PredictError> {
        self.model = Some(Weights::from_pretrained(&self.options.model_name));
        Ok(())
    }

    async fn get_completion(
        &self,
        prompt: &str,
        asker: &Asker<'_>,
    ) -> Result<String, PredictError> {
        let model = self.model.as_ref();
        let model = model.ok_or_else(|| PredictError::Setup("there is no model yet".to_owned()))?;
        // Cut from the left if it is too long, which is told with the result.
        let answer = model.generate(asker.cut(prompt));
        answer.ok_or_else(|| PredictError::Own("the prompt holds no numbers".to_owned()))
    }

    fn build_prompt(&self, reference: &Window, actions: &[UiAction], active: &Window) -> String {
        format!(
            "ref_window={} action={} active_window={} # Provide valid Python3 code containing the \
             action dicts by completing the following, and nothing else: active_action_dict=",
            literal(reference),
            literal(actions),
            literal(active)
        )
    }

    // `parse_completion` takes Python, JSON and text around them as it is.
}

/// What has been learnt: points move with their window.
#[derive(Debug)]
struct Weights {
    name: String,
}

impl Weights {
    fn from_pretrained(name: &str) -> Self {
        Self {
            name: name.to_owned(),
        }
    }

    fn generate(&self, prompt: &str) -> Option<String> {
        let (left, top) = (numbers(prompt, "left"), numbers(prompt, "top"));
        let x = numbers(prompt, "mouse_x").first()? + left.last()? - left.first()?;
        let y = numbers(prompt, "mouse_y").first()? + top.last()? - top.first()?;
        Some(format!(
            "{{'name': 'click', 'mouse_x': {x}, 'mouse_y': {y}, 'mouse_button_name': 'left', \
             'mouse_pressed': True}}  # by {}",
            self.name
        ))
    }
}

/// The numbers of a field, in the order in which they stand there.
fn numbers(prompt: &str, field: &str) -> Vec<f64> {
    let before = format!("'{field}': ");
    let values = prompt.split(&before).skip(1);
    values
        .filter_map(|rest| rest.split([',', '}']).next()?.parse().ok())
        .collect()
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let result = runtime.block_on(async {
        let evaluation = Evaluator::new(MyFineTunedModel::new("my-fine-tuned-model"), None).await?;
        evaluation.evaluate_single_action().await
    })?;
    let mut out = std::io::stdout();
    for warning in &result.warnings {
        writeln!(out, "warning: {warning}")?;
    }
    writeln!(out, "{}: {}", result.fixture, result.completion)?;
    writeln!(out, "score {}: {}", result.score.score, result.score.reason)?;
    Ok(())
}
