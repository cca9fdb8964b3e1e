//! The names under which the agents are found: each alone, and with options behind a colon.

use std::sync::Arc;

use agon_agent::{Contender, Kind, Services, SetupError};
use agon_llm::Model;

use super::anthropic::Anthropic;
use super::contender::GuiContender;
use super::manner::Manner;
use super::openai::OpenAi;
use super::options::{FORM, Options};
use super::qwen::Qwen;
use super::react::React;

/// A manner that an agent can be opened with.
pub(super) trait Named: Manner + Sized + 'static {
    const NAME: &'static str;

    fn new(options: Options) -> Result<Self, String>;

    /// Why a model can't be asked in this manner.
    fn refuses(_model: &Model) -> Option<String> {
        None
    }
}

pub static KINDS: &[Kind] = &[
    alone::<React>("asks a model that sees the screen for JSON with a thought and one action"),
    with_options::<React>("react:"),
    alone::<Qwen>("asks a Qwen model that sees the screen, by its computer_use function"),
    with_options::<Qwen>("qwen:"),
    alone::<OpenAi>("asks a model that sees the screen, by OpenAI's computer tool"),
    with_options::<OpenAi>("openai-computer-use:"),
    alone::<Anthropic>("asks a model that sees the screen, by Anthropic's computer tool"),
    with_options::<Anthropic>("anthropic-computer-use:"),
];

const fn alone<M: Named>(about: &'static str) -> Kind {
    Kind {
        name: M::NAME,
        argument: "",
        about,
        check: |_| Ok(()),
        open: open::<M>,
    }
}

const fn with_options<M: Named>(name: &'static str) -> Kind {
    Kind {
        name,
        argument: FORM,
        about: "the same, with options",
        check: |argument| Options::parse(argument).map(drop),
        open: open::<M>,
    }
}

fn open<M: Named>(argument: &str, services: &Services) -> Result<Box<dyn Contender>, SetupError> {
    let wrong = |why| SetupError::Spec {
        spec: M::NAME.to_owned(),
        why,
    };
    let options = Options::parse(argument).map_err(wrong)?;
    if let Some(why) = services.models.first().and_then(M::refuses) {
        return Err(wrong(why));
    }
    let manner = Arc::new(M::new(options).map_err(wrong)?);
    Ok(Box::new(GuiContender::open(M::NAME, manner, services)?))
}
