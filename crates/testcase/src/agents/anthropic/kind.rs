//! The agent's names.

use std::sync::Arc;

use agon_agent::{Contender, Kind, Services, SetupError};

use super::manner::Anthropic;
use crate::agents::contender::GuiContender;
use crate::agents::options::{FORM, Options};

const NAME: &str = "anthropic-computer-use";

pub(in crate::agents) const KIND: Kind = Kind {
    name: NAME,
    argument: "",
    about: "asks a model that sees the screen, by Anthropic's computer tool",
    check: |_| Ok(()),
    open,
};

pub(in crate::agents) const WITH_OPTIONS: Kind = Kind {
    name: "anthropic-computer-use:",
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
    let manner = Arc::new(Anthropic::new(options).map_err(wrong)?);
    Ok(Box::new(GuiContender::open(NAME, manner, services)?))
}
