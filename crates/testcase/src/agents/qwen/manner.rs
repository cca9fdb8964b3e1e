//! How the model is spoken to, and which grid it counts in.

use agon_core::Action;
use agon_llm::{ModelSpec, Part, Reply, Stop};
use serde_json::{Value, json};

use crate::agents::kinds::Named;
use crate::agents::manner::{Done, Manner, Reading, Scene, What, Wish};
use crate::agents::options::Options;
use crate::agents::plain;
use crate::agents::prompt::{Prompt, Values};
use crate::agents::sight::{Grid, Sight, Sizing};
use crate::dialect::Frame;
use crate::dialect::qwen::{self, FUNCTION, OFFERS, Offer};
use crate::dialect::tool_call;

/// Pictures that the model is shown unless it is said otherwise: the current one.
const PICTURES: usize = 1;

/// Up to 2.5 points are pixels of the picture after its sides were brought to multiples of 28. What has more
/// than 1280 tiles of that size many services scale down further; so it never has.
const TILES: (u32, u64) = (28, 1_280);

/// From 3 on points go from 0 to 1000 on both sides, and tiles are larger.
const RELATIVE: u32 = 1_000;
const RELATIVE_TILES: (u32, u64) = (32, 2_560);

#[derive(Debug)]
pub(in crate::agents) struct Qwen {
    options: Options,
    prompt: Prompt,
}

impl Named for Qwen {
    const NAME: &'static str = "qwen";

    fn new(options: Options) -> Result<Self, String> {
        let file = options.prompt().map(std::path::PathBuf::as_path);
        let prompt = Prompt::open(file, include_str!("system.j2"))?;
        Ok(Self { options, prompt })
    }
}

/// Whether the model counts from 0 to 1000.
fn relative(model: &ModelSpec) -> bool {
    let name = model.model.to_ascii_lowercase();
    ["qwen3", "qwen-3", "qwen_3"]
        .iter()
        .any(|part| name.contains(part))
}

fn offered(scene: &Scene<'_>) -> Vec<Offer> {
    let allowed = OFFERS.into_iter().filter(|offer| scene.allows(offer.kind));
    allowed.collect()
}

/// The function as the models know it.
fn function(offers: &[Offer], (width, height): (u32, u32)) -> Value {
    let about = format!(
        "Use a mouse and keyboard to interact with a computer, and take screenshots.\n\
         * This is an interface to a desktop GUI.\n\
         * Some programs need a moment to start or to react: if the screen is not yet as you expect, wait.\n\
         * The screen's resolution is {width}x{height}.\n\
         * Aim at the middle of what you click on."
    );
    json!({
        "type": "function",
        "function": {
            "name": FUNCTION,
            "description": about,
            "parameters": qwen::parameters(offers),
        },
    })
}

/// One call of a text.
fn wish(call: tool_call::Call, prose: &str, text: &str) -> Wish {
    let what = match call {
        Err(why) => What::Wrong(why),
        Ok((name, mut arguments)) => match name.as_deref() {
            None | Some(FUNCTION) => {
                // It ends the task and has no words of its own: those before it are the answer.
                let ends = arguments.get("action").is_some_and(|it| it == "terminate");
                if ends && arguments.get("text").is_none() && !prose.is_empty() {
                    arguments["text"] = json!(prose);
                }
                What::Call(arguments)
            }
            // The action in the place of the function.
            Some(name) if OFFERS.iter().any(|offer| offer.name == name) => {
                arguments["action"] = json!(name);
                What::Call(arguments)
            }
            Some(name) => {
                let name: String = name.chars().take(40).collect();
                What::Wrong(format!("`{name}` is no function: there is `{FUNCTION}`"))
            }
        },
    };
    Wish {
        text: text.to_owned(),
        what,
        call: None,
    }
}

impl Manner for Qwen {
    fn identity(&self) -> String {
        format!(
            "qwen {:?} {} {}",
            self.options,
            self.prompt.template(),
            function(&OFFERS, (1, 1))
        )
    }

    fn sizing(&self, model: &ModelSpec) -> Sizing {
        let mut sizing = self.options.sizing(model);
        let (tiles, grid) = if relative(model) {
            (RELATIVE_TILES, Grid::Relative(RELATIVE))
        } else {
            (TILES, Grid::Multiples(TILES.0))
        };
        sizing.limits.tiles.get_or_insert(tiles);
        sizing.grid = grid;
        sizing
    }

    fn window(&self) -> usize {
        self.options.pictures(PICTURES)
    }

    fn answers(&self) -> usize {
        self.options.answers()
    }

    fn system(&self, scene: &Scene<'_>) -> Result<String, String> {
        let offers = offered(scene);
        let line = |offer: &Offer| format!("{}: {}", offer.name, offer.about);
        let actions = offers.iter().map(line).collect();
        let function = function(&offers, scene.size).to_string();
        self.prompt.filled(&Values::of(scene, actions, function))
    }

    fn opening(&self, scene: &Scene<'_>, sight: &Sight) -> Vec<Part> {
        plain::opening(scene, sight)
    }

    fn read(&self, reply: &Reply) -> Reading {
        let text = reply.text();
        let mut written = tool_call::read(&text);
        // A call that was cut is not half a call.
        if reply.stop == Stop::MaxTokens {
            written.calls.retain(Result::is_ok);
        }
        let prose = written.prose;
        let calls = written.calls.into_iter();
        Reading {
            wishes: calls.map(|call| wish(call, &prose, &text)).collect(),
            thought: Some(prose),
        }
    }

    fn kept(&self, parts: Vec<Part>) -> Vec<Part> {
        plain::words(parts)
    }

    fn actions(&self, call: &Value, frame: &Frame) -> Result<Vec<Action>, String> {
        qwen::read(call, frame).map(|action| vec![action])
    }

    fn told(&self, done: &[Done]) -> Vec<Part> {
        plain::told(done)
    }
}
