//! `http://URL`: a runner that is a service. One POST per test case; the body of the response is its result.

use std::error::Error;
use std::time::Duration;

use agon_agent::SetupError;
use async_trait::async_trait;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Response, Url};

use super::contender::{message, read};
use super::contract::{Runner, RunnerConfig, RunnerError};
use crate::results::{TestCase, TestCaseRun};

/// Of any runner's answer: a hundred screens fit into it.
pub(super) const MOST_OF_AN_ANSWER: usize = 256 << 20;

const CONNECT: Duration = Duration::from_secs(10);
/// Shorter than servers keep idle connections, so that none is used just as it is closed.
const IDLE: Duration = Duration::from_secs(2);
/// The deadline of the case itself comes first; this is the last resort.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

#[derive(Debug)]
pub(super) struct Service {
    client: Client,
    url: Url,
}

impl Service {
    pub(super) fn open(spec: &str) -> Result<Self, SetupError> {
        let wrong = |why: String| SetupError::Spec {
            spec: spec.to_owned(),
            why,
        };
        let url = Url::parse(spec).map_err(|error| wrong(error.to_string()))?;
        if !url.username().is_empty() || url.password().is_some() {
            let why = "names and passwords in the URL would end up in the run folder";
            return Err(wrong(why.to_owned()));
        }
        let client = agon_llm::plain_http()
            .connect_timeout(CONNECT)
            .pool_idle_timeout(IDLE)
            .timeout(LONGEST)
            .build()
            .map_err(|error| SetupError::Client(chain(&error)))?;
        Ok(Self { client, url })
    }
}

#[async_trait]
impl Runner for Service {
    async fn run(
        &self,
        testcase: &TestCase,
        config: &RunnerConfig,
    ) -> Result<TestCaseRun, RunnerError> {
        let response = self
            .client
            .post(self.url.clone())
            .header(CONTENT_TYPE, "application/json")
            .body(message(testcase, config)?)
            .send()
            .await
            .map_err(|error| failed(&error))?;
        let status = response.status();
        if status.is_server_error() {
            return Err(RunnerError::Crashed(format!("{} says {status}", self.url)));
        }
        if !status.is_success() {
            return Err(RunnerError::Garbage(format!("HTTP status {status}")));
        }
        read(&bounded(response).await?)
    }
}

async fn bounded(mut response: Response) -> Result<Vec<u8>, RunnerError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(&error))? {
        if body.len() + chunk.len() > MOST_OF_AN_ANSWER {
            let why = format!("it is longer than {MOST_OF_AN_ANSWER} bytes");
            return Err(RunnerError::Garbage(why));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Not connected: it is not there. Connected and no answer: its own doing.
fn failed(error: &reqwest::Error) -> RunnerError {
    if error.is_connect() {
        RunnerError::Unreachable(chain(error))
    } else {
        RunnerError::Crashed(chain(error))
    }
}

/// An error with its causes, which say more than itself.
fn chain(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    let texts: Vec<String> = causes.map(ToString::to_string).collect();
    texts.join(": ").chars().take(500).collect()
}
