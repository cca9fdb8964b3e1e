//! Chromium's DevTools protocol over one WebSocket: commands with their answers, and what the browser says by
//! itself. Knows nothing of pages. Every command has a deadline, and all fail as soon as the browser is gone.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use crate::trouble::{Trouble, trouble};

/// A browser that answers at all answers sooner, also on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// What follows from an event.
pub(crate) enum Then {
    GoOn,
    /// A command, to where the event came from.
    Tell(&'static str, Value),
    /// Nothing can be done any more, and why.
    End(String),
}

/// Dropped, the connection ends, and whatever the browser holds for it.
#[derive(Debug)]
pub(crate) struct DevTools {
    commands: mpsc::UnboundedSender<Command>,
    ended: Arc<OnceLock<String>>,
    talk: JoinHandle<()>,
}

#[derive(Debug)]
struct Command {
    message: Value,
    answer: Option<oneshot::Sender<Result<Value, Trouble>>>,
}

impl DevTools {
    /// `listen` is given the name and the content of each event. It has heard all that came before an answer when
    /// the answer is returned.
    pub(crate) async fn connect(
        address: &str,
        listen: impl FnMut(&str, &Value) -> Then + Send + 'static,
    ) -> Result<Self, Trouble> {
        let socket = tokio::time::timeout(PATIENCE, greeted(address)).await;
        let socket = socket.map_err(|_| Trouble(format!("{address} does not answer")))??;
        let (commands, mut given) = mpsc::unbounded_channel();
        let ended = Arc::new(OnceLock::new());
        let end = Arc::clone(&ended);
        let talk = tokio::spawn(async move {
            let mut talk = Talk::new(socket);
            let why = talk.until_end(&mut given, listen).await;
            // Now, before those who wait for an answer are let go.
            end.set(why).ok();
        });
        Ok(Self {
            commands,
            ended,
            talk,
        })
    }

    /// Says why nothing can be asked any more, once that is so.
    pub(crate) fn ended(&self) -> Option<&str> {
        self.ended.get().map(String::as_str)
    }

    /// Of the browser, or of what a session is attached to.
    pub(crate) async fn ask(
        &self,
        session: Option<&str>,
        method: &'static str,
        parameters: Value,
    ) -> Result<Value, Trouble> {
        let (answer, answered) = oneshot::channel();
        let command = Command {
            message: message(session, method, parameters),
            answer: Some(answer),
        };
        self.commands.send(command).ok();
        match tokio::time::timeout(PATIENCE, answered).await {
            Ok(Ok(answer)) => answer.map_err(|error| Trouble(format!("{method}: {error}"))),
            Ok(Err(_)) => {
                let why = self.ended().unwrap_or("the connection ended");
                Err(Trouble(format!("{method}: {why}")))
            }
            Err(_) => Err(Trouble(format!("{method}: no answer in {PATIENCE:?}"))),
        }
    }
}

impl Drop for DevTools {
    fn drop(&mut self) {
        self.talk.abort();
    }
}

async fn greeted(address: &str) -> Result<WebSocketStream<TcpStream>, Trouble> {
    let host = address
        .strip_prefix("ws://")
        .and_then(|rest| rest.split('/').next())
        .ok_or_else(|| Trouble(format!("`{address}` is not the address of a debugger")))?;
    let stream = TcpStream::connect(host).await;
    let stream = stream.map_err(|error| Trouble(format!("{host}: {error}")))?;
    stream.set_nodelay(true).map_err(trouble)?;
    // A picture of a tall page is one large message.
    let unlimited = WebSocketConfig::default()
        .max_message_size(None)
        .max_frame_size(None);
    let greeted = tokio_tungstenite::client_async_with_config(address, stream, Some(unlimited));
    let (socket, _) = greeted.await.map_err(trouble)?;
    Ok(socket)
}

fn message(session: Option<&str>, method: &str, parameters: Value) -> Value {
    let mut message = json!({"method": method, "params": parameters});
    if let Some(session) = session {
        message["sessionId"] = json!(session);
    }
    message
}

struct Talk {
    socket: WebSocketStream<TcpStream>,
    number: u64,
    waiting: HashMap<u64, oneshot::Sender<Result<Value, Trouble>>>,
}

impl Talk {
    fn new(socket: WebSocketStream<TcpStream>) -> Self {
        Self {
            socket,
            number: 0,
            waiting: HashMap::new(),
        }
    }

    /// Returns why it ended.
    async fn until_end(
        &mut self,
        given: &mut mpsc::UnboundedReceiver<Command>,
        mut listen: impl FnMut(&str, &Value) -> Then,
    ) -> String {
        loop {
            let done = tokio::select! {
                command = given.recv() => match command {
                    Some(command) => self.send(command).await,
                    None => return "the connection was dropped".to_owned(),
                },
                heard = self.socket.next() => match heard {
                    Some(Ok(Message::Text(text))) => self.hear(&text, &mut listen).await,
                    Some(Ok(_)) => Ok(()),
                    Some(Err(error)) => Err(format!("the browser is gone: {error}")),
                    None => Err("the browser is gone".to_owned()),
                },
            };
            if let Err(why) = done {
                return why;
            }
        }
    }

    async fn send(&mut self, command: Command) -> Result<(), String> {
        let Command {
            mut message,
            answer,
        } = command;
        self.number += 1;
        message["id"] = json!(self.number);
        if let Some(answer) = answer {
            self.waiting.insert(self.number, answer);
        }
        let sent = self.socket.send(Message::text(message.to_string())).await;
        sent.map_err(|error| format!("the browser is gone: {error}"))
    }

    async fn hear(
        &mut self,
        text: &str,
        listen: &mut impl FnMut(&str, &Value) -> Then,
    ) -> Result<(), String> {
        let mut heard: Value = serde_json::from_str(text)
            .map_err(|error| format!("the browser sent invalid JSON: {error}"))?;
        if let Some(number) = heard["id"].as_u64() {
            let answer = match heard["error"]["message"].as_str() {
                Some(error) => Err(trouble(error)),
                None => Ok(heard["result"].take()),
            };
            if let Some(waits) = self.waiting.remove(&number) {
                waits.send(answer).ok();
            }
            return Ok(());
        }
        match listen(
            heard["method"].as_str().unwrap_or_default(),
            &heard["params"],
        ) {
            Then::GoOn => Ok(()),
            Then::Tell(method, parameters) => {
                let message = message(heard["sessionId"].as_str(), method, parameters);
                let answer = None;
                self.send(Command { message, answer }).await
            }
            Then::End(why) => Err(why),
        }
    }
}
