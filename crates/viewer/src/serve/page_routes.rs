//! The addresses of pages.

use std::sync::Arc;

use super::app::App;
use super::routes::Handler;
use super::{Asked, Reply};
use crate::error::ViewerError;
use crate::library::Run;
use crate::pages;
use crate::shape::{Flag, State, TrialKey, TrialQuery, TrialRow};

/// Runs that can be compared at once.
pub(crate) const MOST_COMPARED: usize = 8;
/// Rows that are looked through at a time.
const AT_A_TIME: u64 = 500;

pub(crate) const PAGES: &[(&str, Handler)] = &[
    ("/", runs),
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
    let runs = app.library.runs()?;
    let cards: Vec<_> = runs.iter().map(|run| run.card()).collect();
    Ok(Reply::Page(pages::runs::runs(app.frame(), &cards)?))
}

fn run(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let run = app.run(asked)?;
    let page = pages::run::run(app.frame(), &run, &asked.query()?)?;
    Ok(Reply::Page(page))
}

fn overview(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let run = app.run(asked)?;
    Ok(Reply::Page(pages::run::overview(app.frame(), &run)?))
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
    Ok(Reply::Page(pages::compare::compare(app.frame(), &runs)?))
}

fn side_by_side(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let task = asked.task()?.to_string();
    let runs = compared(app, asked)?;
    let page = pages::compare::side_by_side(app.frame(), &runs, &task)?;
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

/// To the next trial that nobody has reviewed, in the order of the list; after the last, from the top.
/// `after` (`category/id/epoch/attempt`) names the one that was looked at.
fn review(app: &App, asked: &Asked) -> Result<Reply, ViewerError> {
    let run = app.run(asked)?;
    let after = asked.all("after").next().map(key).transpose()?;
    let query = asked.query()?;
    let next = next_unreviewed(&run, &query, after.as_ref())?;
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

fn key(text: &str) -> Result<TrialKey, ViewerError> {
    let bad = || ViewerError::BadRequest(format!("after={text} is no category/id/epoch/attempt"));
    let mut parts = text.rsplitn(3, '/');
    let mut number = || parts.next().and_then(|part| part.parse().ok());
    let (Some(attempt), Some(epoch)) = (number(), number()) else {
        return Err(bad());
    };
    let task = parts.next().ok_or_else(bad)?.to_owned();
    Ok(TrialKey {
        task,
        epoch,
        attempt,
    })
}

fn next_unreviewed(
    run: &Run,
    query: &TrialQuery,
    after: Option<&TrialKey>,
) -> Result<Option<TrialKey>, ViewerError> {
    let waits = |row: &TrialRow| {
        matches!(row.state, State::Passed | State::Failed | State::Faulted)
            && !row.flags.contains(&Flag::Reviewed)
    };
    let mut first = None;
    let mut passed = after.is_none();
    let mut offset = 0;
    loop {
        let page = run.trials(query, offset, AT_A_TIME)?;
        let count = page.rows.len() as u64;
        for row in page.rows {
            if Some(&row.key) == after {
                passed = true;
            } else if waits(&row) {
                if passed {
                    return Ok(Some(row.key));
                }
                first.get_or_insert(row.key);
            }
        }
        offset += count;
        if count == 0 || offset >= page.total {
            return Ok(first);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_is_named_by_four_parts() {
        let read = key("text/hello/2/3").unwrap();
        assert_eq!(read.task, "text/hello");
        assert_eq!((read.epoch, read.attempt), (2, 3));
        for bad in ["", "1/2", "a/b/c/d", "a/b/1/-2"] {
            assert!(key(bad).is_err(), "{bad}");
        }
    }
}
