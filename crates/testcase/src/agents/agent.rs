//! The agent in one trial: a screen in, one action out. An answer of the model may hold several wishes and a
//! wish several actions; they are worked off one by one before it is asked again.

use std::collections::VecDeque;
use std::sync::Arc;

use agon_agent::{Agent, AgentError, Answer, Reply};
use agon_core::observation::ObservationKind;
use agon_core::{Action, ActionKind, Brief, Called, Condensation, Observation};
use agon_llm::{Model, Part, Request, Stop};
use async_trait::async_trait;

use super::ask::{Asked, ask, note};
use super::conversation::Conversation;
use super::manner::{Done, Manner, Reading, Scene, What, Wish};
use super::sight::{Sight, Sizing};
use crate::dialect::Frame;

/// What can be done here at all; the task allows a part of it.
const USES: [ActionKind; 12] = [
    ActionKind::Key,
    ActionKind::KeyDown,
    ActionKind::KeyUp,
    ActionKind::Type,
    ActionKind::Move,
    ActionKind::Click,
    ActionKind::Drag,
    ActionKind::Scroll,
    ActionKind::Wait,
    ActionKind::Screenshot,
    ActionKind::Run,
    ActionKind::Finish,
];

/// More wishes in one answer are not looked at.
const MOST_WISHES: usize = 64;

/// How much of a refused wish is recorded.
const KEPT: usize = 2_000;

/// Characters of what is observed that a model is told.
const MOST_TOLD: usize = 4_000;

/// The wish that is being worked off.
#[derive(Debug)]
struct Doing {
    wish: Wish,
    /// What is left to do for it.
    rest: VecDeque<Action>,
    told: Vec<String>,
    failed: bool,
}

#[derive(Debug)]
pub(crate) struct GuiAgent {
    manner: Arc<dyn Manner>,
    model: Model,
    sizing: Sizing,
    brief: Option<Brief>,
    allowed: Vec<ActionKind>,
    conversation: Conversation,
    sight: Option<Sight>,
    /// What the points of the last answer refer to.
    asked: Option<Frame>,
    queue: VecDeque<Wish>,
    /// How many calls the last answer held.
    calls: u32,
    thought: Option<String>,
    doing: Option<Doing>,
    done: Vec<Done>,
    steps: u32,
    condensed: Option<Condensation>,
}

impl GuiAgent {
    /// The model must be on the trial's account.
    pub(super) fn new(manner: Arc<dyn Manner>, model: Model) -> Self {
        let conversation = Conversation::new(
            manner.window(),
            manner.answers(),
            manner.instead_of_picture(),
        );
        Self {
            sizing: manner.sizing(model.spec()),
            manner,
            model,
            brief: None,
            allowed: Vec::new(),
            conversation,
            sight: None,
            asked: None,
            queue: VecDeque::new(),
            calls: 0,
            thought: None,
            doing: None,
            done: Vec::new(),
            steps: 0,
            condensed: None,
        }
    }

    /// Looks at the screen, and puts what was observed to what it is the outcome of.
    async fn take_in(&mut self, observation: &Observation) -> Result<Sight, AgentError> {
        if let Some(screen) = &observation.screen {
            let seen = Sight::of(screen, self.sizing, self.sight.as_ref()).await;
            // Our doing, and not the model's.
            let unfit =
                |why| AgentError::Unreachable(format!("the screen can't be shown to it: {why}"));
            self.sight = Some(seen.map_err(unfit)?);
        }
        let Some(sight) = self.sight.clone() else {
            let why = "it works by what it sees, and there is no screen to be seen";
            return Err(AgentError::Unfit(why.to_owned()));
        };
        if let Some(doing) = &mut self.doing {
            let failed = matches!(
                observation.kind,
                ObservationKind::Error | ObservationKind::Refused
            );
            if failed {
                doing.failed = true;
                // What depends on it is not done; keys that are down come up again.
                doing.rest.retain(|rest| rest.kind() == ActionKind::KeyUp);
            }
            if !observation.text.is_empty() {
                doing.told.push(cut(&observation.text, MOST_TOLD));
            }
            if let Some(status) = observation.exit_status {
                doing.told.push(format!("exit status {status}"));
            }
        }
        Ok(sight)
    }

    /// The next action of the last answer, if any is left.
    fn work_off(&mut self, sight: &Sight) -> Option<Answer> {
        if let Some(action) = self.doing.as_mut().and_then(|doing| doing.rest.pop_front()) {
            return Some(self.reply(action, None));
        }
        if let Some(doing) = self.doing.take() {
            self.done.push(Done {
                wish: doing.wish,
                text: doing.told.join("\n"),
                failed: doing.failed,
                sight: sight.clone(),
            });
        }
        let wish = self.queue.pop_front()?;
        Some(self.begin(wish, sight))
    }

    fn begin(&mut self, wish: Wish, sight: &Sight) -> Answer {
        let frame = self.asked.unwrap_or(*sight.frame());
        let frame = frame.with_cursor(sight.frame().pointer());
        let wanted = match &wish.what {
            What::Act(action) => Ok(vec![action.clone()]),
            What::Wrong(why) => Err(why.clone()),
            What::Call(call) => self.manner.actions(call, &frame),
        };
        let called = wish.call.as_ref().map(|call| Called {
            function: call.name.clone(),
            id: call.id.clone(),
            of: self.calls,
        });
        let text = cut(&wish.text, KEPT);
        let mut rest = VecDeque::new();
        let answer = match wanted.and_then(|actions| self.permitted(actions)) {
            Ok(actions) => {
                rest = actions;
                rest.pop_front().map(|action| self.reply(action, called))
            }
            Err(why) => Some(self.refused(text, why)),
        };
        self.doing = Some(Doing {
            wish,
            rest,
            told: Vec::new(),
            failed: false,
        });
        answer.unwrap_or_else(|| self.refused(String::new(), "there is nothing to do".to_owned()))
    }

