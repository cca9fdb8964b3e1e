//! An open network in any sandbox: what it leads to, and that no address of this machine is among it.

use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use agon_sandbox::{Exec, ExecOutput, Sandbox};

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

fn on_host(line: &str) {
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
        on_host(&format!("ip netns add {name}"));
        on_host(&format!(
            "ip link add {name} type veth peer name cable netns {name}"
        ));
        on_host(&format!("ip addr add {net}.1/24 dev {name}"));
        on_host(&format!("ip link set {name} up"));
        on_host(&format!("ip -n {name} addr add {net}.2/24 dev cable"));
        on_host(&format!("ip -n {name} link set cable up"));
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

async fn run(sandbox: &dyn Sandbox, command: &str) -> ExecOutput {
    let exec = Exec::shell(command, Duration::from_secs(60));
    sandbox.exec(&exec).await.unwrap()
}

fn text(output: &ExecOutput) -> String {
    String::from_utf8(output.stdout.bytes.clone()).unwrap()
}

/// For a sandbox whose network is open.
pub(crate) async fn leads_to_others_and_to_no_address_of_this_machine(sandbox: &dyn Sandbox) {
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

    let write = format!("cat > caller.py <<'END'\n{CALLER}END\npython3 caller.py");
    let net = &neighbour.net;
    let said = run(sandbox, &format!("{write} {net}.2:{PORT}")).await;
    let reached = |how| format!("{net}.2:{PORT} {how} b'hello'\n");
    let reached = reached("plain") + &reached("bound");
    assert_eq!(text(&said), reached, "{said:?}");

    let mut closed = addresses_of_this_machine();
    assert!(closed.contains(&format!("{net}.1")), "{closed:?}");
    closed.extend(["10.0.2.2", "127.0.0.2", "255.255.255.255", "0.0.0.0"].map(str::to_owned));
    closed.push(format!("{net}.255"));
    let words: Vec<String> = closed.iter().map(|it| format!("{it}:{port}")).collect();
    let said = run(sandbox, &format!("{write} {}", words.join(" "))).await;
    assert_eq!(text(&said), "", "{said:?}");
    let nobody = |error: std::io::Error| error.kind() == ErrorKind::WouldBlock;
    assert!(tcp.accept().is_err_and(nobody));
    assert!(udp.recv(&mut [0; 9]).is_err_and(nobody));

    // An address that the machine gets later is closed, too, soon enough.
    on_host(&format!("ip addr add {net}.77/24 dev {}", neighbour.name));
    let call = format!("{write} {net}.77:{PORT} {net}.2:{PORT}");
    let _server = TcpListener::bind(format!("{net}.77:{PORT}")).unwrap();
    let unreachable = format!(
        "python3 -c 'import socket; socket.create_connection((\"{net}.77\", {PORT}), 3)' 2>&1"
    );
    while !text(&run(sandbox, &unreachable).await).contains("No route to host") {}
    let said = run(sandbox, &call).await;
    assert_eq!(text(&said), reached, "{said:?}");
}
