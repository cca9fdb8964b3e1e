//! Asks the model: what fits into the question, what is done if it does not, and what an answer comes to.

use agon_agent::{AgentError, Answer, Reply};
use agon_core::verdict::TurnEnd;
use agon_core::{Action, ModelFault};
use agon_llm::{LlmError, Model, Part, Request, Stop};

use super::agent::{CodeAct, KEPT_OF_CALL, Pending, words};
use super::condense::{Need, older_half};
use super::history::joined;
use super::messages::{self, Look};

/// How often one question is made shorter before it is given up.
const SQUEEZES: u32 = 3;

/// Results are never cut to less than this, in characters.
const LEAST_CHARS: usize = 1_000;

/// Pictures that the model is shown, the newest.
pub(super) const PICTURES: usize = 8;

/// More calls in one answer are not looked at.
const MOST_CALLS: usize = 64;

impl CodeAct {
    /// Forgets a part of the history now. `false`: only the newest is left.
    pub(super) async fn forget(&mut self) -> Result<bool, LlmError> {
        let mut gone = None;
        if let Some(model) = &self.model {
            let need = Need::Now;
            gone = self
                .condenser
                .condense(&mut self.history, need, model)
                .await?;
        }
        let gone = gone.or_else(|| older_half(&mut self.history));
        let shorter = gone.is_some();
        self.condensed = joined(self.condensed.take(), gone);
        Ok(shorter)
    }

    /// Makes the next question shorter: by what is forgotten, and if that was not enough `before` or there
    /// is nothing to forget, by what is shown of the longest results. `false`: it can't be.
    async fn squeeze(&mut self, before: u32) -> Result<bool, LlmError> {
        let fewer = self.forget().await?;
        if fewer && before == 0 {
            return Ok(true);
        }
        let longest = self.history.longest().min(self.most_chars);
        let most = (longest / 4).max(LEAST_CHARS);
        let shorter = most < longest;
        if shorter {
            self.history.shorten(most);
        }
        Ok(fewer || shorter)
    }

    fn request(&self) -> Request {
        let mut look = Look {
            most_chars: self.most_chars,
            results: None,
            pages: None,
            pictures: PICTURES,
        };
        self.condenser.masks(&mut look);
        Request {
            system: Some(self.system.clone()),
            tools: self.tools.clone(),
            ..Request::new(messages::of(&self.history, &look))
        }
    }

    /// A request that is as short as it has to be, by what can be known before asking.
    async fn fitting(&mut self, model: &Model) -> Result<Request, LlmError> {
        let need = Need::Size;
        let gone = self
            .condenser
            .condense(&mut self.history, need, model)
            .await?;
        self.condensed = joined(self.condensed.take(), gone);
        let mut request = self.request();
        let Some(most) = model.spec().settings.max_input_tokens else {
            return Ok(request);
        };
        let fixed = (self.system.len() + format!("{:?}", self.tools).len()) as u64 / 4;
        let may = self.options.section().enable_history_truncation;
        for before in 0..SQUEEZES {
            let fits = fixed + messages::tokens(&request.messages) <= most;
            if fits || !may || !self.squeeze(before).await? {
                break;
            }
            request = self.request();
        }
        Ok(request)
    }

    pub(super) async fn ask(&mut self) -> Result<Answer, AgentError> {
        let Some(model) = self.model.clone() else {
            return Ok(Action::Finish { result: None }.into());
        };
        let mut request = self.fitting(&model).await.map_err(ended_by)?;
        let mut squeezed = 0;
        let reply = loop {
            let error = match model.ask(&request).await {
                Ok(reply) => break reply,
                Err(error) => error,
            };
            match error.fault {
                ModelFault::ContextOverflow => {
                    let may = self.options.section().enable_history_truncation;
                    let more = may && squeezed < SQUEEZES;
                    if !more || !self.squeeze(squeezed).await.map_err(ended_by)? {
                        return Err(too_long(&error, squeezed));
                    }
                    squeezed += 1;
                    request = self.request();
                }
                // The model may do better when it is told.
                ModelFault::BadAnswer => return Ok(self.unreadable(error.message())),
                _ => return Err(ended_by(error)),
            }
        };
        self.answered(reply).await
    }

    async fn answered(&mut self, reply: agon_llm::Reply) -> Result<Answer, AgentError> {
        let cut = reply.stop == Stop::MaxTokens;
        let mut calls = 0;
        let mut parts = reply.parts;
        parts.retain(|part| {
            let call = matches!(part, Part::ToolCall(_));
            calls += usize::from(call);
            !call || calls <= MOST_CALLS
        });
        let text = words(&parts);
        self.history.said(parts);
        self.next = 0;
        if let Some(answer) = self.work_off().await? {
            return Ok(answer);
        }
        let why = match &text {
            _ if cut => "your answer was cut at the limit of its length: answer in fewer words",
            None => "your answer was empty: call a tool, or say something",
            Some(_) => "",
        };
        self.history.step();
        self.pending = Pending::Words;
        let text = text.unwrap_or_default();
        if !why.is_empty() {
            let text = text.chars().take(KEPT_OF_CALL).collect();
            let why = why.to_owned();
            let condensed = self.condensed.take();
            return Ok(Answer::NotAnAction {
                text,
                why,
                condensed,
            });
        }
        Ok(Answer::Reply(Reply {
            condensed: self.condensed.take(),
            ..Action::Message { text }.into()
        }))
    }

    /// An answer of which nothing but its failure is known.
    fn unreadable(&mut self, why: &str) -> Answer {
        self.history.said(Vec::new());
        self.next = 0;
        self.history.step();
        self.pending = Pending::Words;
        Answer::NotAnAction {
            text: String::new(),
            why: format!("your answer could not be read: {why}"),
            condensed: self.condensed.take(),
        }
    }
}

fn too_long(error: &LlmError, squeezed: u32) -> AgentError {
    AgentError::Crashed(format!(
        "the conversation is too long for the model, also after it was made shorter {squeezed} times: \
         {error}; set max_input_tokens, a smaller max_message_chars or another condenser"
    ))
}

/// Whose failure it is that there is no answer. What the model or its length limit did is the agent's.
pub(super) fn ended_by(error: LlmError) -> AgentError {
    match error.fault {
        ModelFault::Budget => AgentError::OutOfBudget(error.spent.unwrap_or(TurnEnd::TokenLimit)),
        ModelFault::Refusal | ModelFault::ContextOverflow | ModelFault::BadAnswer => {
            AgentError::Crashed(error.to_string())
        }
        _ => AgentError::Model(error.to_string()),
    }
}
