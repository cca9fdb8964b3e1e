//! What is answered, and how.

use serde_json::{Value, json};

use super::server::{Server, question, text};

const CAPITAL: &str = "What is the capital of France? Answer in one sentence.";

#[tokio::test]
async fn heavy_greedy_answers_are_the_same_twice_whatever_was_asked_between() {
    let server = Server::start(&[]);
    let first = server.chat(CAPITAL, &json!({"max_tokens": 24})).await;
    server
        .chat("Tell me a story.", &json!({"max_tokens": 16}))
        .await;
    let second = server.chat(CAPITAL, &json!({"max_tokens": 24})).await;
    assert_eq!(text(&first), text(&second));
    assert!(text(&first).contains("Paris"), "{first}");
    let usage = &first["usage"];
    let (prompt, answer) = (
        usage["prompt_tokens"].as_u64(),
        usage["completion_tokens"].as_u64(),
    );
    assert!(
        prompt.unwrap() > 10 && (1..=24).contains(&answer.unwrap()),
        "{usage}"
    );
    assert_eq!(
        usage["total_tokens"].as_u64(),
        Some(prompt.unwrap() + answer.unwrap())
    );
    assert!(first.get("warnings").is_none(), "{first}");
}

#[tokio::test]
async fn heavy_a_seed_decides_what_is_drawn() {
    let server = Server::start(&[]);
    let how = |seed: u32| json!({"temperature": 1.5, "top_p": 0.95, "top_k": 100, "seed": seed, "max_tokens": 24});
    let first = server.chat("Tell me a story.", &how(1)).await;
    let same = server.chat("Tell me a story.", &how(1)).await;
    let other = server.chat("Tell me a story.", &how(2)).await;
    assert_eq!(text(&first), text(&same));
    assert_ne!(text(&first), text(&other));
}

#[tokio::test]
async fn heavy_a_schema_is_obeyed() {
    let server = Server::start(&[]);
    let schema = json!({"type": "object", "additionalProperties": false,
        "required": ["action", "x", "y", "pressed", "key"],
        "properties": {"action": {"enum": ["click", "move"]}, "x": {"type": "integer", "minimum": 0, "maximum": 999},
            "y": {"type": "integer", "minimum": 0, "maximum": 999}, "pressed": {"type": "boolean"},
            "key": {"type": "string", "maxLength": 8}}});
    let format = json!({"type": "json_schema", "json_schema": {"name": "a", "strict": true, "schema": schema}});
    for how in [
        json!({"temperature": 0}),
        json!({"temperature": 2, "seed": 3}),
    ] {
        let mut extra = how;
        extra["response_format"] = format.clone();
        extra["max_tokens"] = json!(200);
        let body = server.chat("Where do I click?", &extra).await;
        assert_eq!(body["choices"][0]["finish_reason"], "stop", "{body}");
        let answer: Value = serde_json::from_str(text(&body)).unwrap();
        assert_eq!(answer.as_object().unwrap().len(), 5, "{answer}");
        assert!(["click", "move"].contains(&answer["action"].as_str().unwrap()));
        assert!(answer["x"].as_u64().unwrap() <= 999 && answer["y"].as_u64().unwrap() <= 999);
        assert!(answer["pressed"].is_boolean());
        assert!(answer["key"].as_str().unwrap().chars().count() <= 8);
    }
    let body = server
        .chat(
            "A fruit as JSON?",
            &json!({"response_format": {"type": "json_object"}, "max_tokens": 400}),
        )
        .await;
    if body["choices"][0]["finish_reason"] == "stop" {
        assert!(
            serde_json::from_str::<Value>(text(&body))
                .unwrap()
                .is_object()
        );
    } else {
        assert!(text(&body).trim_start().starts_with('{'), "{body}");
    }
}

#[tokio::test]
async fn heavy_stop_words_and_limits_end_an_answer() {
    let server = Server::start(&[]);
    let whole = server.chat(CAPITAL, &json!({"max_tokens": 24})).await;
    let stopped = server
        .chat(CAPITAL, &json!({"max_tokens": 24, "stop": ["Paris", "\n"]}))
        .await;
    let (before, _) = text(&whole).split_once("Paris").unwrap();
    assert_eq!(text(&stopped), before);
    assert_eq!(stopped["choices"][0]["finish_reason"], "stop");
    let short = server.chat(CAPITAL, &json!({"max_tokens": 2})).await;
    assert_eq!(short["choices"][0]["finish_reason"], "length");
    assert_eq!(short["usage"]["completion_tokens"], 2);
    assert!(text(&whole).starts_with(text(&short)));
}

