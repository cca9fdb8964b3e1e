//! The agent in one trial: one observation in, one action out. Answers of the model may hold several calls;
//! they are worked off one by one before it is asked again, which `asking` does.

use std::collections::VecDeque;
use std::sync::Arc;

use agon_agent::{Agent, AgentError, Answer, Reply};
use agon_core::{Action, ActionKind, Brief, Called, Condensation, Observation};
use agon_llm::{Model, Part, Tool, ToolCall};
use async_trait::async_trait;

use super::asking::{PICTURES, ended_by};
use super::calls::{self, Wanted};
use super::condense::Condenser;
use super::history::History;
use super::options::Options;
use super::past::Past;
use super::tools::ToolKind;
use super::tracker::TaskList;
use super::{prompt, scripted, seen};

/// What holds if no model says how long a result may be.
const USUAL_CHARS: usize = 30_000;

/// How much of a refused call is recorded.
pub(super) const KEPT_OF_CALL: usize = 2_000;

/// What the next observation belongs to.
#[derive(Debug)]
pub(super) enum Pending {
    Nothing,
    /// The result of the last answer's call. `answer`: what the model is told instead of what is observed.
    Call {
        nth: usize,
        answer: Option<String>,
    },
    /// The reply to the last answer's words.
    Words,
}

#[derive(Debug)]
pub struct CodeAct {
    pub(super) options: Arc<Options>,
    pub(super) model: Option<Model>,
    pub(super) condenser: Condenser,
    script: VecDeque<Action>,
    past: Option<Arc<Past>>,
    allowed: Vec<ActionKind>,
    offered: Vec<ToolKind>,
    pub(super) tools: Vec<Tool>,
    pub(super) system: String,
    pub(super) history: History,
    /// The first call of the last answer that was not worked off.
    pub(super) next: usize,
    pub(super) pending: Pending,
    tasks: TaskList,
    /// What was forgotten and not yet told.
    pub(super) condensed: Option<Condensation>,
    pub(super) most_chars: usize,
    uses: Vec<ActionKind>,
}

impl CodeAct {
    /// The model and those of the condenser must be on the trial's account.
    pub(super) fn new(options: Arc<Options>, model: Option<Model>, condenser: Condenser) -> Self {
        let most_chars = model
            .as_ref()
            .map_or(USUAL_CHARS, |model| model.spec().settings.max_message_chars);
        let mut uses = vec![ActionKind::Message, ActionKind::Finish];
        for tool in ToolKind::offered(options.section(), &ActionKind::ALL) {
            uses.extend(tool.actions());
        }
        Self {
            options,
            model,
            condenser,
            script: VecDeque::new(),
            past: None,
            allowed: Vec::new(),
            offered: Vec::new(),
            tools: Vec::new(),
            system: String::new(),
            history: History::default(),
            next: 0,
            pending: Pending::Nothing,
            tasks: TaskList::default(),
            condensed: None,
            most_chars,
            uses,
        }
    }

    /// Plays these before it asks its model for the first time.
    #[must_use]
    pub(super) fn with_script(mut self, actions: Vec<Action>) -> Self {
        self.uses.extend(actions.iter().map(Action::kind));
        self.script = actions.into();
        self
    }

    /// Goes on from there.
    #[must_use]
    pub(super) fn with_past(mut self, past: Option<Arc<Past>>) -> Self {
        self.past = past;
        self
    }

    /// Puts what was observed to what it is the result of.
    pub(super) fn take_in(&mut self, observation: &Observation) {
        let pending = std::mem::replace(&mut self.pending, Pending::Nothing);
        let offered = &self.offered;
        let Some(last) = self.history.last_mut() else {
            return;
        };
        match pending {
            Pending::Nothing => {}
            Pending::Words => last.reply = Some(seen::reply(observation)),
            Pending::Call { nth, answer } => {
                let name = last.calls().nth(nth).map(|call| call.name.as_str());
                let tool = offered.iter().find(|tool| Some(tool.name()) == name);
                let mut outcome = seen::outcome(observation, tool.copied());
                if let Some(answer) = answer.filter(|_| !outcome.is_error) {
                    outcome.text = answer;
                }
                if let Some(place) = last.outcomes.get_mut(nth) {
                    *place = Some(outcome);
                }
                self.history.keep_pictures(PICTURES);
            }
        }
    }

