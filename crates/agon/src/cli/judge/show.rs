//! How far a judge can be trusted, for people and for programs.

use std::fmt::Write;

use agon_stats::Agreement;
use serde_json::{Value, json};

use super::calibrate::{Calibration, Opinion, Reference};
use crate::cli::output;

/// Characters of a judge's reasoning in a list.
const EXCERPT: usize = 160;

pub(super) fn text(found: &Calibration) -> String {
    let mut text = String::new();
    let groups = [
        ("against people", Some(Reference::Person)),
        ("against programs", Some(Reference::Program)),
        ("together", None),
    ];
    let known = |with| !found.agreement(with).is_empty();
    let both = known(Some(Reference::Person)) && known(Some(Reference::Program));
    for (name, with) in groups {
        let tasks = found.agreement(with);
        if tasks.is_empty() || (with.is_none() && !both) {
            continue;
        }
        let trials = Agreement::sum(&tasks).count();
        let _ = writeln!(text, "{name}: {}", output::count(trials, "trial"));
        let _ = write!(text, "{}", lines(&tasks));
    }
    let disagreements: Vec<&Opinion> = found.disagreements().collect();
    let first = found.opinions.first().map(|opinion| &opinion.run);
    let several = found.opinions.iter().any(|other| Some(&other.run) != first);
    if !disagreements.is_empty() {
        let _ = writeln!(text, "\nwhere they differ:");
        for opinion in disagreements {
            let kind = if opinion.judge {
                "false pass"
            } else {
                "false fail"
            };
            let run = match several {
                true => format!("{}: ", output::plain(&opinion.run)),
                false => String::new(),
            };
            let reasoning: String = output::plain(&opinion.reasoning)
                .chars()
                .take(EXCERPT)
                .collect();
            let _ = writeln!(
                text,
                "  {kind}  {run}{}#{}  confidence {:.2}  {reasoning}",
                opinion.task, opinion.epoch, opinion.confidence
            );
        }
    }
    for (task, why) in &found.undecided {
        let _ = writeln!(text, "not judged: {task}: {}", output::plain(why));
    }
    if found.unknown > 0 {
        let trials = output::count(found.unknown, "trial");
        let _ = writeln!(text, "{trials} with nothing to compare a judge with");
    }
    if !found.usage.is_empty() {
        let (input, out) = (found.usage.input_tokens, found.usage.output_tokens);
        let money = found.usage.money.map(|money| format!(", {money}"));
        let _ = writeln!(
            text,
            "asked: {input} tokens in, {out} out{}",
            money.unwrap_or_default()
        );
    }
    text.trim_end().to_owned()
}

fn lines(tasks: &[Agreement]) -> String {
    let mut text = String::new();
    let rates = [
        ("agreement", Agreement::rate(tasks)),
        ("false passes", Agreement::false_pass_rate(tasks)),
        ("false fails", Agreement::false_fail_rate(tasks)),
    ];
    for (name, rate) in rates {
        let _ = match rate {
            Some((rate, Some(interval))) => writeln!(
                text,
                "  {name:<13} {:>5.1} %  ({:.1} to {:.1})",
                rate * 100.0,
                interval.low * 100.0,
                interval.high * 100.0
            ),
            Some((rate, None)) => writeln!(
                text,
                "  {name:<13} {:>5.1} %  (no interval: a single task)",
                rate * 100.0
            ),
            None => writeln!(text, "  {name:<13}     -    (nothing of that kind)"),
        };
    }
    if let Some(kappa) = Agreement::sum(tasks).kappa() {
        let _ = writeln!(text, "  {:<13} {kappa:>5.2}", "kappa");
    }
    text
}

pub(super) fn document(found: &Calibration) -> Value {
    let group = |with| {
        let tasks = found.agreement(with);
        let agreement = Agreement::sum(&tasks);
        let rate = |rate: Option<(f64, Option<agon_stats::Interval>)>| {
            rate.map(|(rate, interval)| {
                json!({"rate": rate, "low": interval.map(|found| found.low),
                       "high": interval.map(|found| found.high)})
            })
        };
        json!({
            "trials": agreement.count(),
            "both_pass": agreement.both_pass,
            "both_fail": agreement.both_fail,
            "false_pass": agreement.false_pass,
            "false_fail": agreement.false_fail,
            "agreement": rate(Agreement::rate(&tasks)),
            "false_pass_rate": rate(Agreement::false_pass_rate(&tasks)),
            "false_fail_rate": rate(Agreement::false_fail_rate(&tasks)),
            "kappa": agreement.kappa(),
        })
    };
    json!({
        "people": group(Some(Reference::Person)),
        "programs": group(Some(Reference::Program)),
        "all": group(None),
        "disagreements": found.disagreements().collect::<Vec<_>>(),
        "undecided": found.undecided,
        "unknown": found.unknown,
        "usage": found.usage,
    })
}
