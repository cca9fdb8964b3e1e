//! `http://URL`: an agent that is a service. The same messages as on a pipe, one POST each; the
//! answer to an observation is the body of its response.

use std::error::Error;
use std::time::Duration;

use agon_core::{Brief, Observation};
use async_trait::async_trait;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Response, Url};

use crate::contract::{Agent, AgentError, Answer, Pictures};
use crate::error::SetupError;
use crate::factory::{Contender, TrialContext};
use crate::registry::Kind;
use crate::wire::{self, MAX_ANSWER, Message};

pub(crate) const KIND: Kind = Kind {
    name: "http://",
    argument: "URL",
    about: "a service that speaks the agent protocol, one POST per message",
    check: |argument| url(argument).map(drop),
    open: |argument, _| Ok(Box::new(Service::open(argument)?)),
};

const CONNECT: Duration = Duration::from_secs(10);
/// Shorter than servers keep idle connections, so that none is used just as it is closed.
const IDLE: Duration = Duration::from_secs(2);
/// For the farewell, which nobody has to answer.
const FAREWELL: Duration = Duration::from_secs(2);
/// The engine's own deadline for a step comes first; this is the last resort.
const SLACK: Duration = Duration::from_secs(10);

fn url(argument: &str) -> Result<Url, String> {
    let url = Url::parse(&format!("http://{argument}")).map_err(|error| error.to_string())?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err("names and passwords in the URL would end up in the run folder".to_owned());
    }
    Ok(url)
}

#[derive(Debug)]
struct Service {
    client: Client,
    url: Url,
}

impl Service {
    fn open(argument: &str) -> Result<Self, SetupError> {
        let url = url(argument).map_err(|why| SetupError::Spec {
            spec: format!("http://{argument}"),
            why,
        })?;
        let client = agon_llm::plain_http()
            .connect_timeout(CONNECT)
            .pool_idle_timeout(IDLE)
            .build()
            .map_err(|error| SetupError::Client(chain(&error)))?;
        Ok(Self { client, url })
    }
}

impl Contender for Service {
    fn for_trial(&self, context: &TrialContext<'_>) -> Result<Box<dyn Agent>, AgentError> {
        Ok(Box::new(Caller {
            client: self.client.clone(),
            url: self.url.clone(),
            start: context.limits.start.duration(),
            step: context.limits.step.duration().saturating_add(SLACK),
            trial: String::new(),
            steps: 0,
            pictures: Pictures::default(),
        }))
    }
}

#[derive(Debug)]
struct Caller {
    client: Client,
    url: Url,
    start: Duration,
    step: Duration,
    trial: String,
    steps: u32,
    pictures: Pictures,
}

impl Caller {
    async fn post(&self, message: &Message<'_>, deadline: Duration) -> Result<Vec<u8>, AgentError> {
        let response = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .timeout(deadline)
            .body(message.to_json()?)
            .send()
            .await
            .map_err(|error| failed(&error))?;
        let status = response.status();
        if status.is_server_error() {
            return Err(AgentError::Crashed(format!("{} says {status}", self.url)));
        }
        if !status.is_success() {
            return Err(AgentError::Garbage(format!("HTTP status {status}")));
        }
        bounded(response).await
    }
}

async fn bounded(mut response: Response) -> Result<Vec<u8>, AgentError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(&error))? {
        if body.len() + chunk.len() > MAX_ANSWER {
            return Err(wire::too_long());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Not connected: the service is not there, which is a fault when a trial begins. Connected and no
/// answer: the agent's own doing.
fn failed(error: &reqwest::Error) -> AgentError {
    if error.is_connect() {
        AgentError::Unreachable(chain(error))
    } else {
        AgentError::Crashed(chain(error))
    }
}

/// An error with its causes, which say more than itself.
fn chain(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    let texts: Vec<String> = causes.map(ToString::to_string).collect();
    wire::cut(&texts.join(": "), 500)
}

#[async_trait]
impl Agent for Caller {
    async fn start(&mut self, brief: &Brief) -> Result<(), AgentError> {
        self.trial.clone_from(&brief.trial);
        // Whatever it says to this is no answer yet.
        self.post(&Message::start(brief), self.start)
            .await
            .map(drop)
    }

    async fn act(&mut self, observation: &Observation) -> Result<Answer, AgentError> {
        self.steps += 1;
        let message = Message::observation(&self.trial, self.steps, observation, self.pictures);
        // It was there when the trial began: that it no longer is, is the agent's own doing.
        let answer = self
            .post(&message, self.step)
            .await
            .map_err(|error| match error {
                AgentError::Unreachable(why) => AgentError::Crashed(why),
                error => error,
            });
        let answer = wire::read_answer(&answer?)?;
        self.pictures = answer.pictures().unwrap_or(self.pictures);
        Ok(answer)
    }

    async fn end(&mut self) {
        let farewell = Message::End { trial: &self.trial };
        let _ = self.post(&farewell, FAREWELL).await;
    }
}
