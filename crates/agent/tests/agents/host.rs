//! `cmd-host:` agents that misbehave. The conversation is the same as that of `cmd:` agents.

use std::fs;

use agon_agent::{Agent, AgentError, Answer};
use agon_core::Action;
use tempfile::TempDir;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream};

use crate::support::{
    agent_for, brief, factory, finish, first, is_silent, ready, seen, soon, started, task,
};

/// A Python agent; its file is removed with the folder.
struct Script {
    folder: TempDir,
}

impl Script {
    fn new(code: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let head = "import json, os, socket, sys, time\n";
        fs::write(folder.path().join("agent.py"), format!("{head}{code}")).unwrap();
        Self { folder }
    }

    fn spec(&self, argument: &str) -> String {
        let path = self.folder.path().join("agent.py");
        format!("cmd-host:/usr/bin/python3 {} {argument}", path.display())
    }

    async fn started(&self) -> Box<dyn Agent> {
        started(&self.spec("")).await
    }

    async fn error(&self) -> AgentError {
        first(&mut *self.started().await).await.unwrap_err()
    }
}

const FINISH: &str = r#"print('{"action":"finish"}', flush=True)"#;

#[tokio::test]
async fn it_is_told_its_task_and_what_happens() {
    let script = Script::new(
        r#"
start, ready = (json.loads(sys.stdin.readline()) for _ in range(2))
assert list(start) == ["type", "protocol", "task"], start
assert start["task"]["max_steps"] == 30
print(json.dumps({"action": "message", "text": start["task"]["instruction"], "thought": ready["text"],
                  "usage": {"input_tokens": 3, "output_tokens": 4, "cost_usd": 0.5}}))
done = json.loads(sys.stdin.readline())
assert done["step"] == 2 and done["trial"] == start["task"]["trial"], done
print('{"action":"finish"}')
end = json.loads(sys.stdin.readline())
assert end == {"type": "end", "trial": done["trial"]} and sys.stdin.read() == ""
sys.stderr.write("all was said")
"#,
    );
    let mut agent = script.started().await;
    let Ok(Answer::Reply(reply)) = first(&mut *agent).await else {
        panic!("no reply")
    };
    assert_eq!(
        reply.action,
        Action::Message {
            text: "Write hello to greeting.txt in the working directory.".to_owned()
        }
    );
    assert_eq!(reply.thought, Some(ready().text));
    assert_eq!(reply.usage.unwrap().tokens(), 7);
    assert_eq!(first(&mut *agent).await, Ok(finish()));
    soon(agent.end()).await;
    assert_eq!(agent.complaints().unwrap(), "all was said");
}

#[tokio::test]
async fn pictures_come_as_it_asks_for_them() {
    let script = Script::new(
        r#"
sys.stdin.readline()
for wish in ["false", "null", "true", "null"]:
    picture = json.loads(sys.stdin.readline())["screen"]["picture"]
    print('{"action":"message","text":"%s","pictures":%s}' % (picture.get("base64"), wish))
"#,
    );
    let mut agent = script.started().await;
    for expected in ["iVBORw==", "None", "None", "iVBORw=="] {
        let Ok(Answer::Reply(reply)) = soon(agent.act(&seen(b"\x89PNG"))).await else {
            panic!("no reply")
        };
        let text = expected.to_owned();
        assert_eq!(reply.action, Action::Message { text });
    }
}

#[tokio::test]
async fn one_that_leaves_has_left() {
    assert_eq!(Script::new("").error().await, AgentError::Left);
    assert_eq!(Script::new("sys.exit(0)").error().await, AgentError::Left);
}

#[tokio::test]
async fn one_that_crashes_says_why() {
    let AgentError::Crashed(why) = Script::new("1/0").error().await else {
        panic!()
    };
    assert!(why.starts_with("exit status 1: "), "{why}");
    assert!(why.contains("ZeroDivisionError"), "{why}");
    let killed = Script::new("os.kill(os.getpid(), 9)").error().await;
    assert_eq!(killed, AgentError::Crashed("killed by signal 9".to_owned()));
}

#[tokio::test]
async fn one_that_crashes_after_some_answers_was_heard() {
    let script = Script::new(&format!("{FINISH}\nsys.stdin.readline(); sys.exit('boom')"));
    let mut agent = script.started().await;
    assert_eq!(first(&mut *agent).await, Ok(finish()));
    let error = first(&mut *agent).await.unwrap_err();
    assert_eq!(error, AgentError::Crashed("exit status 1: boom".to_owned()));
}

#[tokio::test]
async fn one_that_closes_its_output_and_lives_on_has_left() {
    let script = Script::new("os.close(1); time.sleep(1000)");
    assert_eq!(script.error().await, AgentError::Left);
}

