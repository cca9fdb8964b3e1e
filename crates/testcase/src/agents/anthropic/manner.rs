//! How the model is spoken to: by Anthropic's computer tool, in the version that the model knows.

use agon_core::Action;
use agon_llm::{ModelSpec, Part, Reply, Tool};
use serde_json::Value;

use crate::agents::kinds::Named;
use crate::agents::manner::{Done, Manner, Reading, Scene};
use crate::agents::options::Options;
use crate::agents::prompt::{Prompt, Values};
use crate::agents::sight::{Sight, Sizing};
use crate::agents::{called, plain};
use crate::dialect::{Frame, anthropic};

/// Screens that the model is shown unless it is said otherwise.
const PICTURES: usize = 3;

#[derive(Debug)]
pub(in crate::agents) struct Anthropic {
    options: Options,
    prompt: Prompt,
}

impl Named for Anthropic {
    const NAME: &'static str = "anthropic-computer-use";

    fn new(options: Options) -> Result<Self, String> {
        let file = options.prompt().map(std::path::PathBuf::as_path);
        let prompt = Prompt::open(file, include_str!("system.j2"))?;
        Ok(Self { options, prompt })
    }
}

impl Manner for Anthropic {
    fn identity(&self) -> String {
        format!("anthropic {:?} {}", self.options, self.prompt.template())
    }

    fn sizing(&self, model: &ModelSpec) -> Sizing {
        self.options.sizing(model)
    }

    fn window(&self) -> usize {
        self.options.pictures(PICTURES)
    }

    fn answers(&self) -> usize {
        self.options.answers()
    }

    fn system(&self, scene: &Scene<'_>) -> Result<String, String> {
        let values = Values::of(scene, Vec::new(), String::new());
        self.prompt.filled(&values)
    }

    fn tools(&self, scene: &Scene<'_>) -> Vec<Tool> {
        let (width, height) = scene.size;
        vec![Tool::Computer { width, height }]
    }

    fn opening(&self, scene: &Scene<'_>, sight: &Sight) -> Vec<Part> {
        plain::opening(scene, sight)
    }

    fn read(&self, reply: &Reply) -> Reading {
        called::read(reply)
    }

    fn actions(&self, call: &Value, frame: &Frame) -> Result<Vec<Action>, String> {
        anthropic::read(call, frame)
    }

    fn told(&self, done: &[Done]) -> Vec<Part> {
        called::told(done, true)
    }
}
