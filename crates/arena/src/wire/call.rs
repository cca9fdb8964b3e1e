//! One call of a peer: with a deadline, a bound on its answer, and a word about what went wrong. Nothing
//! that a peer says is believed to be short or sane.

use std::time::Duration;

use reqwest::header::AUTHORIZATION;
use reqwest::{Client, RequestBuilder};

use super::peer::PeerUrl;
use super::token::Token;
use crate::error::ArenaError;

const CONNECT: Duration = Duration::from_millis(500);

/// Shorter than servers keep idle connections, so that none is used just as it is closed.
const IDLE: Duration = Duration::from_secs(2);

/// Of an answer.
const MOST_BYTES: usize = 1 << 20;

/// Calls one peer.
#[derive(Debug, Clone)]
pub(crate) struct Caller {
    client: Client,
    url: PeerUrl,
    token: Option<Token>,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum CallError {
    /// It answered, and said no: it has not done what was asked.
    #[error("{url} refused ({status}): {text}")]
    Refused {
        url: String,
        status: u16,
        text: String,
    },
    /// It is not there: it has not done what was asked.
    #[error("{url} does not answer: {why}")]
    Absent { url: String, why: String },
    /// It may have done what was asked.
    #[error("{url} does not answer: {why}")]
    Unreachable { url: String, why: String },
}

/// An answer that is no refusal.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

pub(crate) fn client() -> Result<Client, ArenaError> {
    let client = agon_llm::plain_http()
        .connect_timeout(CONNECT)
        .pool_idle_timeout(IDLE)
        .build();
    client.map_err(|error| ArenaError::Runtime(std::io::Error::other(error)))
}

impl Caller {
    pub(crate) const fn new(client: Client, url: PeerUrl, token: Option<Token>) -> Self {
        Self { client, url, token }
    }

    pub(crate) const fn url(&self) -> &PeerUrl {
        &self.url
    }

    pub(crate) async fn get(&self, path: &str, within: Duration) -> Result<Answer, CallError> {
        self.send(self.client.get(self.url.join(path)), within)
            .await
    }

    /// Without a body.
    pub(crate) async fn post(&self, path: &str, within: Duration) -> Result<Answer, CallError> {
        self.send(self.client.post(self.url.join(path)), within)
            .await
    }

    pub(crate) async fn post_json(
        &self,
        path: &str,
        body: &impl serde::Serialize,
        within: Duration,
    ) -> Result<Answer, CallError> {
        let request = self.client.post(self.url.join(path)).json(body);
        self.send(request, within).await
    }

    pub(crate) fn unreachable(&self, why: &str) -> CallError {
        CallError::Unreachable {
            url: self.url.to_string(),
            why: why.to_owned(),
        }
    }

    async fn send(&self, request: RequestBuilder, within: Duration) -> Result<Answer, CallError> {
        let request = match &self.token {
            Some(token) => request.header(AUTHORIZATION, token.header()),
            None => request,
        };
        let exchange = async {
            let mut response = request.send().await?;
            let status = response.status().as_u16();
            let mut body = Vec::new();
            while let Some(chunk) = response.chunk().await? {
                if body.len() + chunk.len() > MOST_BYTES {
                    break;
                }
                body.extend_from_slice(&chunk);
            }
            Ok::<_, reqwest::Error>(Answer { status, body })
        };
        match tokio::time::timeout(within, exchange).await {
            Ok(Ok(answer)) if matches!(answer.status, 200 | 204) => Ok(answer),
            Ok(Ok(answer)) => Err(CallError::Refused {
                url: self.url.to_string(),
                status: answer.status,
                text: (String::from_utf8_lossy(&answer.body).chars())
                    .map(|c| if c.is_control() { ' ' } else { c })
                    .take(300)
                    .collect(),
            }),
            Ok(Err(error)) if error.is_connect() => Err(CallError::Absent {
                url: self.url.to_string(),
                why: chain(&error),
            }),
            Ok(Err(error)) => Err(self.unreachable(&chain(&error))),
            Err(_) => Err(self.unreachable(&format!("no answer in {} s", within.as_secs_f64()))),
        }
    }
}

/// An error with its causes, which say more than itself.
fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    let texts: Vec<String> = causes.map(ToString::to_string).collect();
    texts.join(": ").chars().take(500).collect()
}
