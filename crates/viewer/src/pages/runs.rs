//! The list of runs.

use askama::Template;
use serde::Serialize;

use crate::error::ViewerError;
use crate::pages::{Frame, embedded};
use crate::shape::RunCard;

#[derive(Template)]
#[template(path = "runs.html")]
struct RunsPage {
    frame: Frame,
    runs: usize,
    data: String,
}

#[derive(Serialize)]
struct Data<'a> {
    cards: &'a [RunCard],
}

/// Newest first.
pub(crate) fn runs(frame: Frame, cards: &[RunCard]) -> Result<String, ViewerError> {
    let page = RunsPage {
        frame: frame.titled("Runs").at("runs"),
        runs: cards.len(),
        data: embedded(&Data { cards })?,
    };
    Ok(page.render()?)
}
