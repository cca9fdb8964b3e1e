//! What the tests of the gateway stand on: a gateway with models, and a client.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::account::{Account, Budget};
use crate::client::{Model, Session, SessionOptions};
use crate::gateway::{At, Gateway, GatewayOptions};
use crate::spec::{ModelSpec, Provider, Settings, Wire};

/// For what takes no time.
pub(super) const LONG: Duration = Duration::from_secs(30);

pub(in crate::gateway) fn mock(name: &str) -> Model {
    let spec = ModelSpec {
        name: format!("mock/{name}"),
        provider: Provider::Mock,
        wire: Wire::Chat,
        model: name.to_owned(),
        base_url: String::new(),
        key: None,
        settings: Settings {
            num_retries: 1,
            ..Settings::default()
        },
    };
    let session = Session::open(&SessionOptions::default()).unwrap();
    session.model(spec).unwrap()
}

pub(super) struct Ground {
    pub(super) gateway: Gateway,
    pub(super) account: Arc<Account>,
    pub(super) base: String,
    pub(super) client: reqwest::Client,
}

pub(super) fn open(models: &[&str], budget: Budget, most_in_flight: usize, at: At) -> Ground {
    let models = models.iter().map(|name| mock(name)).collect();
    with(models, budget, most_in_flight, at)
}

pub(super) fn with(models: Vec<Model>, budget: Budget, most_in_flight: usize, at: At) -> Ground {
    let account = Arc::new(Account::of_trial(budget, None));
    let gateway = Gateway::open(GatewayOptions {
        models,
        account: Arc::clone(&account),
        at,
        most_in_flight,
    })
    .unwrap();
    Ground {
        base: gateway.environment()["ANTHROPIC_BASE_URL"].clone(),
        gateway,
        account,
        client: crate::plain_http().build().unwrap(),
    }
}

/// As from within a sandbox.
pub(super) fn inside(models: &[&str]) -> Ground {
    open(models, Budget::default(), 16, sandbox())
}

pub(super) fn sandbox() -> At {
    At::Sandbox(TcpListener::bind("127.0.0.1:0").unwrap())
}

impl Ground {
    pub(super) async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let sent = self.client.post(format!("{}{path}", self.base));
        let response = sent.body(body.to_string()).send().await.unwrap();
        let status = response.status().as_u16();
        let body = response.text().await.unwrap();
        (status, serde_json::from_str(&body).unwrap_or(body.into()))
    }

    pub(super) async fn get(&self, path: &str) -> (u16, Value) {
        let sent = self.client.get(format!("{}{path}", self.base));
        let response = sent.send().await.unwrap();
        (response.status().as_u16(), response_json(response).await)
    }

    pub(super) fn address(&self) -> &str {
        self.base.trim_start_matches("http://")
    }

    /// Begins a request, and leaves it at that.
    pub(super) async fn begin(&self) -> TcpStream {
        let mut stream = TcpStream::connect(self.address()).await.unwrap();
        let head = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{";
        stream.write_all(head.as_bytes()).await.unwrap();
        stream
    }
}

pub(super) async fn response_json(response: reqwest::Response) -> Value {
    serde_json::from_str(&response.text().await.unwrap()).unwrap()
}

pub(super) fn hello() -> Value {
    json!({"model": "agon", "max_tokens": 100, "messages": [{"role": "user", "content": "hello"}]})
}

pub(super) fn said(body: &Value) -> &Value {
    &body["choices"][0]["message"]["content"]
}
