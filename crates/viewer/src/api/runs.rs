//! Runs, their trials as rows, and runs against each other.

use agon_report::Summary;
use agon_store::Manifest;
use schemars::JsonSchema;
use serde::Serialize;

use crate::compare as comparing;
use crate::error::ViewerError;
use crate::live;
use crate::serve::{App, Asked, Reply, compared};
use crate::shape::{RunCard, Timeline};

/// Rows of one answer.
const MOST_ROWS: u64 = 500;

/// A run, with all that is not about one trial.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct RunDetail<'a> {
    card: RunCard,
    summary: &'a Summary,
    timeline: &'a Timeline,
    manifest: &'a Manifest,
}

pub(crate) fn runs(app: &App, _: &Asked) -> Result<Reply, ViewerError> {
    Reply::json(&app.library.cards()?)
}

pub(crate) fn run(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let run = app.run(asked)?;
    let overview = run.overview()?;
    Reply::json(&RunDetail {
        card: run.card(),
        summary: &overview.summary,
        timeline: &overview.timeline,
        manifest: &*run.manifest()?,
    })
}

pub(crate) fn trials(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let run = app.run(asked)?;
    let limit = asked.at_most("limit", 100, MOST_ROWS)?;
    Reply::json(&run.trials(&asked.query()?, asked.given("offset", 0)?, limit)?)
}

pub(crate) fn checks(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    Reply::json(&app.run(asked)?.failed_checks()?)
}

pub(crate) fn live(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    Reply::json(&live::progress(&*app.run(asked)?))
}

pub(crate) fn unreviewed(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let run = app.run(asked)?;
    let after = asked.after()?;
    Reply::json(&run.next_unreviewed(&asked.query()?, after.as_ref())?)
}

/// Only what is looked at of a comparison that may have any number of tasks.
pub(crate) fn compared_tasks(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let runs = compared(app, asked)?;
    let query = asked.tasks(&runs)?;
    let limit = asked.at_most("limit", 100, MOST_ROWS)?;
    let offset = asked.given("offset", 0)?;
    let found = comparing::compare(&runs)?;
    Reply::json(&comparing::page(&found, &query, offset, limit))
}

pub(crate) fn compare(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    Reply::json(&*comparing::compare(&compared(app, asked)?)?)
}
