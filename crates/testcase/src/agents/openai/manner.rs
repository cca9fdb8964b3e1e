//! How the model is spoken to: by OpenAI's computer tool, whose calls are answered with screens alone.

use agon_core::Action;
use agon_llm::{Image, MediaType, Model, ModelSpec, Part, Provider, Reply, Tool, Wire};
use serde_json::Value;

use crate::agents::kinds::Named;
use crate::agents::manner::{Done, Manner, Reading, Scene};
use crate::agents::options::Options;
use crate::agents::prompt::{Prompt, Values};
use crate::agents::sight::{Sight, Sizing};
use crate::agents::{called, plain};
use crate::dialect::{Frame, openai};

/// Screens that the model is shown unless it is said otherwise.
const PICTURES: usize = 5;

/// One black pixel: an older call has to be answered with a picture too.
const PIXEL: &[u8] = include_bytes!("pixel.png");

#[derive(Debug)]
pub(in crate::agents) struct OpenAi {
    options: Options,
    prompt: Prompt,
}

impl Named for OpenAi {
    const NAME: &'static str = "openai-computer-use";

    fn new(options: Options) -> Result<Self, String> {
        let file = options.prompt().map(std::path::PathBuf::as_path);
        let prompt = Prompt::open(file, include_str!("system.j2"))?;
        Ok(Self { options, prompt })
    }

    fn refuses(model: &Model) -> Option<String> {
        let spec = model.spec();
        let chat = (spec.provider, spec.wire) == (Provider::OpenAi, Wire::Chat);
        chat.then(|| {
            format!(
                "OpenAI's computer tool is a part of its Responses service: \
                 name the model openai-responses/{}",
                spec.model
            )
        })
    }
}

impl Manner for OpenAi {
    fn identity(&self) -> String {
        format!("openai {:?} {}", self.options, self.prompt.template())
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

    fn instead_of_picture(&self) -> Part {
        Part::Image(Image {
            media: MediaType::Png,
            bytes: PIXEL.into(),
        })
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
        openai::read(call, frame)
    }

    fn told(&self, done: &[Done]) -> Vec<Part> {
        called::told(done, false)
    }
}
