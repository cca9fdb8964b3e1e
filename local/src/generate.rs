//! One answer, token by token. Every prompt is computed from its beginning, so that equal questions have
//! equal answers, whatever was asked before.

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::llama_batch::LlamaBatch;
use llama_cpp_2::token::LlamaToken;

use crate::ask::Ask;
use crate::refusal::Refusal;
use crate::sample::Sampler;
use crate::scribe::Scribe;
use crate::weights::{BATCH, Weights};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finish {
    pub(crate) why: Why,
    pub(crate) prompt_tokens: usize,
    pub(crate) answer_tokens: usize,
    pub(crate) warnings: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Why {
    /// The model came to its end, or to a stop word.
    End,
    /// It ran into the limit of tokens, or its context is full.
    Length,
}

/// Where answers are made.
#[derive(Debug)]
pub(crate) struct Desk<'a> {
    pub(crate) weights: &'a Weights,
    pub(crate) context: LlamaContext<'a>,
    /// Tokens of prompt and answer together.
    pub(crate) room: usize,
}

impl Desk<'_> {
    /// Shows the answer piece by piece. `None` if nobody waits for it any more.
    pub(crate) fn answer(
        &mut self,
        mut ask: Ask,
        is_wanted: &dyn Fn() -> bool,
        show: &mut dyn FnMut(String),
    ) -> Result<Option<Finish>, Refusal> {
        let (prompt, warning) = self.weights.prompt(&ask.prompt)?;
        ask.warnings.extend(warning);
        let tokens = self.weights.tokens(&prompt, self.room)?;
        let mut sampler = Sampler::new(&ask, self.weights)?;
        self.context.clear_kv_cache();
        let Some(mut index) = self.read(&tokens, is_wanted)? else {
            return Ok(None);
        };
        let vocab = self.weights.model.vocab();
        let mut scribe = Scribe::new(std::mem::take(&mut ask.stop));
        let most = usize::try_from(ask.max_tokens).unwrap_or(usize::MAX);
        let mut answer_tokens = 0;
        let why = loop {
            if !is_wanted() {
                return Ok(None);
            }
            let token = sampler.pick(&self.context, index)?;
            if vocab.is_eog(token) {
                break Why::End;
            }
            answer_tokens += 1;
            if scribe.push(&vocab.token_to_piece(token, false, None)) {
                break Why::End;
            }
            let fresh = scribe.fresh();
            if !fresh.is_empty() {
                show(fresh);
            }
            let position = tokens.len() + answer_tokens - 1;
            if answer_tokens >= most || position + 1 >= self.room {
                break Why::Length;
            }
            index = self.compute(&[token], position, true)?;
        };
        let rest = scribe.rest();
        if !rest.is_empty() {
            show(rest);
        }
        Ok(Some(Finish {
            why,
            prompt_tokens: tokens.len(),
            answer_tokens,
            warnings: ask.warnings,
        }))
    }

    /// Computes the prompt; the index of its last token in the last batch.
    fn read(
        &mut self,
        tokens: &[LlamaToken],
        is_wanted: &dyn Fn() -> bool,
    ) -> Result<Option<i32>, Refusal> {
        let batch = usize::try_from(BATCH).unwrap_or(1);
        let last = tokens.len().div_ceil(batch);
        let mut index = 0;
        for (number, part) in tokens.chunks(batch).enumerate() {
            if !is_wanted() {
                return Ok(None);
            }
            index = self.compute(part, number * batch, number + 1 == last)?;
        }
        Ok(Some(index))
    }

    /// Returns the index of the last token.
    fn compute(
        &mut self,
        tokens: &[LlamaToken],
        from: usize,
        wanted: bool,
    ) -> Result<i32, Refusal> {
        let broken = |error: &dyn std::fmt::Display| {
            Refusal::broken(format!("the model broke down: {error}"))
        };
        let mut batch = LlamaBatch::new(tokens.len(), 1);
        for (index, token) in tokens.iter().enumerate() {
            let position = i32::try_from(from + index).map_err(|error| broken(&error))?;
            let is_last = wanted && index + 1 == tokens.len();
            batch
                .add(*token, position, &[0], is_last)
                .map_err(|error| broken(&error))?;
        }
        self.context
            .decode(&mut batch)
            .map_err(|error| broken(&error))?;
        Ok(batch.n_tokens() - 1)
    }
}
