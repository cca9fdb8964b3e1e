//! The addresses of pages.

use std::sync::Arc;

use super::app::App;
use super::routes::Handler;
use super::{Asked, Reply};
use crate::error::ViewerError;
use crate::library::Run;
use crate::pages;
use crate::shape::TrialKey;

/// Runs that can be compared at once.
pub(crate) const MOST_COMPARED: usize = 8;

pub(crate) const PAGES: &[(&str, Handler)] = &[
    ("/", runs),
    ("/runs", to_runs),
    ("/runs/{run}", run),
    ("/runs/{run}/overview", overview),
    ("/runs/{run}/live", live),
    ("/runs/{run}/review", review),
    (
        "/runs/{run}/trial/{category}/{task}/{epoch}/{attempt}",
        trial,
    ),
    ("/compare", compare),
    ("/compare/{category}/{task}", side_by_side),
];

fn runs(app: &App, _: &Asked) -> Result<Reply, ViewerError> {
    let cards = app.library.cards()?;
    Ok(Reply::Page(pages::runs::runs(app.frame(), &cards)?))
}

fn to_runs(_: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    Ok(Reply::See(format!("/{}", asked.query_without(&[]))))
}

fn run(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let run = app.run(asked)?;
    let page = pages::run::run(app.frame(), &run, &asked.query()?)?;
    Ok(Reply::Page(page))
}

fn overview(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let run = app.run(asked)?;
    Ok(Reply::Page(pages::run::overview(&run)?))
}

fn live(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let run = app.run(asked)?;
    Ok(Reply::Page(pages::live::live(app.frame(), &run)?))
}

fn trial(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let run = app.run(asked)?;
    let key = asked.trial()?;
    let step = match asked.all("step").next() {
        Some(_) => Some(asked.given("step", 0)?),
        None => None,
    };
    let page = pages::trial::trial(app.frame(), &run, &key, step, &asked.query()?)?;
    Ok(Reply::Page(page))
}

fn compare(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let runs = compared(app, asked)?;
    let query = asked.tasks(&runs)?;
    let page = pages::compare::compare(app.frame(), &runs, &query)?;
    Ok(Reply::Page(page))
}

fn side_by_side(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let task = asked.task()?.to_string();
    let runs = compared(app, asked)?;
    let page = pages::side_by_side::side_by_side(app.frame(), &runs, &task)?;
    Ok(Reply::Page(page))
}

/// The runs that a comparison names, in its order.
pub(crate) fn compared(app: &App, asked: &Asked) -> Result<Vec<Arc<Run>>, ViewerError> {
    let mut ids: Vec<&str> = Vec::new();
    for id in asked.all("run") {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    if !(2..=MOST_COMPARED).contains(&ids.len()) {
        return Err(ViewerError::BadRequest(format!(
            "name two to {MOST_COMPARED} different runs, such as ?run=a&run=b"
        )));
    }
    ids.into_iter().map(|id| app.library.run(id)).collect()
}

/// To the next trial that counts and that nobody has reviewed, in the order of the list; after the last, from
/// the top.
/// `after` (`category/id/epoch/attempt`) names the one that was looked at.
fn review(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let run = app.run(asked)?;
    let after = asked.after()?;
    let next = run.next_unreviewed(&asked.query()?, after.as_ref())?;
    let rest = asked.query_without(&["after", "step"]);
    let id = run.id();
    Ok(Reply::See(match next {
        Some(TrialKey {
            task,
            epoch,
            attempt,
        }) => format!("/runs/{id}/trial/{task}/{epoch}/{attempt}{rest}"),
        None => format!("/runs/{id}{rest}"),
    }))
}
