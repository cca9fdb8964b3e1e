//! The running trials of a run.

use askama::Template;
use serde::Serialize;

use crate::error::ViewerError;
use crate::library::Run;
use crate::live;
use crate::pages::suites::suites;
use crate::pages::{Frame, embedded};
use crate::shape::Progress;
use crate::visible::plain;

#[derive(Template)]
#[template(path = "live.html")]
struct LivePage {
    frame: Frame,
    /// Suite and agent.
    which: String,
    data: String,
}

#[derive(Serialize)]
struct Data<'a> {
    run: &'a str,
    progress: Progress,
}

pub(crate) fn live(frame: Frame, run: &Run) -> Result<String, ViewerError> {
    let manifest = run.manifest()?;
    let suites = suites(manifest.suites.iter().map(|suite| &suite.name));
    let data = Data {
        run: run.id(),
        progress: live::progress(run),
    };
    let page = LivePage {
        frame: frame
            .titled("Live")
            .at("live")
            .under_runs()
            .under_run(run.id()),
        which: format!("{suites} · {}", plain(&manifest.agent.spec)),
        data: embedded(&data)?,
    };
    Ok(page.render()?)
}
