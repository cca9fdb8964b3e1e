//! The agent's names.

use std::sync::Arc;

use agon_agent::{Contender, Kind, Services, SetupError};
use agon_llm::{Model, Provider, Wire};

use super::manner::OpenAi;
use crate::agents::contender::GuiContender;
use crate::agents::options::{FORM, Options};

const NAME: &str = "openai-computer-use";

pub(in crate::agents) const KIND: Kind = Kind {
    name: NAME,
    argument: "",
    about: "asks a model that sees the screen, by OpenAI's computer tool",
    check: |_| Ok(()),
    open,
};

pub(in crate::agents) const WITH_OPTIONS: Kind = Kind {
    name: "openai-computer-use:",
    argument: FORM,
    about: "the same, with options",
    check: |argument| Options::parse(argument).map(drop),
    open,
};

fn open(argument: &str, services: &Services) -> Result<Box<dyn Contender>, SetupError> {
    let wrong = |why| SetupError::Spec {
        spec: NAME.to_owned(),
        why,
    };
    let options = Options::parse(argument).map_err(wrong)?;
    let chat = |model: &&Model| {
        let spec = model.spec();
        (spec.provider, spec.wire) == (Provider::OpenAi, Wire::Chat)
    };
    if let Some(model) = services.models.first().filter(chat) {
        let name = &model.spec().model;
        return Err(wrong(format!(
            "OpenAI's computer tool is a part of its Responses service: name the model openai-responses/{name}"
        )));
    }
    let manner = Arc::new(OpenAi::new(options).map_err(wrong)?);
    Ok(Box::new(GuiContender::open(NAME, manner, services)?))
}
