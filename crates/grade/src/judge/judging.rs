//! A judge: a model, and how it is asked. Counts the votes.

use std::sync::Arc;

use agon_core::check::ProseSubject;
use agon_core::{Digest, Fault, Judged, Usage};
use agon_llm::{Account, Model};

use super::question::Question;
use super::sitting::Sitting;
use super::{answer, exhibit, prompt, suspicion};
use crate::side::on_the_side;

#[derive(Debug, Clone)]
pub struct JudgeOptions {
    /// How often each check is asked about; odd, so that there is a majority.
    pub votes: u32,
    /// What the pictures of one question may come to, in tokens.
    pub picture_tokens: u64,
    /// Makes the marks around evidence the same each time, as a tape needs it. `None`: nobody can know
    /// them before, which is what everything else needs.
    pub nonce_seed: Option<u64>,
}

impl Default for JudgeOptions {
    fn default() -> Self {
        Self {
            votes: 1,
            picture_tokens: 60_000,
            nonce_seed: None,
        }
    }
}

#[derive(Debug, Clone)]
pub struct Judge {
    model: Model,
    options: JudgeOptions,
}

impl Judge {
    pub const fn new(model: Model, options: JudgeOptions) -> Self {
        Self { model, options }
    }

    pub const fn model(&self) -> &Model {
        &self.model
    }

    pub const fn options(&self) -> &JudgeOptions {
        &self.options
    }

    /// Over everything that it is told beside the evidence, and how much of that it is shown: verdicts of
    /// judges with different ones can't be compared. Knows nothing of the model and the number of votes.
    pub fn prompts(&self) -> Digest {
        let pictures = self.options.picture_tokens.to_le_bytes();
        let parts = [prompt::digest(), exhibit::form()];
        let [texts, form] = parts.each_ref().map(|digest| &digest.bytes()[..]);
        Digest::of_parts([texts, form, &pictures])
    }

    /// A fault means: could not be judged. Never a verdict.
    pub async fn ask(
        &self,
        account: &Arc<Account>,
        question: &Question<'_>,
    ) -> Result<(bool, Judged), Fault> {
        let mut judged = Judged {
            model: self.model.spec().name.clone(),
            votes: Vec::new(),
            usage: Usage::default(),
            frames: None,
            suspicious: Vec::new(),
        };
        if is_settled(question) {
            return Ok((false, judged));
        }
        let mut sitting = Sitting::open(&self.model, account, &self.options, question).await?;
        let votes = self.options.votes.max(1) | 1;
        let passed = loop {
            let nth = judged.votes.len();
            judged.votes.push(Box::pin(sitting.vote(nth)).await?);
            let passes = judged.votes.iter().filter(|vote| vote.passed).count();
            let fails = judged.votes.len() - passes;
            let enough = votes as usize / 2;
            if passes > enough || fails > enough {
                break passes > fails;
            }
        };
        let exhibit = sitting.exhibit();
        judged.frames = exhibit.frames;
        let words = exhibit.words.clone();
        judged.suspicious =
            on_the_side(move || Ok(suspicion::found(words.iter().map(String::as_str)))).await?;
        for vote in &judged.votes {
            suspicion::add(&mut judged.suspicious, answer::reported(vote));
        }
        judged.usage = sitting.usage();
        Ok((passed, judged))
    }
}

/// Whether there is nothing that could pass: an answer that was not given, a way that was not gone.
fn is_settled(question: &Question<'_>) -> bool {
    let shown = &question.shown;
    match question.subject {
        ProseSubject::ReturnedResult => shown.result.is_none_or(|text| text.trim().is_empty()),
        ProseSubject::ExpectedFlow => shown.flow.is_empty(),
        ProseSubject::FinalScreenshot | ProseSubject::CommandOutput { .. } => false,
    }
}
