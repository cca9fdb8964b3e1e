//! The rows of `cargo xtask bench testcases`: what a case on a container's desktop costs beside the time
//! of model and programs, and what a step costs. The fixed references are what the original spends on
//! fixed pauses alone: 30 s and more per case, and 2 s per step.

use serde_json::json;

use super::lab::Lab;
use super::suites::{self, Cases};
use super::{Better, Figure, Row};
use crate::failure::{Failure, Trying};
use crate::{rootfs, test};

pub(super) const ROWS: &[Row] = &[
    Row::aiming(
        "case_overhead_container_s",
        "s",
        Better::Lower,
        1.5,
        |lab| overhead(lab, "cold", true),
    ),
    Row::aiming("case_overhead_warm_s", "s", Better::Lower, 0.3, |lab| {
        overhead(lab, "warm", false)
    }),
    Row::aiming("step_own_ms", "ms", Better::Lower, 60.0, step_own_ms),
];

/// Cases that count, and those before them: the first two of a kind find nothing started ahead.
const CASES: u32 = 12;
const BEFORE: u32 = 3;

/// What stands for the time of a model: the next desktops are started meanwhile.
const WAIT: f64 = 2.0;

const STEPS: u32 = 60;

/// Cases that only wait, one after the other; `apart` are those of which each needs another desktop, so
/// that nothing can be started ahead.
fn overhead(lab: &mut Lab, name: &str, apart: bool) -> Result<Figure, Failure> {
    let few = seconds(lab, &format!("{name}-few"), BEFORE, apart)?;
    let many = seconds(lab, &format!("{name}-many"), BEFORE + CASES, apart)?;
    let each = (many - few) / f64::from(CASES) - WAIT;
    Ok(Figure::against(each, 30.0))
}

fn seconds(lab: &Lab, name: &str, cases: u32, apart: bool) -> Result<f64, Failure> {
    test::install_packages()?;
    let engine = test::engine_with_desktop()?;
    let suite = Cases {
        image: rootfs::DESKTOP_IMAGE,
        apart,
        app: None,
        wait: Some(WAIT),
    };
    let suite = suite.write(lab.folder(), name, cases)?;
    let mut run = lab.plan(name, suite, cases, 1);
    run.workers = Some(1);
    run.docker_host = Some(engine.api().docker_host());
    Ok(lab.run(&run)?.seconds)
}

/// A key per step, asked of a model that answers at once; a terminal draws it. The stability window and
/// what the terminal takes are in it.
fn step_own_ms(lab: &mut Lab) -> Result<Figure, Failure> {
    let none = steps(lab, "steps-none", 0)?;
    let many = steps(lab, "steps-many", STEPS)?;
    let each = (many - none) / f64::from(STEPS);
    Ok(Figure::against(each * 1e3, 2_000.0))
}

fn steps(lab: &Lab, name: &str, steps: u32) -> Result<f64, Failure> {
    test::install_packages()?;
    let engine = test::engine_with_desktop()?;
    let script = lab.folder().join(format!("{name}.jsonl"));
    let writing = format!("write {}", script.display());
    std::fs::write(&script, answers(steps)).trying(writing)?;
    let suite = Cases {
        image: rootfs::DESKTOP_IMAGE,
        apart: false,
        app: Some("xterm -geometry 150x55+20+20"),
        wait: None,
    };
    let suite = suite.write(lab.folder(), name, 1)?;
    let mut run = lab.plan(name, suite, 1, 1);
    run.docker_host = Some(engine.api().docker_host());
    run.agent = vec![
        "react".to_owned(),
        "--model".to_owned(),
        format!("mock/script:{}", script.display()),
    ];
    Ok(lab.run(&run)?.seconds)
}

/// What the model says: one text per line, which is a JSON object itself.
fn answers(steps: u32) -> String {
    let say = |name: &str, parameters: serde_json::Value| {
        let answer = json!({
            "observation": "a terminal",
            "thought": "the next key",
            "action": { "name": name, "parameters": parameters },
        });
        format!("{}\n", json!(answer.to_string()))
    };
    let keys = ('a'..='z').cycle().take(steps as usize);
    let keys = keys.map(|key| say("press_key", json!({ "key": key })));
    keys.chain([say("result", json!({ "value": suites::ANSWER }))])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_presses_a_key_per_step_and_ends() {
        let said = answers(3);
        let lines: Vec<String> = said
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        assert_eq!(lines.len(), 4);
        assert!(lines[2].contains(r#""key":"c""#), "{said}");
        assert!(lines[3].contains(r#""name":"result""#), "{said}");
    }
}
