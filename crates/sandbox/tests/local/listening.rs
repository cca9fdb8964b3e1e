//! A port inside that is answered outside: the only thing that a sandbox without network can call.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use agon_core::environment::Network;
use agon_sandbox::{Provider, SandboxError};

use super::ground::{ground, provider, request, text};

const PORT: u16 = 4141;

/// Says one line to as many as call.
fn answer(listener: TcpListener, times: usize) -> std::thread::JoinHandle<Vec<String>> {
    std::thread::spawn(move || {
        let answered = (0..times).map(|_| {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = [0; 5];
            stream.read_exact(&mut asked).unwrap();
            stream.write_all(b"from outside\n").unwrap();
            String::from_utf8_lossy(&asked).into_owned()
        });
        answered.collect()
    })
}

/// `hello` to a port of the loopback, and what comes back.
fn call(port: u16) -> String {
    format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}; printf hello >&3; cat <&3'")
}

#[tokio::test]
async fn programs_inside_are_answered_outside_until_the_port_is_dropped() {
    let ground = ground().await;
    let listener = ground.sandbox.listen(PORT).await.unwrap();
    let answers = answer(listener, 2);
    for _ in 0..2 {
        let said = ground.sh(&call(PORT)).await;
        assert_eq!(text(&said.stdout.bytes), "from outside\n", "{said:?}");
    }
    assert_eq!(answers.join().unwrap(), ["hello", "hello"]);

    let said = ground.sh(&call(PORT)).await;
    assert!(!said.exit.success(), "{said:?}");
    assert!(text(&said.stderr.bytes).contains("refused"), "{said:?}");
    ground.sandbox.destroy().await;
}

#[tokio::test]
async fn the_port_is_not_open_on_the_host_and_opens_nothing_of_it() {
    let host = TcpListener::bind("127.0.0.1:0").unwrap();
    let of_host = host.local_addr().unwrap().port();
    let ground = ground().await;
    let listener = ground.sandbox.listen(PORT).await.unwrap();
    let said = ground.sh(&call(of_host)).await;
    assert!(!said.exit.success(), "{said:?}");
    let said = ground
        .sh("ls /sys/class/net 2>/dev/null; grep -c : /proc/net/dev")
        .await;
    assert_eq!(text(&said.stdout.bytes).trim(), "1", "only the loopback");

    // What listens on this port of the host, if anybody does, is somebody else.
    if let Ok(mut stream) = TcpStream::connect(("127.0.0.1", PORT)) {
        stream.write_all(b"hello").unwrap();
    }
    listener.set_nonblocking(true).unwrap();
    assert!(listener.accept().is_err());
    ground.sandbox.destroy().await;
}

#[tokio::test]
async fn a_port_is_taken_once() {
    let ground = ground().await;
    let held = ground.sandbox.listen(PORT).await.unwrap();
    let error = ground.sandbox.listen(PORT).await.unwrap_err();
    assert!(matches!(error, SandboxError::Denied(_)), "{error}");
    let server = "import socket; s = socket.socket(); \
                  s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1); \
                  s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1); \
                  s.bind((\"\", 4141)); s.listen()";
    let stolen = ground.sh(&format!("python3 -c '{server}'")).await;
    assert!(!stolen.exit.success(), "{stolen:?}");
    drop(held);
    ground.sandbox.listen(PORT).await.unwrap();
    ground.sandbox.destroy().await;
}

#[tokio::test]
async fn callers_whom_nobody_answers_do_not_hold_up_the_init() {
    let ground = ground().await;
    let _held = ground.sandbox.listen(PORT).await.unwrap();
    let flood = "import socket\nheld = []\n\
                 for _ in range(900):\n\
                 \x20 s = socket.socket(); s.setblocking(False); held.append(s)\n\
                 \x20 s.connect_ex((\"127.0.0.1\", 4141))\n\
                 print(len(held))";
    let said = ground.sh(&format!("python3 -c '{flood}'")).await;
    assert_eq!(text(&said.stdout.bytes), "900\n", "{said:?}");
    let said = ground.sh("echo still there").await;
    assert_eq!(text(&said.stdout.bytes), "still there\n");
    ground.sandbox.destroy().await;
}

#[tokio::test]
async fn with_the_hosts_network_there_is_no_port_of_its_own() {
    let provider = provider();
    let mut request = request();
    request.environment.network = Network::Open;
    request.start = Duration::from_secs(30);
    let sandbox = provider.prepare(&request).await.unwrap();
    let error = sandbox.listen(PORT).await.unwrap_err();
    assert!(error.to_string().contains("loopback"), "{error}");
    sandbox.destroy().await;
}
