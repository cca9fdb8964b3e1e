//! Agent, evaluator and client in one process: one pair, several side by side, and what is left of them.

use std::net::TcpListener;

use agon_arena::{
    ArenaError, PairOptions, Pairing, ServerOptions, Task, Token,
    run_evaluation_client_with_server, run_evaluation_client_with_server_parallel,
};
use agon_desktop::{Desktop, DesktopConfig};
use serde_json::{Value, json};

use super::client_support::Player;
use super::evaluator_support::{Scripted, task as wire_task};

fn task(id: &str, criteria: Value) -> Task {
    serde_json::from_value(wire_task(id, criteria)).unwrap()
}

fn on(desktop: &Desktop, agent: u16, evaluator: u16) -> PairOptions {
    let at = |port| ServerOptions {
        desktop: Some(desktop.address().clone()),
        ..ServerOptions::at("127.0.0.1", port)
    };
    PairOptions {
        agent: at(agent),
        evaluator: at(evaluator),
        report: None,
    }
}

/// They stay free until they are used: below those that the kernel hands out, and others for every process.
fn free_ports() -> (u16, u16) {
    const FIRST: u32 = 30_000;
    const PAIRS: u32 = 1_250;
    let is_free = |port: u16| TcpListener::bind(("127.0.0.1", port)).is_ok();
    let pairs = (0..PAIRS).map(|step| {
        let first = FIRST + (std::process::id() + step) % PAIRS * 2;
        let first = u16::try_from(first).unwrap();
        (first, first + 1)
    });
    let mut free = pairs.filter(|(one, other)| is_free(*one) && is_free(*other));
    free.next().unwrap()
}

#[test]
fn a_pair_leaves_its_ports_free_for_the_next() {
    let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
    let (agent, evaluator) = free_ports();
    let options = on(&desktop, agent, evaluator);
    for time in 0..3 {
        let tasks = [
            task(&format!("{time}-a"), json!({ "agent": "finish" })),
            task(&format!("{time}-b"), json!({ "check": "end" })),
        ];
        let done = run_evaluation_client_with_server(Player, Scripted::default(), tasks, &options);
        let done = done.unwrap();
        assert!(
            done.len() == 2 && done.iter().all(|one| one.result.is_ok()),
            "{done:?}"
        );
    }
}

#[test]
fn a_port_that_is_taken_is_an_error_and_no_address() {
    let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    for (agent, evaluator) in [(port, 0), (0, port)] {
        let options = on(&desktop, agent, evaluator);
        let tasks = [task("a", json!({}))];
        let done = run_evaluation_client_with_server(Player, Scripted::default(), tasks, &options);
        assert!(matches!(done, Err(ArenaError::Listen { .. })), "{done:?}");
    }
}

#[test]
fn a_pair_with_two_tokens_is_refused_and_one_with_the_same_plays() {
    let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
    let mut options = on(&desktop, 0, 0);
    let play = |options: &PairOptions| {
        let tasks = [task("a", json!({ "agent": "finish" }))];
        run_evaluation_client_with_server(Player, Scripted::default(), tasks, options)
    };
    options.agent.token = Some(Token::new("one").unwrap());
    for other in [None, Some(Token::new("other").unwrap())] {
        options.evaluator.token = other;
        let refused = play(&options).unwrap_err().to_string();
        assert!(refused.contains("the same token"), "{refused}");
    }
    options.evaluator.token = Some(Token::new("one").unwrap());
    let done = play(&options).unwrap();
    assert!(done[0].result.is_ok(), "{done:?}");
}

#[test]
fn pairs_side_by_side_have_a_desktop_each_and_keep_the_order_of_the_tasks() {
    let scripts = ["finish", "fail", "finish", "panic", "finish", "operator"];
    let tasks: Vec<Task> = (scripts.iter().enumerate())
        .map(|(number, script)| task(&format!("t{number}"), json!({ "agent": script })))
        .collect();
    let done = run_evaluation_client_with_server_parallel(tasks, 2, |task, _| {
        if task.task_id == "t4" {
            return Err(ArenaError::Unsupported("on purpose"));
        }
        let desktop = Desktop::start(&DesktopConfig::default())?;
        Ok(Pairing {
            agent: Box::new(Player),
            evaluator: Box::new(Scripted::default()),
            options: on(&desktop, 0, 0),
            held: Box::new(desktop),
        })
    });
    let ends: Vec<String> = done
        .iter()
        .map(|one| match &one.result {
            Ok(result) => result.notes.clone().unwrap(),
            Err(error) => error.to_string(),
        })
        .collect();
    let wanted = [
        "finished",
        "agent_error",
        "finished",
        "agent_error",
        "on purpose",
        "operator",
    ];
    assert_eq!(ends.len(), wanted.len());
    for (number, (end, wanted)) in ends.iter().zip(wanted).enumerate() {
        assert_eq!(done[number].task.task_id, format!("t{number}"));
        assert!(end.starts_with(wanted), "{number}: {end}");
    }
}
