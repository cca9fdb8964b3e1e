//! The figures at the head of a run's page, in the words of the reports.

use agon_report::{
    NO_INTERVAL, Summary, UsageTotal, count, duration, maybe_percent, percent, range, value,
};

#[derive(Debug)]
pub(super) struct Card {
    pub(super) name: &'static str,
    pub(super) value: String,
    pub(super) note: String,
    /// The whole story, where the note has no room for it.
    pub(super) hint: String,
}

pub(super) fn cards(summary: &Summary) -> Vec<Card> {
    let overall = &summary.overall;
    let mut cards = Vec::new();
    let mut card = |name, value, note: String, hint: String| {
        cards.push(Card {
            name,
            value,
            note,
            hint,
        });
    };
    let (interval, method) = match overall.score_ci {
        Some(ci) => (
            range(Some(ci)),
            format!("95 % interval, {}", ci.method.name()),
        ),
        None => (NO_INTERVAL.to_owned(), String::new()),
    };
    card(
        "Score",
        percent(overall.score_floor),
        format!("coverage {}", percent(overall.coverage)),
        format!(
            "Mean score of all planned trials, with faulted and missing ones as 0; {} of {} are graded",
            count(overall.graded()),
            count(overall.trials)
        ),
    );
    card(
        "Without faults",
        maybe_percent(overall.score),
        interval,
        method,
    );
    card(
        "Weighted",
        percent(summary.weighted.score_floor),
        format!("without faults {}", maybe_percent(summary.weighted.score)),
        summary.weighted.score_ci.map_or_else(
            || NO_INTERVAL.to_owned(),
            |ci| format!("95 % interval {}", range(Some(ci))),
        ),
    );
    if let Some(repeat) = summary.repeats.last() {
        card(
            "pass@k",
            percent(repeat.pass_at),
            format!("k {}, all pass {}", repeat.k, percent(repeat.pass_all)),
            "At least one of k trials of a task passes; all of them pass".to_owned(),
        );
    }
    if let Some(measured) = &summary.measured {
        let spread = &measured.overall;
        card(
            "Measured",
            value(spread.iqm),
            format!("{} to {}", value(spread.min), value(spread.max)),
            "Interquartile mean of what checks measured; smallest and largest".to_owned(),
        );
    }
    if let Some(steps) = summary
        .steps
        .as_ref()
        .filter(|_| summary.predictions.is_none())
    {
        card(
            "Steps",
            value(steps.median),
            format!("median; most {}", steps.max),
            format!("mean {}", value(steps.mean)),
        );
    }
    let spent = &summary.seconds;
    card(
        "Time",
        duration(spent.split.total()),
        spent.median.map_or_else(
            || "sum of all attempts".to_owned(),
            |median| format!("sum; median {}", duration(median)),
        ),
        "Time of all attempts added up, so that a run which plays several at once takes less itself. \
         Median of graded trials"
            .to_owned(),
    );
    let (cost, tokens) = cost(&summary.usage);
    card("Cost", cost, tokens, summary.usage.money_text());
    if let Some(people) = &summary.people {
        card(
            "Reviewed",
            count(people.reviewed),
            format!("{} disagree", count(people.disagreed())),
            format!(
                "{} passed by the checks and failed by a person, {} the other way round",
                people.false_passes, people.false_fails
            ),
        );
    }
    cards
}

/// Money with two decimals, or as many as show something; tokens.
fn cost(usage: &UsageTotal) -> (String, String) {
    let bound = if usage.unpriced + usage.unpriced_calls > 0 {
        "≥ "
    } else {
        ""
    };
    let money = match usage.money {
        Some(money) => format!("{bound}{}", dollars(money.micros() as f64 / 1e6)),
        None => "–".to_owned(),
    };
    let tokens = match (usage.input_tokens, usage.output_tokens) {
        (Some(input), Some(output)) => format!("{} tokens", count(input.saturating_add(output))),
        _ => "no usage reported".to_owned(),
    };
    (money, tokens)
}

pub(super) fn dollars(amount: f64) -> String {
    match amount {
        0.0 => "$0.00".to_owned(),
        large if large >= 1.0 => {
            let cents = (large * 100.0).round() as u64;
            format!("${}.{:02}", count(cents / 100), cents % 100)
        }
        small if small >= 0.0001 => format!("${small:.4}"),
        tiny => format!("${tiny:.6}"),
    }
}
