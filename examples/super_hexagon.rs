//! The agent and the evaluator of the guide that Agon's arena was made after, line by line in Rust. The two
//! questions that were put to a model service are answered by reading the window, so that no key is needed;
//! `agon arena run --evaluator vision --model openai-responses/gpt-4o-mini` puts them to the model.
//!
//! ```text
//! hexagon --title "Super Hexagon" &                           a game with these words on its screen
//! cargo run --example super_hexagon                           agent, evaluator and client at once
//! cargo run --example super_hexagon -- agent | evaluator | client      each by itself
//! cargo run --example super_hexagon -- parallel               two tasks at the same time
//! ```

use std::error::Error;
use std::io::Write as _;
use std::time::Duration;

use agon::arena::{
    Agent, AgentExt as _, CALLABLES, Evaluation, EvaluationResult, Evaluator, EvaluatorExt as _,
    Flow, JudgeError, Judging, LISTENERS, NETWORK, PairOptions, Pairing, Play, StopEvent, TIMES,
    Task, VK, activate_module, env_lock, get_current_frame_base64, run_evaluation_client,
    run_evaluation_client_with_server, run_evaluation_client_with_server_parallel,
};
use agon::core::sight::NumberForm;
use agon::desktop::DesktopError;
use agon::desktop::registry::Running;
use agon::vision::{Image, Line, Reader, number};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

/// Presses the right arrow, always.
struct MySuperHexagonAgent {
    stop_event: StopEvent,
    _keyboard_listener: Running,
}

impl MySuperHexagonAgent {
    fn new() -> Result<Self, DesktopError> {
        activate_module("owa.env.desktop")?;
        activate_module("owa.env.gst")?;

        let stop_event = StopEvent::new();
        Ok(Self {
            _keyboard_listener: stop_on_f10(&stop_event, "agent")?,
            stop_event,
        })
    }
}

/// The panic key is there anyway; this is how one has a key of one's own.
fn stop_on_f10(stop_event: &StopEvent, who: &'static str) -> Result<Running, DesktopError> {
    let stop_event = stop_event.clone();
    LISTENERS.configure("keyboard", ())?.start(move |event| {
        if event.vk() == Some(VK::F10) {
            say(&format!("stopping {who}"));
            stop_event.set();
        }
    })
}

impl Agent for MySuperHexagonAgent {
    fn play_env(&mut self, task: &Task, play: &mut Play) -> Flow {
        Flow::of(|| {
            let _held = env_lock();
            // make the window active
            CALLABLES.call("window.make_active", &task.window_name)?;

            // In this version, evaluator will monitor and check the task. agent does not need to report
            // termination.
            let check_continue = |_: &Task| true;
            if check_continue(task) {
                // Normally, you would use your model to generate actions
                CALLABLES.call("keyboard.press", VK::RIGHT)?; // Right arrow
                play.sleep(TIMES::KEYBOARD_PRESS_DELAY)?;
                CALLABLES.call("keyboard.release", VK::RIGHT)?;
                Ok(Flow::Continue) // Continue the task
            } else {
                Ok(Flow::Finish) // Evaluation will be made by the evaluator.
            }
        })
    }

    fn stop_event(&self) -> Option<StopEvent> {
        Some(self.stop_event.clone())
    }
}

/// Reads the window of the game.
struct MySuperHexagonEvaluator {
    stop_event: StopEvent,
    _keyboard_listener: Running,
}

impl MySuperHexagonEvaluator {
    fn new() -> Result<Self, DesktopError> {
        let stop_event = StopEvent::new();
        Ok(Self {
            _keyboard_listener: stop_on_f10(&stop_event, "evaluator")?,
            stop_event,
        })
    }
}

/// What stands on a picture: in place of the call of a model service.
fn read(frame_base64: &str) -> Result<Vec<Line>, JudgeError> {
    let unreadable = |error: &dyn std::fmt::Display| JudgeError::Sight(error.to_string());
    let png = STANDARD
        .decode(frame_base64)
        .map_err(|error| unreadable(&error))?;
    let image = Image::from_png(&png).map_err(|error| unreadable(&error))?;
    let reader = Reader::shared().map_err(|error| unreadable(&error))?;
    reader.read(&image).map_err(|error| unreadable(&error))
}

impl Evaluator for MySuperHexagonEvaluator {
    fn check_env_continue(&self, task: &Task, _: &Judging) -> Result<bool, JudgeError> {
        // Can you see the text `PRESS SPACE TO RETRY` in the bottom?
        let frame_base64 = get_current_frame_base64(&task.window_name)?;
        let lines = read(&frame_base64)?;
        let is_over = |line: &Line| line.text.to_uppercase().contains("PRESS SPACE TO RETRY");
        // if we can see the retry button, the task should not continue
        Ok(!lines.iter().any(is_over))
    }

