//! What the page shows of predictions: the distances, and a picture per item, worst first. Bounded in number
//! and in bytes, whatever a run holds.

use agon_core::Digest;
use agon_core::prediction::{ScoredPrediction, UiAction};
use agon_core::verdict::Outcome;
use agon_store::TrialLine;

use super::chart::BarChart;
use super::drawing::{Drawing, pixel, told};
use super::seen::picture_in;
use crate::error::ReportError;
use crate::prediction::Predictions;
use crate::run_report::RunReport;
use crate::text::{clip, count, percent, plain};

/// Pictures on one page.
const MOST: usize = 200;
/// Of which so many are shown at once; the others open at a click.
const OPEN: usize = 6;
/// Letters of all screens together.
const MOST_LETTERS: usize = 24 << 20;
/// Actions that are listed in words.
const LISTED: usize = 12;
/// Characters of a question or an answer.
const SAID: usize = 320;

pub(crate) struct PredictionsView {
    pub(crate) distances: Option<BarChart>,
    pub(crate) distances_note: &'static str,
    /// `expected point` or `box`, for the legend.
    pub(crate) boxes: bool,
    pub(crate) windows: bool,
    /// Each once, however many items are about it.
    pub(crate) screens: Vec<String>,
    pub(crate) items: Vec<ItemView>,
    pub(crate) note: Option<String>,
}

pub(crate) struct ItemView {
    pub(crate) name: String,
    pub(crate) class: &'static str,
    pub(crate) score: String,
    pub(crate) open: bool,
    pub(crate) drawing: Drawing,
    /// Its place among the screens.
    pub(crate) screen: Option<usize>,
    pub(crate) lines: Vec<(&'static str, String)>,
}

pub(crate) fn view(
    run: &RunReport<'_>,
    predictions: &Predictions,
) -> Result<PredictionsView, ReportError> {
    let (chosen, left_out) = worst(run)?;
    let mut screens = Screens::default();
    let mut items = Vec::new();
    for (name, line) in chosen {
        if let Some(prediction) = run.prediction(&line)? {
            items.push(item(run, name, &line, &prediction, &mut screens)?);
        }
    }
    for item in items.iter_mut().take(OPEN) {
        item.open = true;
    }
    let boxes = predictions.exact_name() == "hit";
    Ok(PredictionsView {
        distances: predictions.distances.as_ref().map(BarChart::of_distances),
        distances_note: match boxes {
            true => "To the centre of the box, as a share of the picture's diagonal.",
            false => "Between expected and predicted point, as a share of the window's diagonal.",
        },
        boxes,
        windows: !boxes,
        screens: screens.kept.into_iter().map(|(_, address)| address).collect(),
        note: (left_out > 0).then(|| {
            format!(
                "{} more are not drawn: those with the lowest scores are. The CSV report holds all.",
                count(left_out)
            )
        }),
        items,
    })
}

/// The graded trials with the lowest scores, worst first, and how many others there are.
fn worst(run: &RunReport<'_>) -> Result<(Vec<(String, TrialLine)>, u64), ReportError> {
    let mut lines: Vec<(String, TrialLine)> = Vec::new();
    let mut left_out = 0;
    let order = |a: &(String, TrialLine), b: &(String, TrialLine)| {
        a.1.score.total_cmp(&b.1.score).then_with(|| a.0.cmp(&b.0))
    };
    run.each_trial(|trial| {
        let name = trial.name(run.manifest.epochs);
        let Some(line) = trial.line.filter(|line| line.outcome != Outcome::Faulted) else {
            return;
        };
        lines.push((name, line));
        if lines.len() == 2 * MOST {
            lines.sort_by(order);
            lines.truncate(MOST);
            left_out += MOST as u64;
        }
    })?;
    lines.sort_by(order);
    left_out += lines.len().saturating_sub(MOST) as u64;
    lines.truncate(MOST);
    Ok((lines, left_out))
}

#[derive(Default)]
struct Screens {
    kept: Vec<(Digest, String)>,
    letters: usize,
}

impl Screens {
    /// The place of a picture, which is looked for in what the model was asked.
    fn place(
        &mut self,
        run: &RunReport<'_>,
        line: &TrialLine,
        digest: Digest,
    ) -> Result<Option<usize>, ReportError> {
        if let Some(place) = self.kept.iter().position(|(kept, _)| *kept == digest) {
            return Ok(Some(place));
        }
        let found = run.asked(line)?.as_ref().and_then(picture_in);
        let Some(address) = found.filter(|text| self.letters + text.len() <= MOST_LETTERS) else {
            return Ok(None);
        };
        self.letters += address.len();
        self.kept.push((digest, address));
        Ok(Some(self.kept.len() - 1))
    }
}

fn item(
    run: &RunReport<'_>,
    name: String,
    line: &TrialLine,
    prediction: &ScoredPrediction,
    screens: &mut Screens,
) -> Result<ItemView, ReportError> {
    let drawing = Drawing::of(prediction);
    let screen = match prediction.image {
        Some(digest) => screens.place(run, line, digest)?,
        None => None,
    };
    let mut lines = Vec::new();
    if let Some(question) = &prediction.question {
        lines.push(("asked", clip(&plain(question), SAID)));
    }
    if !prediction.reference.is_empty() {
        lines.push(("reference", listed(&prediction.reference)));
    }
    match prediction.target {
        Some(target) => {
            let text = format!(
                "({}, {}), {} x {}",
                pixel(target.left),
                pixel(target.top),
                pixel(target.width),
                pixel(target.height)
            );
            lines.push(("box", text));
        }
        None => lines.push(("expected", listed(&prediction.expected))),
    }
    match &prediction.why {
        Some(why) => lines.push(("not read", clip(&plain(why), 400))),
        None => lines.push(("predicted", listed(&prediction.predicted))),
    }
    if let Some(answer) = &prediction.answer {
        lines.push(("answer", clip(&plain(answer), SAID)));
    }
    if drawing.off {
        lines.push((
            "note",
            "a predicted point lies outside of the drawing; its mark is at the edge".to_owned(),
        ));
    }
    if prediction.image.is_some() && screen.is_none() {
        lines.push(("note", "the picture itself is not in this page".to_owned()));
    }
    Ok(ItemView {
        name: plain(&name),
        class: line.outcome.name(),
        score: percent(line.score.clamp(0.0, 1.0)),
        open: false,
        drawing,
        screen,
        lines,
    })
}

fn listed(actions: &[UiAction]) -> String {
    let told: Vec<String> = actions.iter().take(LISTED).map(told).collect();
    let more = actions.len().saturating_sub(LISTED);
    let text = told.join(", ");
    match (actions.len(), more) {
        (0, _) => "nothing".to_owned(),
        (_, 0) => text,
        (all, more) => format!(
            "{text} and {} more ({} in all)",
            count(more as u64),
            count(all as u64)
        ),
    }
}