#[tokio::test]
async fn broken_json_is_garbage_and_a_wrong_action_is_not() {
    for code in [
        "print('hello')",
        r#"print('{"action":')"#,
        r"sys.stdout.buffer.write(b'\xff\xfe\n')",
    ] {
        let error = Script::new(code).error().await;
        assert!(matches!(error, AgentError::Garbage(_)), "{code}: {error}");
    }
    let script = Script::new(r#"print('{"action":"fly"}')"#);
    let mut agent = script.started().await;
    let answer = first(&mut *agent).await;
    assert!(
        matches!(answer, Ok(Answer::NotAnAction { .. })),
        "{answer:?}"
    );
}

fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.unwrap().split_whitespace().nth(1).unwrap();
    kib.parse::<u64>().unwrap() << 10
}

#[tokio::test]
async fn a_line_of_100_mb_is_never_held() {
    let before = peak_memory();
    let script = Script::new("sys.stdout.write('x' * 100_000_000); sys.stdout.flush()");
    let mut agent = script.started().await;
    let error = first(&mut *agent).await.unwrap_err();
    assert!(matches!(error, AgentError::Garbage(_)), "{error}");
    soon(agent.end()).await;
    let grown = peak_memory() - before;
    assert!(grown < 30_000_000, "{grown}");
}

#[tokio::test]
async fn a_flood_of_complaints_is_drained_and_its_end_is_kept() {
    let code = format!("sys.stderr.write('x' * 20_000_000 + 'end')\n{FINISH}");
    let script = Script::new(&code);
    let mut agent = script.started().await;
    assert_eq!(first(&mut *agent).await, Ok(finish()));
    soon(agent.end()).await;
    let complaints = agent.complaints().unwrap();
    assert!(complaints.ends_with("xend") && complaints.len() < 70_000);
}

#[tokio::test]
async fn one_that_never_reads_is_silent_not_a_hang() {
    let script = Script::new("time.sleep(1000)");
    let mut agent = agent_for(&factory(&script.spec("")), &task("", None), 1);
    // Far more than a pipe takes.
    let long = agon_core::Brief {
        instruction: "x".repeat(1_000_000),
        ..brief()
    };
    soon(agent.start(&long)).await.unwrap();
    assert!(is_silent(&mut *agent).await);
    soon(agent.end()).await;
}

#[tokio::test]
async fn one_that_answers_before_it_reads_is_heard() {
    let script = Script::new(&format!("{FINISH}\n{FINISH}\ntime.sleep(1000)"));
    let mut agent = script.started().await;
    assert_eq!(first(&mut *agent).await, Ok(finish()));
    assert_eq!(first(&mut *agent).await, Ok(finish()));
}

/// It and a child of its own hold a connection, which ends when both are dead.
const TWO_PROCESSES: &str = "
s = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
if os.fork():
    s.sendall(b'up')
time.sleep(1000)
";

async fn connected(listener: &TcpListener) -> TcpStream {
    let (mut connection, _) = soon(listener.accept()).await.unwrap();
    let mut up = [0; 2];
    soon(connection.read_exact(&mut up)).await.unwrap();
    connection
}

async fn closed(mut connection: TcpStream) {
    let mut rest = Vec::new();
    // A reset says the same as an end.
    let _ = soon(connection.read_to_end(&mut rest)).await;
    assert!(rest.is_empty());
}

#[tokio::test]
async fn one_that_hangs_is_killed_with_its_children_when_dropped() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = Script::new(TWO_PROCESSES);
    let mut agent = started(&script.spec(&port.to_string())).await;
    let connection = connected(&listener).await;
    assert!(is_silent(&mut *agent).await);
    drop(agent);
    closed(connection).await;
}

#[tokio::test]
async fn children_that_outlive_it_are_killed() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let code = TWO_PROCESSES.replace("    s.sendall(b'up')", "    s.sendall(b'up'); sys.exit(0)");
    let script = Script::new(&code);
    let mut agent = started(&script.spec(&port.to_string())).await;
    let connection = connected(&listener).await;
    assert_eq!(first(&mut *agent).await, Err(AgentError::Left));
    closed(connection).await;
}

/// As when we are killed: nobody is left to end the program but the kernel.
#[tokio::test]
async fn it_dies_with_the_thread_that_started_it() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let script = Script::new(&TWO_PROCESSES.replace("if os.fork():", "if True:"));
    let spec = script.spec(&port.to_string());
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let starter = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime.unwrap();
        let agent = runtime.block_on(started(&spec));
        let _ = stopped.recv();
        std::mem::forget((agent, runtime));
    });
    let connection = connected(&listener).await;
    drop(stop);
    starter.join().unwrap();
    closed(connection).await;
}
