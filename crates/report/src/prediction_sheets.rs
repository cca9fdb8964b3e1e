//! The tables of a run of predictions.

use crate::prediction::{DistanceBin, PredictionGroup, Predictions};
use crate::sheet::{Sheet, number, text};
use crate::summary::Group;
use crate::text::{bounds, count, maybe_percent, percent};

/// The title of the table that other formats draw.
pub(crate) const DISTANCES: &str = "Distance from the expected point";

/// How long the longest bar is, in letters.
const BAR: u64 = 40;

/// `categories` are the same groups, with the trials that are not graded.
pub(crate) fn prediction_sheets(predictions: &Predictions, categories: &[Group]) -> Vec<Sheet> {
    vec![
        groups(predictions, categories),
        kinds(predictions),
        distances(predictions),
        unread(predictions),
    ]
}

fn groups(predictions: &Predictions, categories: &[Group]) -> Sheet {
    let columns = vec![
        text("group"),
        number("graded"),
        number("fault"),
        number("miss"),
        number("score"),
        number("95 % CI"),
        number("parsed"),
        number("95 % CI"),
        number(predictions.exact_name()),
        number("95 % CI"),
    ];
    let row = |group: &PredictionGroup, faulted: u64, missing: u64| {
        vec![
            group.name.clone(),
            count(group.trials),
            count(faulted),
            count(missing),
            maybe_percent(group.score),
            bounds(group.score_ci),
            maybe_percent(group.parsed.share),
            bounds(group.parsed.share_ci),
            maybe_percent(group.exact.share),
            bounds(group.exact.share_ci),
        ]
    };
    let open = |name: &str| {
        let category = categories.iter().find(|category| category.name == name);
        category.map_or((0, 0), |found| {
            (found.standing.faulted, found.standing.missing)
        })
    };
    let mut rows: Vec<Vec<String>> = predictions
        .groups
        .iter()
        .map(|group| {
            let (faulted, missing) = open(&group.name);
            row(group, faulted, missing)
        })
        .collect();
    if predictions.groups.len() > 1 {
        let sum = |of: fn(&Group) -> u64| categories.iter().map(of).sum();
        let faulted = sum(|category| category.standing.faulted);
        let missing = sum(|category| category.standing.missing);
        rows.push(row(&predictions.overall, faulted, missing));
    }
    let mut sheet = Sheet::new("Predictions", columns, rows);
    sheet.note = Some(match predictions.exact_name() {
        "hit" => "score: hits, and what could not be read counts as none.".to_owned(),
        _ => "score: from 0 (could not be read) to 1 (exact: every action right and none too \
              much)."
            .to_owned(),
    });
    sheet
}

fn kinds(predictions: &Predictions) -> Sheet {
    let columns = vec![
        text("action"),
        number("expected"),
        number(predictions.exact_name()),
        number("score"),
        number("95 % CI"),
    ];
    let rows = predictions.kinds.iter().map(|kind| {
        vec![
            kind.kind.clone(),
            count(kind.actions),
            count(kind.exact),
            percent(kind.score),
            bounds(kind.score_ci),
        ]
    });
    Sheet::new("By expected action", columns, rows.collect())
}

fn distances(predictions: &Predictions) -> Sheet {
    let columns = vec![text("of the diagonal"), number("points"), text("")];
    let distances = predictions.distances.as_ref();
    let bins: &[DistanceBin] = distances.map_or(&[], |distances| &distances.histogram);
    let most = bins.iter().map(|bin| bin.points).max().unwrap_or(0).max(1);
    let rows = bins.iter().map(|bin| {
        let length = (bin.points * BAR).div_ceil(most);
        let bar = "=".repeat(usize::try_from(length).unwrap_or(0));
        vec![bin.label(), count(bin.points), bar]
    });
    let mut sheet = Sheet::new(DISTANCES, columns, rows.collect());
    sheet.note = Some(match predictions.exact_name() {
        "hit" => "To the centre of the box, as a share of the picture's diagonal.".to_owned(),
        _ => "As a share of the active window's diagonal, of actions with a point that were \
              compared with one."
            .to_owned(),
    });
    sheet
}

fn unread(predictions: &Predictions) -> Sheet {
    let columns = vec![text("why"), number("answers"), text("example")];
    let rows = predictions.unread.iter().map(|unread| {
        let example = match unread.example == unread.why {
            true => String::new(),
            false => unread.example.clone(),
        };
        vec![unread.why.clone(), count(unread.trials), example]
    });
    Sheet::new("Answers that could not be read", columns, rows.collect())
}
