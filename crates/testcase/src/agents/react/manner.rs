//! How the model is spoken to.

use agon_core::Action;
use agon_llm::{ModelSpec, Output, Part, Reply};
use serde_json::Value;

use super::answer;
use crate::agents::kinds::Named;
use crate::agents::manner::{Done, Manner, Reading, Scene, What, Wish};
use crate::agents::options::Options;
use crate::agents::plain;
use crate::agents::prompt::{Prompt, Values};
use crate::agents::sight::{Sight, Sizing};
use crate::dialect::Frame;
use crate::dialect::react::{self, OFFERS, Offer};

/// Pictures that the model is shown unless it is said otherwise: the current one.
const PICTURES: usize = 1;

#[derive(Debug)]
pub(in crate::agents) struct React {
    options: Options,
    prompt: Prompt,
}

impl Named for React {
    const NAME: &'static str = "react";

    fn new(options: Options) -> Result<Self, String> {
        let file = options.prompt().map(std::path::PathBuf::as_path);
        let prompt = Prompt::open(file, include_str!("system.j2"))?;
        Ok(Self { options, prompt })
    }
}

fn offered(scene: &Scene<'_>) -> Vec<Offer> {
    let allowed = OFFERS.into_iter().filter(|offer| scene.allows(offer.kind));
    allowed.collect()
}

impl Manner for React {
    fn identity(&self) -> String {
        format!(
            "react {:?} {} {OFFERS:?} {}",
            self.options,
            self.prompt.template(),
            answer::schema(&OFFERS)
        )
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
        let line = |offer: &Offer| format!("{}: {}", offer.form, offer.about);
        let actions = offered(scene).iter().map(line).collect();
        self.prompt
            .filled(&Values::of(scene, actions, String::new()))
    }

    fn output(&self, scene: &Scene<'_>) -> Output {
        Output::Json {
            name: "step".to_owned(),
            schema: answer::schema(&offered(scene)),
        }
    }

    fn opening(&self, scene: &Scene<'_>, sight: &Sight) -> Vec<Part> {
        plain::opening(scene, sight)
    }

    fn read(&self, reply: &Reply) -> Reading {
        let text = reply.text();
        let read = answer::read(&text);
        let wish = |call| Wish {
            text: text.clone(),
            what: What::Call(call),
            call: None,
        };
        Reading {
            thought: read.thought,
            wishes: read.call.into_iter().map(wish).collect(),
        }
    }

    fn kept(&self, parts: Vec<Part>) -> Vec<Part> {
        plain::words(parts)
    }

    fn actions(&self, call: &Value, frame: &Frame) -> Result<Vec<Action>, String> {
        react::read(call, frame).map(|action| vec![action])
    }

    fn told(&self, done: &[Done]) -> Vec<Part> {
        plain::told(done)
    }
}