    /// The next call of the last answer, if any is left.
    pub(super) async fn work_off(&mut self) -> Result<Option<Answer>, AgentError> {
        let Some(last) = self.history.exchanges().last() else {
            return Ok(None);
        };
        let Some(call) = last.calls().nth(self.next).cloned() else {
            return Ok(None);
        };
        let of = u32::try_from(last.outcomes.len()).unwrap_or(u32::MAX);
        let nth = self.next;
        let thought = (nth == 0).then(|| words(&last.said)).flatten();
        self.next += 1;
        self.history.step();
        let (action, answer) = match calls::read(&call, &self.offered, &self.allowed) {
            Ok(Wanted::Act(action)) => (action, None),
            Ok(Wanted::Track(list)) => self.track(list),
            Ok(Wanted::Condense) => self.asked_to_condense().await?,
            Err(why) => {
                self.pending = Pending::Call { nth, answer: None };
                return Ok(Some(self.refused(&call, why)));
            }
        };
        self.pending = Pending::Call { nth, answer };
        Ok(Some(Answer::Reply(Reply {
            thought,
            called: Some(Called {
                function: call.name,
                id: call.id,
                of,
            }),
            condensed: self.condensed.take(),
            ..action.into()
        })))
    }

    fn refused(&mut self, call: &ToolCall, why: String) -> Answer {
        let text = format!("{} {}", call.name, call.input);
        Answer::NotAnAction {
            text: text.chars().take(KEPT_OF_CALL).collect(),
            why,
            condensed: self.condensed.take(),
        }
    }

    /// The list is the agent's own; the record shows it as a thought.
    pub(super) fn track(&mut self, list: Option<TaskList>) -> (Action, Option<String>) {
        let answer = match list {
            None => self.tasks.shown(),
            Some(list) => {
                self.tasks = list;
                match self.tasks.len() {
                    1 => "The list has one task now.".to_owned(),
                    tasks => format!("The list has {tasks} tasks now."),
                }
            }
        };
        let thought = self.tasks.shown();
        (Action::Think { thought }, Some(answer))
    }

    async fn asked_to_condense(&mut self) -> Result<(Action, Option<String>), AgentError> {
        let shorter = self.forget().await.map_err(ended_by)?;
        let answer = if shorter {
            "The history is shorter now."
        } else {
            "There is nothing yet that could be forgotten."
        };
        let thought = "The history should become shorter.".to_owned();
        Ok((Action::Think { thought }, Some(answer.to_owned())))
    }

    /// An action that was given beforehand.
    fn play(&mut self, action: Action) -> Answer {
        let part = scripted::said(&action);
        self.pending = match part {
            Part::ToolCall(_) => Pending::Call {
                nth: 0,
                answer: None,
            },
            _ => Pending::Words,
        };
        self.history.said(vec![part]);
        self.next = 1;
        self.history.step();
        action.into()
    }
}

#[async_trait]
impl Agent for CodeAct {
    fn uses(&self) -> Option<&[ActionKind]> {
        Some(&self.uses)
    }

    fn ends_when_stuck(&self) -> bool {
        self.options.section().enable_stuck_detection
    }

    async fn start(&mut self, brief: &Brief) -> Result<(), AgentError> {
        self.allowed.clone_from(&brief.actions);
        self.offered = ToolKind::offered(self.options.section(), &self.allowed);
        let definitions = self.offered.iter();
        self.tools = definitions
            .map(|tool| tool.definition(&self.allowed))
            .collect();
        self.system = prompt::system(self.options.template(), &self.offered, brief)
            .map_err(|why| AgentError::Crashed(format!("the system prompt: {why}")))?;
        match self.past.take() {
            None => self.history = History::new(brief.instruction.clone()),
            Some(past) => {
                self.remember(&past);
                self.history.asked(&brief.instruction);
            }
        }
        Ok(())
    }

    async fn act(&mut self, observation: &Observation) -> Result<Answer, AgentError> {
        self.take_in(observation);
        if let Some(answer) = self.work_off().await? {
            return Ok(answer);
        }
        match self.script.pop_front() {
            Some(action) => Ok(self.play(action)),
            None => self.ask().await,
        }
    }

    fn complaints(&self) -> Option<String> {
        self.options.complaint()
    }
}

/// All text of an answer, if there is any.
pub(super) fn words(parts: &[Part]) -> Option<String> {
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) if !text.trim().is_empty() => Some(text.trim()),
        _ => None,
    });
    let texts: Vec<&str> = texts.collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
