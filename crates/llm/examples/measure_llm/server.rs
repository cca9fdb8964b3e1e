//! A service that answers every call at once with the same few words, in the form of each provider: in a process of its own,
//! so that its work is not counted as the client's.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::{MethodRouter, post};

use crate::figure::Failed;

/// What the program is told in order to be the server.
pub(crate) const WORD: &str = "serve";

const CHAT: &str = r#"{"id":"chatcmpl-1","object":"chat.completion","created":1700000000,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Done.","refusal":null},"logprobs":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":20,"completion_tokens":2,"total_tokens":22}}"#;
const RESPONSES: &str = r#"{"id":"resp_1","object":"response","created_at":1700000000,"status":"completed","model":"m","output":[{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"Done.","annotations":[]}]}],"usage":{"input_tokens":20,"output_tokens":2,"total_tokens":22}}"#;
const MESSAGES: &str = r#"{"id":"msg_1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":20,"output_tokens":2}}"#;
const GEMINI: &str = r#"{"candidates":[{"content":{"parts":[{"text":"Done."}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":20,"candidatesTokenCount":2,"totalTokenCount":22},"modelVersion":"m"}"#;

/// Serves until its standard input ends, which is when the client is gone.
pub(crate) fn serve() -> Result<(), Failed> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        writeln!(std::io::stdout(), "{}", listener.local_addr()?)?;
        let router = Router::new()
            .route("/v1/chat/completions", answer(CHAT))
            .route("/v1/responses", answer(RESPONSES))
            .route("/v1/messages", answer(MESSAGES))
            .route("/v1/models/{call}", answer(GEMINI));
        let (gone, end) = tokio::sync::oneshot::channel::<()>();
        std::thread::spawn(move || {
            let _ = std::io::stdin().read_to_end(&mut Vec::new());
            drop(gone);
        });
        tokio::select! {
            served = axum::serve(listener, router) => served?,
            _ = end => {}
        }
        Ok(())
    })
}

/// The request is read to its end, as a service would.
fn answer(body: &'static str) -> MethodRouter {
    post(move |_request: Bytes| async move { ([(CONTENT_TYPE, "application/json")], body) })
}

/// Ends with this.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) url: String,
    child: Child,
    /// Its end is the server's.
    _life: Option<ChildStdin>,
}

impl Server {
    pub(crate) fn start() -> Result<Self, Failed> {
        let mut child = Command::new(std::env::current_exe()?)
            .arg(WORD)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut address = String::new();
        if let Some(out) = child.stdout.take() {
            BufReader::new(out).read_line(&mut address)?;
        }
        Ok(Self {
            url: format!("http://{}/v1", address.trim()),
            _life: child.stdin.take(),
            child,
        })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
