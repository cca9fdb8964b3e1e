//! One attempt: its head, its steps, its events.

use crate::error::ViewerError;
use crate::serve::{App, Asked, Reply};
use crate::shape::Neighbours;
use crate::trial;

/// Steps of one answer.
const MOST_STEPS: u32 = 500;

pub(crate) fn head(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    Reply::json(&trial::head(&*app.run(asked)?, &asked.trial()?)?)
}

pub(crate) fn steps(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let run = app.run(asked)?;
    let count = asked.at_most("count", 100, MOST_STEPS)?;
    let from = asked.given("from", 0)?;
    Reply::json(&trial::steps(&run, &asked.trial()?, from, count)?)
}

pub(crate) fn step(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let run = app.run(asked)?;
    Reply::json(&trial::step(&run, &asked.trial()?, asked.number("step")?)?)
}

pub(crate) fn event(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let run = app.run(asked)?;
    Reply::json(&trial::event(&run, &asked.trial()?, asked.number("seq")?)?)
}

pub(crate) fn request(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    said(app, asked, "request")
}

pub(crate) fn response(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    said(app, asked, "response")
}

fn said(app: &App, asked: &Asked, which: &str) -> Result<Reply, ViewerError> {
    let run = app.run(asked)?;
    let seq = asked.number("seq")?;
    Reply::json(&trial::said(&run, &asked.trial()?, seq, which)?)
}

pub(crate) fn track(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    Reply::json(&trial::track(&*app.run(asked)?, &asked.trial()?)?)
}

pub(crate) fn neighbours(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let run = app.run(asked)?;
    let (previous, next) = run.neighbours(&asked.query()?, &asked.trial()?)?;
    Reply::json(&Neighbours { previous, next })
}
