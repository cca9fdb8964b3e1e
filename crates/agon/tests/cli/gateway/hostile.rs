//! Agents that try to bring their gateway down, or to get through it.

use agon::core::{ModelCall, ModelFault};

use super::stage::Stage;

#[test]
fn a_gateway_stands_what_its_agent_does_to_it() {
    let stage = Stage::new();
    stage.agent(
        r#"
host, port = os.environ["OPENAI_BASE_URL"].split("/")[2].split(":")
def raw(head, body=b""):
    stream = socket.create_connection((host, int(port)), timeout=60)
    stream.settimeout(60)
    try:
        stream.sendall(head.encode() + body)
        return stream.recv(12).decode(errors="replace")
    except OSError:
        return "cut"
post = "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\n"
think(raw(post + "content-length: 4000000000\r\n\r\n"))
chunk = b"100000\r\n" + b" " * 0x100000 + b"\r\n"
think(raw(post + "transfer-encoding: chunked\r\n\r\n", chunk * 34) in ("HTTP/1.1 413", "cut"))
think(raw(post + "x: " + "y" * 200000 + "\r\n\r\n") in ("HTTP/1.1 431", "cut"))
think(raw("GARBAGE\r\n\r\n"))
think(raw(post + "content-length: 7\r\n\r\n", b"[[[[[[["))
think(raw(post + "content-length: 500002\r\n\r\n", b"[" + b"0," * 250000 + b"]"))
held = []
for _ in range(1000):
    stream = socket.socket()
    stream.setblocking(False)
    stream.connect_ex((host, int(port)))
    held.append(stream)
for stream in held[:40]:
    try: stream.send((post + "content-length: 99\r\n\r\n{").encode())
    except OSError: pass
for stream in held: stream.close()
think(said(ask(hello())))
for path in ["/../../etc/passwd", "//evil/", "/%2e%2e/", "/v1/models/../../x"]:
    think(raw(f"GET {path} HTTP/1.1\r\nhost: x\r\n\r\n"))
think(raw("CONNECT example.org:80 HTTP/1.1\r\nhost: x\r\n\r\n"))
think(raw("GET http://example.org/ HTTP/1.1\r\nhost: example.org\r\n\r\n"))
picture = {"type": "image_url", "image_url": {"url": "http://example.org/?leak"}}
think(ask({"messages": [{"role": "user", "content": [picture]}]})[0])
think(ask(hello(tools=[{"type": "web_search"}]))[0])
think(ask(hello(models=["other"]))[0])
think(ask(hello(model="openai/" * 2000000))[0])
for key in ["extra_body", "search_parameters", "provider", "mock_response", "service_tier"]:
    status, body = ask(hello(**{key: {"x": 1}}))
    think(f"{status} {'`' + key + '`' in body['error']['message']}")
think(said(ask(hello("still there"))))
"#,
    );
    stage.run("cmd", "mock/echo", &[]).expect(0);
    let thoughts = stage.thoughts();
    let wanted = [
        "HTTP/1.1 413",
        "True",
        "True",
        "HTTP/1.1 400",
        "HTTP/1.1 400",
        "HTTP/1.1 400",
        "hello",
        "HTTP/1.1 404",
        "HTTP/1.1 404",
        "HTTP/1.1 404",
        "HTTP/1.1 404",
        "HTTP/1.1 404",
        "HTTP/1.1 404",
        "400",
        "400",
        "400",
        "404",
        "400 True",
        "400 True",
        "400 True",
        "400 True",
        "400 True",
        "still there",
    ];
    assert_eq!(thoughts, wanted);
    let calls = stage.calls();
    assert_eq!(calls.iter().filter(|call| call.tries > 0).count(), 2);
    // What was refused is on the record, and no failure of a service.
    let refused = |call: &&ModelCall| call.tries == 0;
    let refused: Vec<_> = calls.iter().filter(refused).collect();
    assert!(refused.len() >= 9, "{refused:?}");
    for call in refused {
        assert_eq!(
            (call.fault, &call.request),
            (Some(ModelFault::BadRequest), &None)
        );
    }
}
