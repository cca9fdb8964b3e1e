//! A file of weights, loaded, and what is known about it.

use std::num::NonZeroU32;
use std::path::Path;

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::context::params::LlamaContextParams;
use llama_cpp_2::llama_backend::LlamaBackend;
use llama_cpp_2::model::params::LlamaModelParams;
use llama_cpp_2::model::{LlamaChatMessage, LlamaChatTemplate, LlamaModel};
use llama_cpp_2::token::LlamaToken;

use crate::ask::{Message, Prompt};
use crate::last_words::LastWords;
use crate::options::Options;
use crate::refusal::Refusal;

/// Unless asked for more: the memory for a context grows with it.
const USUAL_CONTEXT: u32 = 8_192;
/// Tokens that are computed at once.
pub(crate) const BATCH: u32 = 512;
/// How many times as long as its tokens a text may be: tokenizers may drop some of it.
const SLACK: usize = 4;
/// They read, but do not write.
const READERS: [&str; 7] = [
    "bert",
    "t5",
    "clip",
    "wavtokenizer",
    "gritlm",
    "embed",
    "rerank",
];

#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    #[error("{file} can't be loaded: {why}")]
    Broken { file: String, why: String },
    #[error("{file} has the architecture `{architecture}`, which does not generate text")]
    Reader { file: String, architecture: String },
    #[error("a context of {context} tokens can't be made: {why}; try a smaller --context")]
    Context { context: u32, why: String },
    #[error("this program needs a processor with AVX2 and FMA")]
    Processor,
}

#[derive(Debug)]
pub(crate) struct Weights {
    backend: LlamaBackend,
    pub(crate) model: LlamaModel,
    template: Template,
    /// Bytes of the longest token.
    longest: usize,
}

#[derive(Debug)]
enum Template {
    Own(LlamaChatTemplate),
    /// The model was not trained to chat: texts are put one after the other.
    None,
}

impl Weights {
    pub(crate) fn load(file: &Path, words: &LastWords) -> Result<Self, LoadError> {
        if !processor_fits() {
            return Err(LoadError::Processor);
        }
        let shown = file.display().to_string();
        let broken = |why: &dyn std::fmt::Display| LoadError::Broken {
            file: shown.clone(),
            why: match words.all() {
                said if said.is_empty() => why.to_string(),
                said => said,
            },
        };
        if let Err(error) = std::fs::File::open(file) {
            return Err(broken(&error));
        }
        let backend = LlamaBackend::init().map_err(|error| broken(&error))?;
        let model = LlamaModel::load_from_file(&backend, file, &LlamaModelParams::default())
            .map_err(|error| broken(&error))?;
        let architecture = model
            .meta_val_str("general.architecture")
            .unwrap_or_default();
        if READERS.iter().any(|reader| architecture.contains(reader)) {
            return Err(LoadError::Reader {
                file: shown,
                architecture,
            });
        }
        let template = model
            .chat_template(None)
            .map_or(Template::None, Template::Own);
        let longest = model
            .tokens(true)
            .map(|(_, piece)| piece.len())
            .max()
            .unwrap_or(1);
        Ok(Self {
            backend,
            model,
            template,
            longest,
        })
    }

    /// The room in which answers are made.
    pub(crate) fn context(
        &self,
        options: &Options,
        words: &LastWords,
    ) -> Result<(LlamaContext<'_>, usize), LoadError> {
        let trained = self.model.n_ctx_train().max(1);
        let tokens = options
            .context
            .unwrap_or_else(|| trained.min(USUAL_CONTEXT));
        // They wait for each other without sleeping: on a busy machine more of them are slower by far.
        let half = || std::thread::available_parallelism().map_or(1, |all| all.get().div_ceil(2));
        let threads = options.threads.map_or_else(half, usize::from);
        let threads = i32::try_from(threads).unwrap_or(1);
        let params = LlamaContextParams::default()
            .with_n_ctx(NonZeroU32::new(tokens))
            .with_n_batch(BATCH)
            .with_n_ubatch(BATCH)
            .with_n_threads(threads)
            .with_n_threads_batch(threads)
            .with_no_perf(true);
        let context = self.model.new_context(&self.backend, params);
        let context = context.map_err(|error| LoadError::Context {
            context: tokens,
            why: format!("{error} {}", words.all()).trim().to_owned(),
        })?;
        // llama.cpp rounds up.
        let room = tokens.min(context.n_ctx());
        Ok((context, usize::try_from(room).unwrap_or(0)))
    }

    /// The prompt as the model reads it, and a warning if its own form is not known.
    pub(crate) fn prompt(&self, prompt: &Prompt) -> Result<(String, Option<String>), Refusal> {
        let messages = match prompt {
            Prompt::Text(text) => return Ok((text.clone(), None)),
            Prompt::Chat(messages) => messages,
        };
        let Template::Own(template) = &self.template else {
            return Ok((one_after_the_other(messages), None));
        };
        let chat = messages
            .iter()
            .map(|one| LlamaChatMessage::new(one.role.to_owned(), one.content.clone()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| Refusal::bad(error.to_string()))?;
        if let Ok(text) = self.model.apply_chat_template(template, &chat, true) {
            return Ok((text, None));
        }
        let warning = "the chat template of this model is not known to llama.cpp; ChatML was used";
        let usual =
            LlamaChatTemplate::new("chatml").map_err(|error| Refusal::broken(error.to_string()))?;
        let text = self
            .model
            .apply_chat_template(&usual, &chat, true)
            .map_err(|error| Refusal::broken(format!("no prompt could be made: {error}")))?;
        Ok((text, Some(warning.to_owned())))
    }

    /// The tokens of a prompt, of which there is room for `room`.
    pub(crate) fn tokens(&self, prompt: &str, room: usize) -> Result<Vec<LlamaToken>, Refusal> {
        let bytes = prompt.len();
        // What is far too long is not even looked at: tokenizers take their time.
        if bytes > room.saturating_mul(self.longest).saturating_mul(SLACK) {
            return Err(Refusal::too_long(format!(
                "the prompt has {bytes} bytes, and the maximum context length is {room} tokens"
            )));
        }
        let vocab = self.model.vocab();
        let mut tokens = vocab.tokenize(prompt.as_bytes(), true, true);
        if tokens.is_empty() {
            // An empty prompt: whatever an answer may begin with.
            tokens.push(if vocab.bos().0 >= 0 {
                vocab.bos()
            } else {
                vocab.eos()
            });
        }
        if tokens.len() >= room {
            return Err(Refusal::too_long(format!(
                "the prompt has {} tokens, and the maximum context length is {room} tokens, answer included",
                tokens.len()
            )));
        }
        if tokens.iter().any(|token| token.0 < 0) {
            return Err(Refusal::bad(
                "the prompt is empty, and this model can't begin with nothing",
            ));
        }
        Ok(tokens)
    }
}

fn one_after_the_other(messages: &[Message]) -> String {
    let contents: Vec<&str> = messages.iter().map(|one| one.content.as_str()).collect();
    contents.join("\n")
}

/// llama.cpp is built for these, and would be ended by the kernel without them.
fn processor_fits() -> bool {
    #[cfg(target_arch = "x86_64")]
    let fits = std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    let fits = true;
    fits
}
