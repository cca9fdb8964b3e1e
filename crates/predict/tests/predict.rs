//! Models of one's own: what is overridden is used, what is not is there, and what goes wrong has its name.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::sync::atomic::{AtomicUsize, Ordering};

use agon_core::prediction::{MouseAction, MouseActionName};
use agon_llm::config::{Config, ConfigSource};
use agon_llm::{Model, Session, SessionOptions};
use agon_predict::fixtures::Group;
use agon_predict::parse::ParseError;
use agon_predict::{
    ActionModel, Asker, Evaluator, LanguageModel, Options, PredictError, UiAction, Window,
};
use async_trait::async_trait;

fn mock(name: &str) -> Model {
    let spec = Config::load(&ConfigSource::default())
        .unwrap()
        .model(name)
        .unwrap();
    let session = Session::open(&SessionOptions::default()).unwrap();
    session.model(spec).unwrap()
}

/// Asks nobody: says the centre of the active window as `X;Y`, and reads that itself.
#[derive(Debug, Default)]
struct Centre {
    options: Options,
    began: AtomicUsize,
}

#[async_trait]
impl ActionModel for Centre {
    fn options(&self) -> &Options {
        &self.options
    }

    async fn init_model(&mut self) -> Result<(), PredictError> {
        self.began.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn build_prompt(&self, _: &Window, _: &[UiAction], active: &Window) -> String {
        format!(
            "{} {}",
            active.left + active.width / 2,
            active.top + active.height / 2
        )
    }

    async fn get_completion(
        &self,
        prompt: &str,
        asker: &Asker<'_>,
    ) -> Result<String, PredictError> {
        assert_eq!(self.began.load(Ordering::SeqCst), 1);
        let prompt = asker.cut(prompt);
        match prompt.split_once(' ') {
            Some((x, y)) => Ok(format!("{x};{y}")),
            None => Err(PredictError::Own("there is no point in this".to_owned())),
        }
    }

    fn parse_completion(&self, completion: &str) -> Result<Vec<UiAction>, ParseError> {
        let (x, y) = completion.split_once(';').ok_or(ParseError::OnlyThoughts)?;
        Ok(vec![UiAction::Mouse(MouseAction {
            name: MouseActionName::Click,
            mouse_x: x.parse().unwrap(),
            mouse_y: y.parse().unwrap(),
            mouse_button_name: "left".to_owned(),
            mouse_pressed: true,
            element_state: Default::default(),
        })])
    }
}

#[tokio::test]
async fn a_model_that_asks_nobody_is_evaluated() {
    let evaluator = Evaluator::new(Centre::default(), None).await.unwrap();
    let result = evaluator.evaluate_single_action().await.unwrap();
    assert_eq!(
        (result.fixture.as_str(), result.completion.as_str()),
        ("single_mouse", "674;438")
    );
    let prediction = result.score.prediction.unwrap();
    assert!(prediction.parsed && prediction.predicted.len() == 1);
    // Kind and type are right; (674, 438) is 639 of 1350 pixels from (138, 89).
    assert!(
        (0.76..0.77).contains(&result.score.score),
        "{}",
        result.score.score
    );
    assert!(!result.score.passed && result.warnings.is_empty());
}

#[tokio::test]
async fn a_cut_prompt_is_told() {
    let options = Options {
        max_input_size: Some(5),
        ..Options::default()
    };
    let model = Centre {
        options,
        ..Centre::default()
    };
    let evaluator = Evaluator::new(model, None).await.unwrap();
    let result = evaluator.evaluate_single_action().await.unwrap();
    assert_eq!(result.completion, "4;438");
    let told = ["the prompt was cut from 7 to its last 5 characters"];
    assert_eq!(result.warnings, told);
}

#[tokio::test]
async fn what_a_model_itself_fails_to_do_is_its_own_failure() {
    let options = Options {
        max_input_size: Some(2),
        ..Options::default()
    };
    let model = Centre {
        options,
        ..Centre::default()
    };
    let evaluator = Evaluator::new(model, None).await.unwrap();
    let error = evaluator.evaluate_single_action().await.unwrap_err();
    assert!(
        matches!(&error, PredictError::Own(why) if why.contains("no point")),
        "{error}"
    );
}

#[tokio::test]
async fn a_language_model_needs_no_code() {
    for (name, least, most) in [("mock/expected", 1.0, 1.0), ("mock/wrong", 0.0, 0.3)] {
        let model = LanguageModel::new(Options::new(name));
        let evaluator = Evaluator::new(model, Some(mock(name))).await.unwrap();
        for group in Group::ALL {
            let result = evaluator.evaluate(&group.fixture()).await.unwrap();
            assert!(
                (least..=most).contains(&result.score.score),
                "{name}: {result:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_language_model_that_is_not_there_is_named() {
    let model = LanguageModel::new(Options::new("openai/none"));
    let evaluator = Evaluator::new(model, None).await.unwrap();
    let error = evaluator.evaluate_single_action().await.unwrap_err();
    assert!(matches!(error, PredictError::Setup(_)));
    let said = error.to_string();
    assert!(
        said.contains("`openai/none`") && said.contains("get_completion"),
        "{said}"
    );
}

/// Never gets ready.
#[derive(Debug, Default)]
struct Unready(Options);

#[async_trait]
impl ActionModel for Unready {
    fn options(&self) -> &Options {
        &self.0
    }

    async fn init_model(&mut self) -> Result<(), PredictError> {
        Err(PredictError::Setup("the weights are not there".to_owned()))
    }
}

#[tokio::test]
async fn a_model_that_does_not_start_is_not_asked() {
    let error = Evaluator::new(Unready::default(), None).await.unwrap_err();
    assert_eq!(error.to_string(), "the weights are not there");
}
