//! The agent's Python: cells that share one interpreter, in its sandbox. The interpreter is kept by a
//! program of ours there (`cells/keeper.py` and `cells/interpreter.py`); this file asks it and puts its
//! answers into words. Knows nothing of agents or records.

use std::time::Duration;

use agon_core::observation::ObservationKind;
use agon_core::{Limits, Observation};
use agon_sandbox::{Sandbox, SandboxError};
use tokio::time::Instant;

use super::drawn;
use super::inside::{Fields, Inside, Told};

const PROGRAM: &str = concat!(
    include_str!("inside/frames.py"),
    "\n",
    include_str!("cells/keeper.py"),
    "\n",
    include_str!("cells/interpreter.py"),
);

/// What the keeper may need beyond the time of a cell, where the turn has as much: to start an
/// interpreter, to interrupt it, to end it.
const KEEPING: Duration = Duration::from_secs(80);

/// How much is told of the interpreter's path and folder.
const LONGEST_PATH: usize = 4_096;

/// Room for the line that stands for what was left out.
const MARK: usize = 64;

const NEXT: &str = "its variables are lost, the next cell starts a new one";

#[derive(Debug)]
pub(super) struct Cells {
    keeper: Inside,
    view: usize,
}

impl Cells {
    pub(super) fn new(limits: Limits, cwd: Option<String>) -> Self {
        Self {
            view: usize::try_from(limits.view.0).unwrap_or(usize::MAX),
            keeper: Inside::new(PROGRAM, limits, cwd),
        }
    }

    /// Runs a cell, which is interrupted after `most`.
    pub(super) async fn run(
        &mut self,
        sandbox: &dyn Sandbox,
        code: &str,
        most: Duration,
        deadline: Instant,
    ) -> Result<Observation, SandboxError> {
        let seconds = most.as_secs_f64().to_string();
        let asked = [code.as_bytes(), seconds.as_bytes()];
        let within = most + KEEPING;
        let told = self.keeper.ask(sandbox, &asked, within, deadline).await?;
        Ok(match told {
            Told::Answer(fields) => self.shown(fields, most),
            Told::NotThere(why) => Observation::error(format!(
                "cells need python3, which does not run in this environment ({why}): use commands"
            )),
            Told::Gone(why) => Observation::new(
                ObservationKind::Output,
                format!("[the interpreter is gone, {why}: {NEXT}]"),
            ),
        })
    }

    fn shown(&self, fields: Fields, most: Duration) -> Observation {
        let mut fields = fields.into_iter();
        let mut next = || fields.next().unwrap_or_default();
        let (state, detail, output) = (next(), text(next()), next());
        let omitted = text(next()).parse().unwrap_or(0);
        let (cwd, python) = (path(next()), path(next()));
        let seconds = most.as_secs_f64();
        let event = match state.as_slice() {
            b"done" => None,
            b"interrupted" => Some(format!(
                "[interrupted after {seconds:.1} s; variables are kept]"
            )),
            b"killed" => Some(format!(
                "[the interpreter did not react to an interrupt after {seconds:.1} s and was \
                 killed: {NEXT}]"
            )),
            b"ended" => Some(format!("[the interpreter has ended, {detail}: {NEXT}]")),
            _ => return Observation::error(format!("the interpreter did not start: {detail}")),
        };
        let mut said = self.cut(output);
        let mut add = |line: &str| {
            if !said.is_empty() && !said.ends_with('\n') {
                said.push('\n');
            }
            said += line;
        };
        let (pictures, left_out) = drawn::pictures(fields.collect());
        event.iter().chain(&left_out).for_each(|line| add(line));
        if said.is_empty() {
            "[Code executed successfully with no output]".clone_into(&mut said);
        }
        let mut seen = Observation::new(ObservationKind::Output, said);
        if !python.is_empty() {
            seen.text += &format!(
                "\n[Jupyter current working directory: {cwd}]\n[Jupyter Python interpreter: {python}]"
            );
            seen.cwd = Some(cwd);
        }
        seen.omitted = omitted;
        seen.pictures = pictures;
        seen
    }

    /// The keeper has cut it already, if it is still ours.
    fn cut(&self, mut output: Vec<u8>) -> String {
        output.truncate(self.view.saturating_add(MARK));
        text(output)
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8_lossy(&bytes).into_owned()
}

fn path(mut bytes: Vec<u8>) -> String {
    bytes.truncate(LONGEST_PATH);
    text(bytes).replace(char::is_control, "\u{fffd}")
}
