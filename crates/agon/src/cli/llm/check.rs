//! `agon llm check`: whether models answer, and what to do about those that do not.

use std::time::Instant;

use agon_core::ModelFault;
use agon_llm::{LlmError, Request};
use serde::Serialize;

use super::args::{CheckArgs, ModelArgs};
use super::ask::spent;
use super::open::OpenModels;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::output;

/// Enough for one word, and for models that think before they speak.
const MOST_TOKENS: u64 = 2_000;

#[derive(Debug, Serialize)]
struct Finding {
    model: String,
    ok: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<ModelFault>,
    says: String,
}

pub(super) async fn check(args: &CheckArgs) -> Result<Exit, Failure> {
    let models = ModelArgs {
        config: args.config.clone(),
        ..ModelArgs::default()
    };
    let open = models.open()?;
    for warning in open.config.warnings() {
        output::say(&format!("agon: {}", output::plain(warning)));
    }
    let names: Vec<&str> = match &args.names[..] {
        [] => open.config.sections(),
        names => names.iter().map(String::as_str).collect(),
    };
    if names.is_empty() {
        return Err(Failure::new(
            "there is no section [llm] in config.toml; name a model, such as openai/gpt-4o",
        ));
    }
    let mut all_well = true;
    for name in names {
        let found = ask(&open, name).await;
        all_well &= found.ok;
        if args.json {
            output::json(&found)?;
        } else {
            let mark = if found.ok { "ok  " } else { "FAIL" };
            let says = output::plain(&found.says);
            output::data(&format!("{mark} {}: {says}", output::plain(&found.model)))?;
        }
    }
    Ok(if all_well { Exit::Done } else { Exit::Faults })
}

async fn ask(open: &OpenModels, name: &str) -> Finding {
    let failed = |fault: ModelFault, says: String| Finding {
        model: name.to_owned(),
        ok: false,
        fault: Some(fault),
        says,
    };
    let spec = match open.config.model(name) {
        Ok(spec) => spec,
        Err(error) => return failed(ModelFault::Setup, error.to_string()),
    };
    let model = match open.session.model(spec) {
        Ok(model) => model,
        Err(error) => return failed(error.fault, error.to_string()),
    };
    let mut request = Request::user("Answer with the single word: ready");
    request.sampling.max_tokens = Some(MOST_TOKENS);
    let started = Instant::now();
    match model.ask(&request).await {
        Ok(reply) => Finding {
            model: name.to_owned(),
            ok: true,
            fault: None,
            says: format!(
                "{} answered in {} ms, {}",
                reply.model,
                started.elapsed().as_millis(),
                spent(&reply.usage)
            ),
        },
        Err(error) => failed(error.fault, advised(&error)),
    }
}

/// The error, and what to do about it.
fn advised(error: &LlmError) -> String {
    let advice = match error.fault {
        ModelFault::Authentication => "look at api_key, and whether it may use this model",
        ModelFault::RateLimit => "wait, or look at the quota of this key",
        ModelFault::Overload => "the service is busy or broken: try again later",
        ModelFault::BadRequest => "look at the settings of the model",
        ModelFault::BrokenResponse => "look at base_url: what answers there is no such service",
        ModelFault::BadAnswer => "the model answers, but not as it is asked to: take another one",
        ModelFault::Network => "look at base_url and the network",
        ModelFault::Timeout => "look at base_url, or give a larger timeout",
        // These say it themselves.
        ModelFault::ContextOverflow
        | ModelFault::Refusal
        | ModelFault::NotOnTape
        | ModelFault::Budget
        | ModelFault::Setup
        | ModelFault::Cancelled => return error.to_string(),
    };
    format!("{error} ({advice})")
}
