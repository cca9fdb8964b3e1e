//! An open network: what it leads to, and that no address of this machine is among it.

use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::process::{Child, Command, Stdio};

use agon_core::environment::Network;
use agon_sandbox::Provider;

use crate::ground::{provider, request, sh, text};

/// A second machine as far as this one can tell: a network of its own at the other end of a cable, with a server.
struct Neighbour {
    name: String,
    /// The first two thirds of all addresses on the cable.
    net: String,
    server: Child,
}

const PORT: u16 = 7878;

const SERVER: &str = "import socket\nserver = socket.create_server(('0.0.0.0', 7878))\nprint(flush=True)\n\
                      while True:\n    call, _ = server.accept(); call.send(b'hello'); call.close()";

fn run(line: &str) {
    let mut words = line.split_ascii_whitespace();
    let mut command = Command::new(words.next().unwrap());
    let done = command.args(words).output().unwrap();
    assert!(done.status.success(), "`{line}`: {done:?}");
}

impl Neighbour {
    fn new() -> Self {
        use std::io::Read;
        let id = std::process::id();
        let name = format!("ag{id}");
        let net = format!("10.{}.{}", 200 + id / 200 % 50, id % 200);
        run(&format!("ip netns add {name}"));
        run(&format!(
            "ip link add {name} type veth peer name cable netns {name}"
        ));
        run(&format!("ip addr add {net}.1/24 dev {name}"));
        run(&format!("ip link set {name} up"));
        run(&format!("ip -n {name} addr add {net}.2/24 dev cable"));
        run(&format!("ip -n {name} link set cable up"));
        let mut server = Command::new("ip")
            .args(["netns", "exec", &name, "/usr/bin/python3", "-c", SERVER])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut ready = [0];
        server
            .stdout
            .take()
            .unwrap()
            .read_exact(&mut ready)
            .unwrap();
        Self { name, net, server }
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
        for line in [["link", "del"], ["netns", "del"]] {
            let mut command = Command::new("ip");
            let _ = command.args(line).arg(&self.name).output();
        }
    }
}

/// Says which addresses answer: to an ordinary call, and to one that goes to the device past all routes.
const CALLER: &str = r#"
import socket, sys
for word in sys.argv[1:]:
    address, port = word.split(":")
    for device in (None, b"open0\0"):
        for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
            call = socket.socket(socket.AF_INET, kind)
            call.settimeout(1.5)
            try:
                if device: call.setsockopt(socket.SOL_SOCKET, 25, device)
                call.connect((address, int(port)))
                if kind == socket.SOCK_DGRAM: call.send(b"x")
                print(word, "bound" if device else "plain", call.recv(9))
            except OSError: pass
"#;

fn addresses_of_this_machine() -> Vec<String> {
    let listed = Command::new("ip")
        .args(["-4", "-o", "addr"])
        .output()
        .unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let address = |line: &str| line.split_ascii_whitespace().nth(3).map(str::to_owned);
    let addresses = listed.lines().filter_map(address);
    addresses
        .map(|it| it.split('/').next().unwrap().to_owned())
        .collect()
}

#[tokio::test]
async fn an_open_network_reaches_others_and_no_address_of_this_machine() {
    assert!(
        rustix::process::geteuid().is_root(),
        "only root can lay a cable to a second machine"
    );
    let neighbour = Neighbour::new();
    let tcp = TcpListener::bind("0.0.0.0:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let udp = UdpSocket::bind(("0.0.0.0", port)).unwrap();
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();

    let provider = provider();
    let mut request = request();
    request.environment.network = Network::Open;
    let sandbox = provider.prepare(&request).await.unwrap();
    let sandbox = sandbox.as_ref();
    let write = format!("cat > caller.py <<'END'\n{CALLER}END\npython3 caller.py");
    let net = &neighbour.net;
    let said = sh(sandbox, &format!("{write} {net}.2:{PORT}")).await;
    let reached = |how| format!("{net}.2:{PORT} {how} b'hello'\n");
    let reached = reached("plain") + &reached("bound");
    assert_eq!(text(&said.stdout.bytes), reached, "{said:?}");

    let mut closed = addresses_of_this_machine();
    assert!(closed.contains(&format!("{net}.1")), "{closed:?}");
    closed.extend(["10.0.2.2", "127.0.0.2", "255.255.255.255", "0.0.0.0"].map(str::to_owned));
    closed.push(format!("{net}.255"));
    let words: Vec<String> = closed.iter().map(|it| format!("{it}:{port}")).collect();
    let said = sh(sandbox, &format!("{write} {}", words.join(" "))).await;
    assert_eq!(text(&said.stdout.bytes), "", "{said:?}");
    let nobody = |error: std::io::Error| error.kind() == ErrorKind::WouldBlock;
    assert!(tcp.accept().is_err_and(nobody));
    assert!(udp.recv(&mut [0; 9]).is_err_and(nobody));

    // An address that the machine gets later is closed, too, soon enough.
    run(&format!("ip addr add {net}.77/24 dev {}", neighbour.name));
    let call = format!("{write} {net}.77:{PORT} {net}.2:{PORT}");
    let _server = TcpListener::bind(format!("{net}.77:{PORT}")).unwrap();
    let unreachable = format!(
        "python3 -c 'import socket; socket.create_connection((\"{net}.77\", {PORT}), 3)' 2>&1"
    );
    while !text(&sh(sandbox, &unreachable).await.stdout.bytes).contains("No route to host") {}
    let said = sh(sandbox, &call).await;
    assert_eq!(text(&said.stdout.bytes), reached, "{said:?}");
}

#[tokio::test]
async fn nobody_inside_can_open_the_network_further() {
    let provider = provider();
    let mut request = request();
    request.environment.network = Network::Open;
    let sandbox = provider.prepare(&request).await.unwrap();
    let before = sh(sandbox.as_ref(), "cat /proc/net/route /proc/net/fib_trie").await;
    for command in [
        "ip route del unreachable 127.0.0.0/8",
        "ip route add 127.0.0.2 dev open0",
        "ip neigh add 127.0.0.2 lladdr 02:00:00:00:00:01 dev open0",
        "ip addr add 10.9.9.9/8 dev open0",
    ] {
        let said = sh(sandbox.as_ref(), command).await;
        let words = text(&said.stderr.bytes);
        assert!(
            words.contains("Operation not permitted"),
            "`{command}`: {said:?}"
        );
    }
    let after = sh(sandbox.as_ref(), "cat /proc/net/route /proc/net/fib_trie").await;
    assert_eq!(before.stdout, after.stdout);
}

#[tokio::test]
async fn an_open_network_goes_with_its_sandbox() {
    let provider = provider();
    let mut request = request();
    request.environment.network = Network::Open;
    let programs = || {
        let mut look = Command::new("pgrep");
        let found = look.args(["-P", &std::process::id().to_string(), "slirp4netns"]);
        String::from_utf8(found.output().unwrap().stdout).unwrap()
    };
    let sandbox = provider.prepare(&request).await.unwrap();
    assert_eq!(programs().lines().count(), 1);
    sandbox.destroy().await;
    assert_eq!(programs(), "");
}
