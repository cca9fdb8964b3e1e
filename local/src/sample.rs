//! Picks the next token. With a grammar, only what the grammar allows.

use llama_cpp_2::context::LlamaContext;
use llama_cpp_2::sampling::LlamaSampler;
use llama_cpp_2::token::LlamaToken;
use llama_cpp_2::token::data::LlamaTokenData;
use llama_cpp_2::token::data_array::LlamaTokenDataArray;

use crate::ask::{Ask, Sampling};
use crate::refusal::Refusal;
use crate::weights::Weights;

/// llama.cpp's sign for a seed that is another one each time.
const ANY_SEED: u32 = u32::MAX;

#[derive(Debug)]
pub(crate) struct Sampler {
    /// `None`: the likeliest.
    random: Option<LlamaSampler>,
    grammar: Option<LlamaSampler>,
}

impl Sampler {
    pub(crate) fn new(ask: &Ask, weights: &Weights) -> Result<Self, Refusal> {
        let random = match ask.sampling {
            Sampling::Greedy => None,
            Sampling::Random {
                temperature,
                top_p,
                top_k,
                seed,
            } => Some(LlamaSampler::chain(
                [
                    LlamaSampler::top_k(top_k),
                    LlamaSampler::top_p(top_p, 1),
                    LlamaSampler::temp(temperature),
                    LlamaSampler::dist(seed.unwrap_or(ANY_SEED)),
                ],
                true,
            )),
        };
        let grammar = ask
            .grammar
            .as_ref()
            .map(|grammar| LlamaSampler::grammar(&weights.model, grammar, "root"))
            .transpose()
            .map_err(|error| {
                Refusal::bad(format!("the JSON schema makes no usable grammar: {error}"))
            })?;
        Ok(Self { random, grammar })
    }

    /// From what the model computed for the `index`-th token of the last batch.
    pub(crate) fn pick(
        &mut self,
        context: &LlamaContext<'_>,
        index: i32,
    ) -> Result<LlamaToken, Refusal> {
        let candidates = context.token_data_array_ith(index);
        let Some(grammar) = &mut self.grammar else {
            return choose(candidates, self.random.as_mut());
        };
        // A grammar looks at each token it is shown. Most often the first choice will do.
        let first = choose(candidates.clone(), self.random.as_mut())?;
        let mut alone = LlamaTokenDataArray::new(vec![LlamaTokenData::new(first, 1.0, 0.0)], false);
        alone.apply_sampler(grammar);
        let token = if alone.data.iter().all(possible) {
            first
        } else {
            let mut allowed = candidates;
            allowed.apply_sampler(grammar);
            choose(allowed, self.random.as_mut())?
        };
        grammar
            .try_accept(token)
            .map_err(|error| Refusal::broken(format!("the grammar broke: {error}")))?;
        Ok(token)
    }
}

fn possible(candidate: &LlamaTokenData) -> bool {
    candidate.logit().is_finite()
}

fn choose(
    mut candidates: LlamaTokenDataArray,
    random: Option<&mut LlamaSampler>,
) -> Result<LlamaToken, Refusal> {
    let none = || Refusal::broken("the model has no token that could come next");
    candidates.data.retain(possible);
    if candidates.data.is_empty() {
        return Err(none());
    }
    if let Some(random) = random {
        candidates.apply_sampler(random);
        return candidates.selected_token().ok_or_else(none);
    }
    // The first of the likeliest, so that it is always the same one.
    let better = |best: LlamaTokenData, next: &LlamaTokenData| {
        if next.logit() > best.logit() {
            *next
        } else {
            best
        }
    };
    let first = candidates.data.first().copied().ok_or_else(none)?;
    Ok(candidates.data.iter().fold(first, better).id())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(logits: &[f32]) -> LlamaTokenDataArray {
        let token = |(index, logit): (usize, &f32)| {
            LlamaTokenData::new(LlamaToken(i32::try_from(index).unwrap()), *logit, 0.0)
        };
        LlamaTokenDataArray::new(logits.iter().enumerate().map(token).collect(), false)
    }

    #[test]
    fn the_likeliest_is_the_first_of_equals_and_never_an_impossible_one() {
        let pick = |logits: &[f32]| choose(candidates(logits), None).map(|token| token.0);
        assert_eq!(pick(&[1.0, 3.0, 3.0, f32::NAN, f32::NEG_INFINITY]), Ok(1));
        assert_eq!(pick(&[f32::NAN, -2.0]), Ok(1));
        assert!(pick(&[f32::NAN, f32::NEG_INFINITY]).is_err());
    }

    #[test]
    fn a_seed_gives_the_same_choices() {
        let choices = |seed: u32| -> Vec<i32> {
            let mut random =
                LlamaSampler::chain([LlamaSampler::temp(1.0), LlamaSampler::dist(seed)], true);
            let pick = |_| choose(candidates(&[0.0; 50]), Some(&mut random)).unwrap().0;
            (0..20).map(pick).collect()
        };
        assert_eq!(choices(7), choices(7));
        assert_ne!(choices(7), choices(8));
    }
}
