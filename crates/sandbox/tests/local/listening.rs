//! A port inside that is answered outside: the only thing that a sandbox without network can call.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use agon_core::environment::Network;
use agon_sandbox::{Provider, SandboxError};

use super::ground::{ground, provider, request, sh, text};
use super::refused::refused;

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
    // Bash itself chooses a descriptor that is free.
    format!("bash -c 'exec {{call}}<>/dev/tcp/127.0.0.1/{port}; printf hello >&$call; cat <&$call'")
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

    let said = refused(ground.sandbox.as_ref(), &call(PORT)).await;
    assert!(said.contains("Connection refused"), "{said}");
    ground.sandbox.destroy().await;
}

#[tokio::test]
async fn the_port_is_not_open_on_the_host_and_opens_nothing_of_it() {
    let host = TcpListener::bind("127.0.0.1:0").unwrap();
    let of_host = host.local_addr().unwrap().port();
    let ground = ground().await;
    let listener = ground.sandbox.listen(PORT).await.unwrap();
    let said = refused(ground.sandbox.as_ref(), &call(of_host)).await;
    assert!(said.contains("Connection refused"), "{said}");
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
    let steal = format!("python3 -c '{server}'");
    let said = refused(ground.sandbox.as_ref(), &steal).await;
    assert!(said.contains("Address already in use"), "{said}");
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
async fn an_open_network_has_a_loopback_of_its_own_too() {
    let provider = provider();
    let mut request = request();
    request.environment.network = Network::Open;
    request.start = Duration::from_secs(30);
    let sandbox = provider.prepare(&request).await.unwrap();
    let answers = answer(sandbox.listen(PORT).await.unwrap(), 1);
    let said = sh(sandbox.as_ref(), &call(PORT)).await;
    assert_eq!(text(&said.stdout.bytes), "from outside\n", "{said:?}");
    assert_eq!(answers.join().unwrap(), ["hello"]);
    // Nobody else can call there.
    TcpStream::connect(("127.0.0.1", PORT)).unwrap_err();
    sandbox.destroy().await;
}
