//! A server for one test, and what is said to it.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;

use reqwest::Client;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(super) const PROGRAM: &str = env!("CARGO_BIN_EXE_agon-local");
/// Longer than any answer takes, even on a busy machine.
pub(super) const LONG: Duration = Duration::from_secs(120);

pub(super) fn weights() -> PathBuf {
    let absolute = |name: &str| {
        let path = std::env::var_os(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let cache =
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    let file = cache
        .unwrap()
        .join("agon/models/SmolLM2-135M-Instruct.Q4_1.gguf");
    assert!(
        file.is_file(),
        "run `agon llm install smollm2` first: {}",
        file.display()
    );
    file
}

pub(super) fn private_folder() -> TempDir {
    let mut builder = tempfile::Builder::new();
    builder.permissions(std::fs::Permissions::from_mode(0o700));
    builder.tempdir().unwrap()
}

pub(super) fn command(model: &Path, socket: &Path) -> Command {
    let mut command = Command::new(PROGRAM);
    command
        .arg("--model")
        .arg(model)
        .arg("--socket")
        .arg(socket);
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

pub(super) struct Server {
    pub(super) child: Child,
    pub(super) input: Option<ChildStdin>,
    pub(super) folder: TempDir,
    pub(super) client: Client,
}

impl Server {
    pub(super) fn start(options: &[&str]) -> Self {
        let folder = private_folder();
        let socket = folder.path().join("socket");
        let mut child = command(&weights(), &socket).args(options).spawn().unwrap();
        let mut line = String::new();
        let output = child.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        assert_eq!(line, "ready\n");
        let input = child.stdin.take();
        let client = Client::builder()
            .unix_socket(socket)
            .timeout(LONG)
            .build()
            .unwrap();
        Self {
            child,
            input,
            folder,
            client,
        }
    }

    pub(super) fn socket(&self) -> PathBuf {
        self.folder.path().join("socket")
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        self.post_text(path, body.to_string()).await
    }

    pub(super) async fn post_text(&self, path: &str, body: String) -> (u16, Value) {
        let request = self
            .client
            .post(format!("http://localhost{path}"))
            .body(body);
        let response = request.send().await.unwrap();
        let status = response.status().as_u16();
        (status, response.json().await.unwrap())
    }

    /// The answer to one question.
    pub(super) async fn chat(&self, text: &str, extra: &Value) -> Value {
        let (status, body) = self
            .post("/v1/chat/completions", &question(text, extra))
            .await;
        assert_eq!(status, 200, "{body}");
        body
    }

    /// Whether it still answers.
    pub(super) async fn is_well(&self) -> bool {
        let body = self.chat("Say yes.", &json!({"max_tokens": 4})).await;
        !text(&body).is_empty()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A greedy one, unless `extra` says otherwise.
pub(super) fn question(text: &str, extra: &Value) -> Value {
    let mut body =
        json!({"model": "x", "messages": [{"role": "user", "content": text}], "temperature": 0});
    for (key, value) in extra.as_object().unwrap() {
        body[key] = value.clone();
    }
    body
}

pub(super) fn text(body: &Value) -> &str {
    body["choices"][0]["message"]["content"].as_str().unwrap()
}
