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
    let known = |with| found.agreement(with).count() > 0;
    let both = known(Some(Reference::Person)) && known(Some(Reference::Program));
    for (name, with) in groups {
        let agreement = found.agreement(with);
        if agreement.count() == 0 || (with.is_none() && !both) {
            continue;
        }
        let _ = writeln!(
            text,
            "{name}: {}",
            output::count(agreement.count(), "trial")
        );
        let _ = write!(text, "{}", lines(&agreement));
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

fn lines(agreement: &Agreement) -> String {
    let mut text = String::new();
    let rates = [
        ("agreement", agreement.rate()),
        ("false passes", agreement.false_pass_rate()),
        ("false fails", agreement.false_fail_rate()),
    ];
    for (name, rate) in rates {
        let _ = match rate {
            Some((rate, interval)) => writeln!(
                text,
                "  {name:<13} {:>5.1} %  ({:.1} to {:.1})",
                rate * 100.0,
                interval.low * 100.0,
                interval.high * 100.0
            ),
            None => writeln!(text, "  {name:<13}     -    (nothing of that kind)"),
        };
    }
    if let Some(kappa) = agreement.kappa() {
        let _ = writeln!(text, "  {:<13} {kappa:>5.2}", "kappa");
    }
    text
}

pub(super) fn document(found: &Calibration) -> Value {
    let group = |with| {
        let agreement = found.agreement(with);
        let rate = |rate: Option<(f64, agon_stats::Interval)>| {
            rate.map(|(rate, interval)| json!({"rate": rate, "low": interval.low, "high": interval.high}))
        };
        json!({
            "trials": agreement.count(),
            "both_pass": agreement.both_pass,
            "both_fail": agreement.both_fail,
            "false_pass": agreement.false_pass,
            "false_fail": agreement.false_fail,
            "agreement": rate(agreement.rate()),
            "false_pass_rate": rate(agreement.false_pass_rate()),
            "false_fail_rate": rate(agreement.false_fail_rate()),
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
