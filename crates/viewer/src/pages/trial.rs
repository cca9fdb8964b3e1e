//! The page of a trial: its head as HTML, everything else as data for `trial.js`, so that the first picture
//! of it needs no further question. Knows nothing of how records are read.

use askama::Template;
use serde::Serialize;

use crate::error::ViewerError;
use crate::library::Run;
use crate::pages::{Frame, embedded};
use crate::shape::{Neighbours, State, Step, Steps, TrialHead, TrialKey, TrialQuery};
use crate::trial;
use crate::visible::plain;

/// Rows of steps that are sent with the page: a page of the list in `timeline.js`.
const WINDOW: u32 = 200;

/// What `trial.js` is made of, named at once: otherwise a browser finds one module after the other.
const MODULES: [&str; 31] = [
    "axis.js",
    "blocks.js",
    "checks.js",
    "difference.js",
    "dom.js",
    "finder.js",
    "format.js",
    "ink.js",
    "keys.js",
    "moment.js",
    "overlay.js",
    "panel.js",
    "picture.js",
    "player.js",
    "prediction.js",
    "query.js",
    "review.js",
    "rows.js",
    "source.js",
    "splitter.js",
    "stage.js",
    "step.js",
    "stopping.js",
    "talk.js",
    "timeline.js",
    "times.js",
    "transcript.js",
    "trialfeed.js",
    "trialhead.js",
    "trialkeys.js",
    "who.js",
];

#[derive(Template)]
#[template(path = "trial.html")]
struct TrialTemplate {
    frame: Frame,
    name: String,
    state: &'static str,
    /// Screens are shown in the middle; without any, a transcript is.
    screens: bool,
    data: String,
}

#[derive(Serialize)]
struct Data {
    head: TrialHead,
    steps: Steps,
    step: Option<Step>,
    neighbours: Neighbours,
}

/// `step`: the one to open at. `query`: the list that it was opened from.
pub(crate) fn trial(
    frame: Frame,
    run: &Run,
    key: &TrialKey,
    step: Option<u32>,
    query: &TrialQuery,
) -> Result<String, ViewerError> {
    let head = trial::head(run, key)?;
    let (steps, step) = around(run, key, &head, step)?;
    let (previous, next) = run.neighbours(query, key)?;
    let name = plain(&head.task.name);
    let page = TrialTemplate {
        frame: frame.titled(title(&head)).at("trial").under_run(run.id()),
        name,
        state: word(head.state),
        screens: head.screen.is_some(),
        data: embedded(&Data {
            head,
            steps,
            step,
            neighbours: Neighbours { previous, next },
        })?,
    };
    Ok(page.render()?)
}

/// The window of steps that holds the one to open at, and that one. A trial that was never played has none.
fn around(
    run: &Run,
    key: &TrialKey,
    head: &TrialHead,
    step: Option<u32>,
) -> Result<(Steps, Option<Step>), ViewerError> {
    let wanted = step.unwrap_or_else(|| opening(head));
    let steps = match trial::steps(run, key, wanted / WINDOW * WINDOW, WINDOW) {
        Err(ViewerError::NotFound(_)) => return Ok((nothing(), None)),
        steps => steps?,
    };
    let Some(last) = steps.total.checked_sub(1) else {
        return Ok((steps, None));
    };
    if wanted > last {
        let steps = trial::steps(run, key, last / WINDOW * WINDOW, WINDOW)?;
        return Ok((steps, Some(trial::step(run, key, last)?)));
    }
    Ok((steps, Some(trial::step(run, key, wanted)?)))
}

fn nothing() -> Steps {
    Steps {
        total: 0,
        from: 0,
        rows: Vec::new(),
    }
}

/// Where a trial is opened unless a link says it: at the first action on a screen, at the end of one that is
/// being played, at the beginning of any other.
fn opening(head: &TrialHead) -> u32 {
    if head.live {
        head.acted
    } else if head.screen.is_some() && !head.realtime {
        head.acted.min(1)
    } else {
        0
    }
}

fn title(head: &TrialHead) -> String {
    let TrialKey {
        task,
        epoch,
        attempt,
    } = &head.key;
    let mut title = plain(task);
    if *epoch > 1 {
        title += &format!(", epoch {epoch}");
    }
    if *attempt > 1 {
        title += &format!(", attempt {attempt}");
    }
    title
}

const fn word(state: State) -> &'static str {
    match state {
        State::Passed => "passed",
        State::Failed => "failed",
        State::Faulted => "faulted",
        State::Running => "running",
        State::Missing => "missing",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Of a module of `assets/`: the names of those that it takes something from.
    fn imports(name: &str) -> Vec<String> {
        let path = format!("{}/assets/{name}", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).unwrap();
        let named = |line: &str| {
            let rest = line.strip_prefix("import ")?;
            Some(rest.split_once("\"./")?.1.split_once('"')?.0.to_owned())
        };
        text.lines().filter_map(named).collect()
    }

    #[test]
    fn every_module_of_the_page_is_loaded_at_once() {
        let mut found = BTreeSet::new();
        let mut open = vec!["trial.js".to_owned()];
        while let Some(name) = open.pop() {
            for module in imports(&name) {
                if found.insert(module.clone()) {
                    open.push(module);
                }
            }
        }
        assert_eq!(found, MODULES.map(str::to_owned).into());
    }

    #[test]
    fn a_hostile_name_and_hostile_data_stay_text() {
        let page = TrialTemplate {
            frame: Frame::served("secret").titled("<i>a</i>").at("trial"),
            name: "<img src=x onerror=alert(1)>".to_owned(),
            state: word(State::Failed),
            screens: true,
            data: embedded(&"</script><script>alert(2)</script>").unwrap(),
        };
        let html = page.render().unwrap();
        assert!(!html.contains("<img") && !html.contains("<i>"), "{html}");
        assert!(!html.contains("<script>"), "{html}");
        assert!(html.contains("with-screens") && html.contains("is-failed"));
        assert!(html.contains("/trial.css") && html.contains("modulepreload"));
    }

    #[test]
    fn a_page_that_is_a_file_preloads_no_modules() {
        let page = TrialTemplate {
            frame: Frame::exported("../").titled("a").at("trial"),
            name: "a".to_owned(),
            state: word(State::Missing),
            screens: false,
            data: "{}".to_owned(),
        };
        let html = page.render().unwrap();
        assert!(!html.contains("modulepreload"));
        assert!(html.contains("without-screens"));
    }
}
