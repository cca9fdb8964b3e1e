//! `http://` agents over real sockets, served by hand so that they can misbehave.

use agon_agent::{Agent, AgentError, Answer};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;

use crate::support::{agent_for, brief, factory, finish, first, is_silent, seen, soon, task};

/// What the server does once it has read a request.
#[derive(Clone)]
enum Then {
    Send(Vec<u8>),
    /// Sends the head and then more and more body.
    Flood,
    Close,
    Nothing,
}

fn respond(status: &str, body: &str) -> Then {
    let length = body.len();
    Then::Send(format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n\r\n{body}").into_bytes())
}

fn ok(body: &str) -> Then {
    respond("200 OK", body)
}

struct Served {
    spec: String,
    /// Bodies of the requests, in order.
    requests: mpsc::UnboundedReceiver<serde_json::Value>,
}

/// Answers observations with `then` and everything else with an empty 200.
async fn serve(then: Then) -> Served {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let spec = format!("http://{}/act", listener.local_addr().unwrap());
    let (seen, requests) = mpsc::unbounded_channel();
    tokio::spawn(async move {
        while let Ok((connection, _)) = listener.accept().await {
            tokio::spawn(converse(connection, then.clone(), seen.clone()));
        }
    });
    Served { spec, requests }
}

async fn converse(
    connection: TcpStream,
    then: Then,
    seen: mpsc::UnboundedSender<serde_json::Value>,
) -> Option<()> {
    let mut connection = BufReader::new(connection);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            connection.read_line(&mut line).await.ok()?;
            let line = line.trim_end().to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length: ") {
                length = value.parse().ok()?;
            }
            if line.is_empty() {
                break;
            }
        }
        let mut body = vec![0; length];
        connection.read_exact(&mut body).await.ok()?;
        let request: serde_json::Value = serde_json::from_slice(&body).ok()?;
        let observed = request["type"] == "observation";
        seen.send(request).ok()?;
        let then = if observed { then.clone() } else { ok("") };
        match then {
            Then::Send(bytes) => connection.write_all(&bytes).await.ok()?,
            Then::Flood => {
                let head = "HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n";
                connection.write_all(head.as_bytes()).await.ok()?;
                loop {
                    connection.write_all(&[b'x'; 65536]).await.ok()?;
                }
            }
            Then::Close => return None,
            Then::Nothing => std::future::pending().await,
        }
    }
}

async fn started(spec: &str) -> Box<dyn Agent> {
    let mut agent = agent_for(&factory(spec), &task("", None), 1);
    soon(agent.start(&brief())).await.unwrap();
    agent
}

async fn answer(then: Then) -> Result<Answer, AgentError> {
    let served = serve(then).await;
    first(&mut *started(&served.spec).await).await
}

#[tokio::test]
async fn every_message_is_one_post() {
    let mut served = serve(ok(r#"{"action":"finish"}"#)).await;
    let mut agent = started(&served.spec).await;
    assert_eq!(first(&mut *agent).await, Ok(finish()));
    assert_eq!(first(&mut *agent).await, Ok(finish()));
    soon(agent.end()).await;
    let mut seen = Vec::new();
    for _ in 0..4 {
        seen.push(soon(served.requests.recv()).await.unwrap());
    }
    let types: Vec<_> = seen.iter().map(|message| &message["type"]).collect();
    assert_eq!(types, ["start", "observation", "observation", "end"]);
    assert_eq!(seen[2]["step"], 2);
    let trial = &seen[0]["task"]["trial"];
    assert!(trial.is_string());
    assert!(seen[1..].iter().all(|message| message["trial"] == *trial));
}

#[tokio::test]
async fn pictures_are_sent_until_they_are_declined() {
    let mut served = serve(ok(r#"{"action":"screenshot","pictures":false}"#)).await;
    let mut agent = started(&served.spec).await;
    for _ in 0..2 {
        soon(agent.act(&seen(b"\x89PNG"))).await.unwrap();
    }
    let mut sent = Vec::new();
    for _ in 0..3 {
        sent.push(soon(served.requests.recv()).await.unwrap());
    }
    let pictures = [1, 2].map(|index: usize| &sent[index]["screen"]["picture"]);
    assert_eq!(pictures[0]["base64"], "iVBORw==");
    assert_eq!(pictures[1].get("base64"), None);
    assert_eq!(pictures[1]["blob"], pictures[0]["blob"]);
    assert_eq!(sent[2]["screen"]["window"]["title"], "notes");
}

#[tokio::test]
async fn a_service_that_is_not_there_is_a_fault() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let spec = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    for spec in [spec.as_str(), "http://agent.invalid/"] {
        let mut agent = agent_for(&factory(spec), &task("", None), 1);
        let error = soon(agent.start(&brief())).await.unwrap_err();
        assert!(
            matches!(error, AgentError::Unreachable(_)),
            "{spec}: {error}"
        );
    }
}

#[tokio::test]
async fn a_service_that_answers_badly_is_no_fault() {
    for status in ["500 Internal Server Error", "503 Service Unavailable"] {
        let error = answer(respond(status, "")).await.unwrap_err();
        assert!(matches!(&error, AgentError::Crashed(why) if why.contains(&status[..3])));
    }
    for then in [
        respond("404 Not Found", ""),
        respond("302 Found", ""),
        ok(""),
        ok("<html>"),
        Then::Flood,
    ] {
        let error = answer(then).await.unwrap_err();
        assert!(matches!(error, AgentError::Garbage(_)), "{error}");
    }
    let refused = answer(ok(r#"{"action":"fly"}"#)).await;
    assert!(matches!(refused, Ok(Answer::NotAnAction { .. })));
}

#[tokio::test]
async fn a_service_that_dies_over_an_answer_has_crashed() {
    let half = Then::Send(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{".to_vec());
    let not_http = Then::Send(b"hello?\r\n\r\n".to_vec());
    for then in [Then::Close, not_http] {
        let error = answer(then).await.unwrap_err();
        assert!(matches!(error, AgentError::Crashed(_)), "{error}");
    }
    let served = serve(half).await;
    assert!(is_silent(&mut *started(&served.spec).await).await);
}

#[tokio::test]
async fn a_service_that_does_not_answer_is_silent() {
    let served = serve(Then::Nothing).await;
    let mut agent = started(&served.spec).await;
    assert!(is_silent(&mut *agent).await);
    soon(agent.end()).await;
}
