//! What it is sent by those who mean no good: refused in bounded time, and the next question is answered.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::server::{Server, question};

#[tokio::test]
async fn heavy_broken_and_hostile_requests_are_refused_and_it_goes_on() {
    let server = Server::start(&["--context", "512"]);
    let schema = |schema: Value| {
        question(
            "x",
            &json!({"max_tokens": 8, "response_format": {"type": "json_schema", "json_schema": {"schema": schema}}}),
        )
    };
    let deep = (0..120).fold(json!({}), |inner, _| json!({"items": inner}));
    for body in [
        json!({}),
        json!({"messages": []}),
        json!({"messages": [{"role": "user", "content": {"a": 1}}]}),
        question("x", &json!({"temperature": "hot"})),
        question("zero \0 character", &json!({})),
        schema(deep),
        schema(json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}})),
        schema(json!({"$ref": "#/nowhere"})),
        schema(json!({"type": "string", "maxLength": 4_000_000_000_u32})),
        schema(json!({"type": ["nothing"]})),
        schema(json!({"enum": "x"})),
        schema(json!({"properties": {"a": 3}})),
    ] {
        let (status, answer) = server.post("/v1/chat/completions", &body).await;
        assert_eq!(status, 400, "{body}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().len() > 5);
    }
    // What they mean is a matter of llama.cpp; that it survives them is ours.
    for odd in [
        json!({"type": "string", "pattern": "^((((a*)*)*)*"}),
        json!({"type": "string", "pattern": "^((((a*)*)*)*$"}),
        json!({"type": "string", "pattern": "^[z-a]{9,1}(?!x)\\u$"}),
        json!({"type": "integer", "minimum": 9, "maximum": 1}),
        json!({"type": "object", "required": ["nowhere"]}),
        json!({"enum": []}),
        json!({"type": "array", "minItems": 900, "maxItems": 3, "items": {"$ref": "#"}}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"const": {"a": ["\u{0}", "\"", "\\"]}}),
        json!(false),
    ] {
        let (status, answer) = server
            .post("/v1/chat/completions", &schema(odd.clone()))
            .await;
        assert!(
            [200, 400, 500].contains(&status),
            "{odd}: {status} {answer}"
        );
        assert!(server.is_well().await, "{odd}");
    }
    let nested = "[".repeat(100_000);
    for text in ["", "\u{feff}{}", "{\"messages\":", nested.as_str(), "nul\0"] {
        let (status, _) = server
            .post_text("/v1/chat/completions", text.to_owned())
            .await;
        assert_eq!(status, 400);
    }
    let (status, _) = server.post("/v1/embeddings", &json!({})).await;
    assert_eq!(status, 404);
    assert!(server.is_well().await);
}

#[tokio::test]
async fn heavy_odd_texts_do_not_break_the_tokenizer() {
    let server = Server::start(&["--context", "1024"]);
    let texts = [
        "a".repeat(300_000),
        " ".repeat(300_000),
        "1".repeat(300_000),
        "\u{1f3f4}\u{200d}".repeat(50_000),
        "\n".repeat(300_000),
        "<|im_start|>".repeat(20_000),
        "\u{0301}".repeat(100_000),
        "'s".repeat(100_000),
    ];
    for text in texts {
        let (status, body) = server
            .post(
                "/v1/chat/completions",
                &question(&text, &json!({"max_tokens": 1})),
            )
            .await;
        assert!(status == 400 || status == 200, "{status}: {body}");
    }
    let huge = question(&"x".repeat(17 << 20), &json!({}));
    let request = server
        .client
        .post("http://localhost/v1/chat/completions")
        .json(&huge);
    // It may hang up before it has read all.
    if let Ok(response) = request.send().await {
        assert_eq!(response.status(), 413);
    }
    assert!(server.is_well().await);
}

#[tokio::test]
async fn heavy_bytes_that_are_no_http_do_no_harm() {
    let server = Server::start(&[]);
    for bytes in [
        &b"\0\xff\xfe"[..],
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST /v1/completions HTTP/1.1\r\nContent-Length: 99\r\n\r\n{",
    ] {
        let mut stream = tokio::net::UnixStream::connect(server.socket())
            .await
            .unwrap();
        stream.write_all(bytes).await.unwrap();
        stream.shutdown().await.unwrap();
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer).await;
    }
    assert!(server.is_well().await);
}
