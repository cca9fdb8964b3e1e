//! The agent's names.

use std::sync::Arc;

use agon_agent::{Contender, Kind, Services, SetupError};

use super::manner::React;
use crate::agents::contender::GuiContender;
use crate::agents::options::{FORM, Options};

const ABOUT: &str = "asks a model that sees the screen for JSON with a thought and one action";

pub(in crate::agents) const KIND: Kind = Kind {
    name: "react",
    argument: "",
    about: ABOUT,
    check: |_| Ok(()),
    open,
};

pub(in crate::agents) const WITH_OPTIONS: Kind = Kind {
    name: "react:",
    argument: FORM,
    about: "the same, with options",
    check: |argument| Options::parse(argument).map(drop),
    open,
};

fn open(argument: &str, services: &Services) -> Result<Box<dyn Contender>, SetupError> {
    let wrong = |why| SetupError::Spec {
        spec: "react".to_owned(),
        why,
    };
    let options = Options::parse(argument).map_err(wrong)?;
    let manner = Arc::new(React::new(options).map_err(wrong)?);
    Ok(Box::new(GuiContender::open("react", manner, services)?))
}