    fn permitted(&self, actions: Vec<Action>) -> Result<VecDeque<Action>, String> {
        let mut kinds = actions.iter().map(Action::kind);
        match kinds.find(|kind| !self.allowed.contains(kind)) {
            Some(ActionKind::Run) => {
                Err("commands can't be run in this task: use the keyboard and the mouse".to_owned())
            }
            Some(kind) => Err(format!("`{kind}` is not allowed in this task")),
            None => Ok(actions.into()),
        }
    }

    fn reply(&mut self, action: Action, called: Option<Called>) -> Answer {
        Answer::Reply(Reply {
            thought: self.thought.take(),
            called,
            condensed: self.condensed.take(),
            ..action.into()
        })
    }

    fn refused(&mut self, text: String, why: String) -> Answer {
        Answer::NotAnAction {
            text,
            why,
            condensed: self.condensed.take(),
        }
    }

    async fn ask(&mut self, sight: &Sight) -> Result<Answer, AgentError> {
        let Some(brief) = self.brief.clone() else {
            return Err(AgentError::Crashed("it was not started".to_owned()));
        };
        let scene = Scene {
            brief: &brief,
            allowed: &self.allowed,
            size: sight.frame().size(),
            model: self.model.spec(),
        };
        let system = self
            .manner
            .system(&scene)
            .map_err(|why| AgentError::Crashed(format!("the system prompt: {why}")))?;
        let request = Request {
            system: (!system.is_empty()).then_some(system),
            tools: self.manner.tools(&scene),
            output: self.manner.output(&scene),
            ..Request::default()
        };
        let next = if self.conversation.messages().is_empty() {
            self.manner.opening(&scene, sight)
        } else {
            self.manner.told(&self.done)
        };
        self.done.clear();
        note(&mut self.condensed, self.conversation.told(next));
        let asked = ask(
            &self.model,
            request,
            &mut self.conversation,
            &mut self.condensed,
        );
        let (reading, said) = match asked.await? {
            Asked::Reply(reply) => {
                let mut reading = self.manner.read(&reply);
                if reading.wishes.is_empty() {
                    reading.wishes.push(without_action(&reply));
                }
                (reading, self.manner.kept(reply.parts))
            }
            Asked::Unreadable(why) => {
                let wish = Wish {
                    text: why.clone(),
                    what: What::Wrong(format!("your answer could not be read: {why}")),
                    call: None,
                };
                let reading = Reading {
                    thought: None,
                    wishes: vec![wish],
                };
                (reading, Vec::new())
            }
        };
        self.asked = Some(*sight.frame());
        self.conversation.said(or_silence(said), self.steps);
        Ok(self.take_up(reading, sight))
    }

    fn take_up(&mut self, reading: Reading, sight: &Sight) -> Answer {
        let Reading { thought, wishes } = reading;
        self.thought = thought.filter(|thought| !thought.trim().is_empty());
        let calls = wishes.iter().filter(|wish| wish.call.is_some()).count();
        self.calls = u32::try_from(calls).unwrap_or(u32::MAX);
        self.queue = wishes.into_iter().take(MOST_WISHES).collect();
        match self.queue.pop_front() {
            Some(wish) => self.begin(wish, sight),
            None => self.refused(String::new(), "there is nothing to do".to_owned()),
        }
    }
}

#[async_trait]
impl Agent for GuiAgent {
    fn uses(&self) -> Option<&[ActionKind]> {
        Some(&USES)
    }

    async fn start(&mut self, brief: &Brief) -> Result<(), AgentError> {
        let allowed = brief.actions.iter().filter(|kind| USES.contains(kind));
        self.allowed = allowed.copied().collect();
        self.brief = Some(brief.clone());
        Ok(())
    }

    async fn act(&mut self, observation: &Observation) -> Result<Answer, AgentError> {
        let sight = self.take_in(observation).await?;
        self.steps += 1;
        match self.work_off(&sight) {
            Some(answer) => Ok(answer),
            None => self.ask(&sight).await,
        }
    }
}

/// What becomes of an answer that wishes for nothing: all its words are recorded.
fn without_action(reply: &agon_llm::Reply) -> Wish {
    let why = match reply.stop {
        Stop::MaxTokens => "your answer was cut at the limit of its length: answer in fewer words",
        _ => "your answer holds no action",
    };
    Wish {
        text: reply.text(),
        what: What::Wrong(why.to_owned()),
        call: None,
    }
}

/// No provider takes a message without anything in it.
fn or_silence(parts: Vec<Part>) -> Vec<Part> {
    if parts.is_empty() {
        return vec![Part::Text("(nothing)".to_owned())];
    }
    parts
}

/// The beginning and the end, if all is too long.
fn cut(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let half = most / 2;
    let head: String = text.chars().take(half).collect();
    let tail: String = text.chars().skip(count - half).collect();
    format!("{head}\n({} characters left out)\n{tail}", count - 2 * half)
}
