//! What a run cost, by level or category: money, or tokens where no price is known.

use std::collections::HashMap;

use agon_report::{Summary, UsageTotal, count};
use agon_store::Manifest;

use super::cards::dollars;
use super::charts::{Bars, Named};
use super::overview::{by_level, encoded};
use crate::visible::plain;

#[derive(Debug)]
pub(super) struct Costs {
    pub(super) title: String,
    pub(super) chart: Bars,
}

/// Nothing where nobody reported any usage.
pub(super) fn costs(manifest: &Manifest, summary: &Summary, by_levels: bool) -> Option<Costs> {
    if summary.task_usage.is_empty() {
        return None;
    }
    let priced = summary
        .task_usage
        .iter()
        .any(|task| task.usage.money.is_some());
    let mut group_of = HashMap::new();
    for stamp in &manifest.tasks {
        let group = match (by_levels, stamp.level) {
            (true, Some(level)) => level.name().to_owned(),
            (true, None) => "no level".to_owned(),
            (false, _) => stamp.task.category().to_owned(),
        };
        group_of.insert(stamp.task.to_string(), group);
    }
    let mut sums: HashMap<&str, f64> = HashMap::new();
    for task in &summary.task_usage {
        if let Some(group) = group_of.get(&task.task) {
            *sums.entry(group).or_default() += amount(&task.usage, priced);
        }
    }
    let groups = if by_levels {
        &summary.levels
    } else {
        &summary.categories
    };
    let rows = groups.iter().filter_map(|group| {
        let sum = *sums.get(group.name.as_str())?;
        let text = if priced {
            dollars(sum)
        } else {
            count(sum as u64)
        };
        Some(Named {
            name: plain(&group.name),
            filter: Some(if by_levels {
                by_level(&group.name)
            } else {
                format!("category={}", encoded(&group.name))
            }),
            value: (sum, text),
        })
    });
    let what = if priced { "Cost" } else { "Tokens" };
    let by = if by_levels { "level" } else { "category" };
    let title = format!("{what} by {by}");
    let chart = Bars::amounts(&title, &rows.collect::<Vec<_>>());
    Some(Costs { title, chart })
}

fn amount(usage: &UsageTotal, priced: bool) -> f64 {
    match usage.money {
        Some(money) if priced => money.micros() as f64 / 1e6,
        _ if priced => 0.0,
        _ => {
            let tokens = usage.input_tokens.unwrap_or(0);
            tokens.saturating_add(usage.output_tokens.unwrap_or(0)) as f64
        }
    }
}
