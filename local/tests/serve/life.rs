//! How it begins and how it ends.

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::json;

use super::server::{LONG, Server, command, private_folder, question, weights};

#[tokio::test]
async fn heavy_a_question_nobody_waits_for_is_dropped() {
    let server = Server::start(&[]);
    let endless = question(
        "Count to a thousand, slowly.",
        &json!({"max_tokens": 7_000, "temperature": 1}),
    );
    let url = "http://localhost/v1/chat/completions";
    for stream in [false, true] {
        let mut body = endless.clone();
        body["stream"] = json!(stream);
        // Two of them: one at work, one that waits.
        let ask = || {
            server
                .client
                .post(url)
                .json(&body)
                .timeout(Duration::from_millis(300))
                .send()
        };
        let (first, second) = tokio::join!(ask(), ask());
        drop((first, second));
    }
    // Were they still being answered, this would take minutes.
    let begun = Instant::now();
    assert!(server.is_well().await);
    assert!(begun.elapsed() < LONG);
}

#[tokio::test]
async fn heavy_questions_at_once_are_answered_one_after_the_other() {
    let server = Server::start(&[]);
    let how = json!({"max_tokens": 8});
    let one = server.chat("Say hello.", &how).await;
    let asked = (0..12).map(|_| server.chat("Say hello.", &how));
    for answer in futures_util::future::join_all(asked).await {
        assert_eq!(answer["choices"], one["choices"]);
    }
}

#[tokio::test]
async fn heavy_health_and_models_are_told() {
    let server = Server::start(&[]);
    let get = async |path: &str| {
        let response = server
            .client
            .get(format!("http://localhost{path}"))
            .send()
            .await
            .unwrap();
        response.json::<serde_json::Value>().await.unwrap()
    };
    assert_eq!(get("/health").await["status"], "ok");
    assert_eq!(
        get("/v1/models").await["data"][0]["id"],
        "SmolLM2-135M-Instruct.Q4_1"
    );
    let mode = std::fs::metadata(server.socket())
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn heavy_it_ends_with_its_parent_even_in_the_middle_of_an_answer() {
    let mut server = Server::start(&[]);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let client = server.client.clone();
    let body = question(
        "Count to a thousand.",
        &json!({"max_tokens": 7_000, "temperature": 1}),
    );
    runtime.spawn(async move {
        let url = "http://localhost/v1/chat/completions";
        let _ = client.post(url).json(&body).send().await;
    });
    drop(server.input.take());
    assert!(server.child.wait().unwrap().success());
    assert!(!server.socket().exists());
}

#[test]
fn heavy_it_ends_when_nobody_asks() {
    let mut server = Server::start(&["--idle", "1"]);
    assert!(server.child.wait().unwrap().success());
}

/// Its input stays open, so that it does not end for that.
fn ended(mut command: Command) -> Output {
    let mut child = command.spawn().unwrap();
    let _input = child.stdin.take();
    child.wait_with_output().unwrap()
}

fn failure(output: &Output) -> String {
    assert!(!output.status.success());
    assert_eq!(output.stdout, b"", "not ready");
    let words = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(words.lines().count(), 1, "{words}");
    words
}

#[test]
fn what_is_no_model_is_told_in_one_line() {
    let folder = private_folder();
    let socket = folder.path().join("socket");
    let broken = folder.path().join("broken.gguf");
    std::fs::write(&broken, b"GGUF\x03\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff").unwrap();
    let output = ended(command(&broken, &socket));
    assert!(failure(&output).contains("broken.gguf can't be loaded"));
    let missing = folder.path().join("missing.gguf");
    let output = ended(command(&missing, &socket));
    assert!(failure(&output).contains("No such file"), "{output:?}");
}

#[test]
fn heavy_a_folder_that_others_may_enter_is_refused() {
    let folder = private_folder();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let output = ended(command(&weights(), &folder.path().join("socket")));
    assert!(failure(&output).contains("chmod 700"), "{output:?}");
}