#[tokio::test]
async fn heavy_a_stream_is_the_same_answer_in_pieces() {
    let server = Server::start(&[]);
    let whole = server.chat(CAPITAL, &json!({"max_tokens": 24})).await;
    let body = question(
        CAPITAL,
        &json!({"max_tokens": 24, "stream": true, "stream_options": {"include_usage": true}}),
    );
    let request = server
        .client
        .post("http://localhost/v1/chat/completions")
        .json(&body);
    let response = request.send().await.unwrap();
    assert_eq!(response.headers()["content-type"], "text/event-stream");
    let stream = response.text().await.unwrap();
    let events: Vec<&str> = stream
        .split("\n\n")
        .filter(|event| !event.is_empty())
        .collect();
    let (done, events) = events.split_last().unwrap();
    assert_eq!(*done, "data: [DONE]");
    let events: Vec<Value> = events
        .iter()
        .map(|event| serde_json::from_str(event.strip_prefix("data: ").unwrap()).unwrap())
        .collect();
    let pieces = |event: &Value| {
        event["choices"][0]["delta"]["content"]
            .as_str()
            .map(str::to_owned)
    };
    assert_eq!(
        events.iter().filter_map(pieces).collect::<String>(),
        text(&whole)
    );
    assert!(events.len() > 5, "{events:?}");
    let reasons: Vec<&str> = events
        .iter()
        .filter_map(|event| event["choices"][0]["finish_reason"].as_str())
        .collect();
    assert_eq!(
        reasons,
        [whole["choices"][0]["finish_reason"].as_str().unwrap()]
    );
    assert_eq!(events.last().unwrap()["usage"], whole["usage"]);
}

#[tokio::test]
async fn heavy_long_prompts_are_cut_or_refused() {
    let server = Server::start(&["--context", "300"]);
    let long = "word ".repeat(2_000);
    let (status, body) = server
        .post("/v1/chat/completions", &question(&long, &json!({})))
        .await;
    assert_eq!(status, 400);
    assert_eq!(body["error"]["code"], "context_length_exceeded", "{body}");
    let mut streamed = question(&long, &json!({}));
    streamed["stream"] = json!(true);
    let (status, _) = server.post("/v1/chat/completions", &streamed).await;
    assert_eq!(status, 400, "a stream has not begun");
    let cut = server
        .chat(&long, &json!({"max_input_size": 100, "max_tokens": 4}))
        .await;
    let warning = cut["warnings"][0].as_str().unwrap();
    assert!(
        warning.contains("10000 characters") && warning.contains("100"),
        "{warning}"
    );
    let same = server
        .chat(&long[long.len() - 100..], &json!({"max_tokens": 4}))
        .await;
    assert_eq!(text(&cut), text(&same), "cut from the left");
    assert_eq!(cut["usage"], same["usage"]);
    let full = server
        .chat("Count to a thousand.", &json!({"max_tokens": 100_000}))
        .await;
    let total = full["usage"]["total_tokens"].as_u64().unwrap();
    let reason = full["choices"][0]["finish_reason"].as_str().unwrap();
    assert!(total <= 300 && (reason == "stop" || total >= 299), "{full}");
}

#[tokio::test]
async fn heavy_plain_texts_are_completed() {
    let server = Server::start(&[]);
    let body = json!({"prompt": "The capital of France is", "temperature": 0, "max_tokens": 3});
    let (status, answer) = server.post("/v1/completions", &body).await;
    assert_eq!(status, 200);
    assert!(
        answer["choices"][0]["text"]
            .as_str()
            .unwrap()
            .contains("Paris"),
        "{answer}"
    );
    assert_eq!(answer["usage"]["prompt_tokens"], 5);
    let (status, answer) = server
        .post("/v1/completions", &json!({"prompt": "", "max_tokens": 3}))
        .await;
    assert_eq!(status, 200, "{answer}");
}
