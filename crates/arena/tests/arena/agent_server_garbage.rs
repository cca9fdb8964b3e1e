//! Whatever comes over the wire, the server goes on serving.

use std::io::{Read, Write};
use std::net::TcpStream;

use agon_arena::wire::path;
use agon_arena::{AgentServer, Flow};

use super::agent_server_stage::{Closures, PATIENCE, Stage, nowhere};

fn stage() -> Stage {
    let nothing = || Box::new(Closures::step(|_, _| Flow::Continue)) as _;
    Stage::of(AgentServer::start(nothing, &nowhere()).unwrap())
}

fn connect(stage: &Stage) -> TcpStream {
    let stream = TcpStream::connect(stage.server.address()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// All that comes until the server hangs up.
fn rest_of(mut stream: TcpStream) -> String {
    let mut all = Vec::new();
    // A connection that is reset has also been hung up.
    let _ = stream.read_to_end(&mut all);
    String::from_utf8_lossy(&all).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_http_is_hung_up_on() {
    let stage = stage();
    for garbage in [
        &b"\x00\xff\xfe\r\n\r\n"[..],
        b"GET\r\n\r\n",
        b"GET /agent/status HTTP/9.9\r\n\r\n",
        b"POST /agent/task/start HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        b"POST /agent/task/start HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    ] {
        let mut stream = connect(&stage);
        stream.write_all(garbage).unwrap();
        stream.shutdown(std::net::Shutdown::Write).unwrap();
        rest_of(stream);
        assert_eq!(stage.state().await, "INIT");
    }
    let mut stream = connect(&stage);
    let header = format!(
        "GET /agent/status HTTP/1.1\r\nx: {}\r\n\r\n",
        "y".repeat(1 << 20)
    );
    let _ = stream.write_all(header.as_bytes());
    rest_of(stream);
    assert_eq!(stage.register().await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_of_a_hundred_megabytes_is_refused() {
    let stage = stage();
    for head in ["content-length: 104857600", "transfer-encoding: chunked"] {
        let mut stream = connect(&stage);
        let start = format!(
            "POST {} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n{head}\r\n\r\n",
            path::AGENT_TASK_START
        );
        stream.write_all(start.as_bytes()).unwrap();
        let chunk = [b"10000\r\n".to_vec(), vec![b' '; 1 << 16], b"\r\n".to_vec()].concat();
        let refused = (0..1600).any(|_| stream.write_all(&chunk).is_err());
        let answer = rest_of(stream);
        assert!(refused || answer.starts_with("HTTP/1.1 413"), "{answer}");
        assert_eq!(stage.state().await, "INIT");
    }
    let long = format!("{{\"x\":\"{}\"}}", "y".repeat(1 << 20));
    let request = stage
        .client
        .post(format!("{}{}", stage.server.url(), path::AGENT_TASK_START));
    let request = request
        .header("content-type", "application/json")
        .body(long);
    assert_eq!(request.send().await.unwrap().status().as_u16(), 413);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_sends_drop_by_drop_is_hung_up_on_and_others_are_served_meanwhile() {
    let stage = stage();
    let mut slow: Vec<_> = (0..200).map(|_| connect(&stage)).collect();
    for stream in &mut slow {
        stream
            .write_all(b"GET /agent/status HTTP/1.1\r\nx: ")
            .unwrap();
    }
    assert_eq!(stage.state().await, "INIT", "there are places left");
    expect_hung_up(slow).await;
    assert_eq!(stage.register().await, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_takes_all_places_has_them_for_a_while_only() {
    let stage = stage();
    // More than are served at the same time.
    let mut slow: Vec<_> = (0..300).map(|_| connect(&stage)).collect();
    for stream in &mut slow {
        let _ = stream.write_all(b"GET /agent/status HTTP/1.1\r\nx: ");
    }
    let mut late = connect(&stage);
    let _ = late.write_all(b"GET /agent/status HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n");
    let answer = tokio::task::spawn_blocking(move || rest_of(late)).await;
    assert_eq!(answer.unwrap(), "", "there is no place: it is hung up on");
    expect_hung_up(slow).await;
    assert_eq!(stage.register().await, 200);
}

/// Each of them is hung up on without a good answer; none waits for ever.
async fn expect_hung_up(slow: Vec<TcpStream>) {
    let hung_up = tokio::task::spawn_blocking(move || {
        for mut stream in slow {
            let mut answer = Vec::new();
            match stream.read_to_end(&mut answer) {
                Ok(_) => {}
                Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
            }
            let answer = String::from_utf8_lossy(&answer);
            assert!(
                answer.is_empty() || answer.starts_with("HTTP/1.1 408"),
                "{answer}"
            );
        }
    });
    hung_up.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_never_ends_is_408() {
    let stage = stage();
    let mut stream = connect(&stage);
    let start = "POST /agent/task/start HTTP/1.1\r\nhost: 127.0.0.1\r\n\
                 content-type: application/json\r\ncontent-length: 10\r\n\r\n{";
    stream.write_all(start.as_bytes()).unwrap();
    let answer = tokio::task::spawn_blocking(move || rest_of(stream))
        .await
        .unwrap();
    assert!(answer.starts_with("HTTP/1.1 408"), "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_web_page_presses_no_keys() {
    let stage = stage();
    let url = format!("{}{}", stage.server.url(), path::AGENT_KILL);
    let request = stage
        .client
        .post(url)
        .header("origin", "http://evil.example");
    assert_eq!(request.send().await.unwrap().status().as_u16(), 403);
}
