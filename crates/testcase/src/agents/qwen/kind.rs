//! The agent's names.

use std::sync::Arc;

use agon_agent::{Contender, Kind, Services, SetupError};

use super::manner::Qwen;
use crate::agents::contender::GuiContender;
use crate::agents::options::{FORM, Options};

const ABOUT: &str = "asks a Qwen model that sees the screen, by its computer_use function";

pub(in crate::agents) const KIND: Kind = Kind {
    name: "qwen",
    argument: "",
    about: ABOUT,
    check: |_| Ok(()),
    open,
};

pub(in crate::agents) const WITH_OPTIONS: Kind = Kind {
    name: "qwen:",
    argument: FORM,
    about: "the same, with options",
    check: |argument| Options::parse(argument).map(drop),
    open,
};

fn open(argument: &str, services: &Services) -> Result<Box<dyn Contender>, SetupError> {
    let wrong = |why| SetupError::Spec {
        spec: "qwen".to_owned(),
        why,
    };
    let options = Options::parse(argument).map_err(wrong)?;
    let manner = Arc::new(Qwen::new(options).map_err(wrong)?);
    Ok(Box::new(GuiContender::open("qwen", manner, services)?))
}