    fn score_task(
        &self,
        task: &Task,
        elapsed: Duration,
        note: &str,
        _: &Judging,
    ) -> Result<EvaluationResult, JudgeError> {
        // What is the score? It should be written next to `LAST`. If you cannot find it, it should be -1.
        let frame_base64 = get_current_frame_base64(&task.window_name)?;
        let lines = read(&frame_base64)?;
        let found = number::find(&lines, Some("LAST"), NumberForm::SecondsHundredths);
        let score = found.map_or(-1.0, |reading| reading.value);

        let wanted = task
            .success_criteria
            .get("time_survived")
            .and_then(Value::as_f64);
        let success = score >= 0.0 && wanted.is_some_and(|wanted| score > wanted);
        let metrics = [
            ("task_elapsed_time", json!(elapsed.as_secs_f64())),
            ("success", json!(success)),
            ("score", json!(score)),
        ];
        Ok(EvaluationResult {
            task_id: task.task_id.clone(),
            metrics: metrics
                .map(|(key, value)| (key.to_owned(), value))
                .into_iter()
                .collect(),
            notes: Some(note.to_owned()),
        })
    }

    fn setup_environment(&self, task: &Task, judging: &Judging) -> Result<(), JudgeError> {
        say(&format!("setting up environment for {}", task.env_name));
        let _held = env_lock();
        // make the window active
        CALLABLES.call("window.make_active", &task.window_name)?;

        // for super hexagon, we need to press space
        CALLABLES.call("keyboard.press", VK::SPACE)?;
        judging.stop().wait(TIMES::KEYBOARD_PRESS_DELAY);
        CALLABLES.call("keyboard.release", VK::SPACE)?;
        Ok(())
    }

    fn stop_event(&self) -> Option<StopEvent> {
        Some(self.stop_event.clone())
    }
}

fn example_task(number: u32) -> Task {
    Task {
        task_id: format!("super-hexagon-{}-{number}", std::process::id()),
        env_name: "Super Hexagon".to_owned(),
        window_name: "Super Hexagon".to_owned(),
        task_description: "Survive as long as possible".to_owned(),
        timeout: 60,
        check_env_interval_seconds: 3.0,
        success_criteria: Map::from_iter([("time_survived".to_owned(), json!(10))]),
        num_frames: 3,
    }
}

fn pairing(number: u16) -> Result<Pairing, DesktopError> {
    Ok(Pairing {
        agent: Box::new(MySuperHexagonAgent::new()?),
        evaluator: Box::new(MySuperHexagonEvaluator::new()?),
        options: PairOptions::of_pair(number),
        held: Box::new(()),
    })
}

fn main() -> Result<(), Box<dyn Error>> {
    let (host, urls) = (
        NETWORK::DEFAULT_HOST,
        ["http://127.0.0.1:8000", "http://127.0.0.1:8001"],
    );
    let task = example_task(0);
    let done = match std::env::args().nth(1).as_deref() {
        // 1. Combined Client/Server (Recommended)
        None => run_evaluation_client_with_server(
            MySuperHexagonAgent::new()?,
            MySuperHexagonEvaluator::new()?,
            [task],
            &PairOptions::default(),
        )?,
        // 2. Separate runs of Server and Client
        Some("agent") => return Ok(MySuperHexagonAgent::new()?.run(host, NETWORK::AGENT_PORT)?),
        Some("evaluator") => {
            let evaluator = MySuperHexagonEvaluator::new()?;
            return Ok(evaluator.run(host, NETWORK::EVALUATOR_PORT)?);
        }
        Some("client") => run_evaluation_client(urls[0], urls[1], [task])?,
        // 3. Parallel Evaluations: these share one desktop, and so the lock
        Some("parallel") => {
            let tasks = vec![task, example_task(1)];
            run_evaluation_client_with_server_parallel(tasks, 2, |_, number| Ok(pairing(number)?))
        }
        Some(other) => {
            return Err(format!("`{other}` is none of agent, evaluator, client, parallel").into());
        }
    };
    for Evaluation { task, result } in done {
        match result {
            Ok(result) => say(&serde_json::to_string(&result)?),
            Err(error) => say(&format!("{}: no result: {error}", task.task_id)),
        }
    }
    Ok(())
}

fn say(text: &str) {
    // Nobody to hear it is no reason to stop.
    let _ = writeln!(std::io::stdout(), "{text}");
}
