//! `cargo xtask bench NAME`: measures, prints a table and writes `target/bench/NAME.json`. What is
//! measured stands in one file per name; this file only knows rows and figures.

mod arena;
mod bare;
mod build;
mod desktop;
mod desktop_run;
mod fuzz;
mod intervals;
mod lab;
mod llm;
mod machine;
mod process;
mod program;
mod spine;
mod stale;
mod suites;
mod testcases;
mod viewer;
mod workflow;

use serde_json::{Value, json};

use crate::console::{complain, say, step};
use crate::failure::{Failure, Trying};
use crate::workspace;
use lab::Lab;

/// One thing to measure.
#[derive(Debug)]
struct Row {
    name: &'static str,
    unit: &'static str,
    better: Better,
    /// What Agon wants to reach, where that is a figure of its own.
    target: Option<f64>,
    measure: fn(&mut Lab) -> Result<Figure, Failure>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Better {
    Higher,
    Lower,
}

/// What was measured, and what it is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Figure {
    value: f64,
    reference: Option<f64>,
}

impl Figure {
    fn against(value: f64, reference: f64) -> Self {
        Self {
            value,
            reference: Some(reference),
        }
    }

    fn alone(value: f64) -> Self {
        Self {
            value,
            reference: None,
        }
    }

    /// How many times as good as the reference: above 1 is better, whatever the unit.
    fn ratio(self, better: Better) -> Option<f64> {
        let reference = self.reference?;
        Some(match better {
            Better::Higher => self.value / reference,
            Better::Lower => reference / self.value,
        })
    }
}

impl Row {
    const fn aiming(
        name: &'static str,
        unit: &'static str,
        better: Better,
        target: f64,
        measure: fn(&mut Lab) -> Result<Figure, Failure>,
    ) -> Self {
        Self {
            name,
            unit,
            better,
            target: Some(target),
            measure,
        }
    }

    fn to_json(&self, figure: Figure) -> Value {
        json!({
            "name": self.name,
            "value": rounded(figure.value),
            "unit": self.unit,
            "reference": figure.reference.map(rounded),
            "ratio": figure.ratio(self.better).map(rounded),
        })
    }

    fn to_line(&self, figure: Figure) -> String {
        let bound = match self.better {
            Better::Higher => "≥",
            Better::Lower => "≤",
        };
        let or_dash = |value: Option<f64>| value.map_or("-".to_owned(), shown);
        format!(
            "{:<26} {:>12} {:<9} {:>14} {:>12} {:>9}",
            self.name,
            shown(figure.value),
            self.unit,
            self.target.map_or("-".to_owned(), |target| format!(
                "{bound} {}",
                shown(target)
            )),
            or_dash(figure.reference),
            or_dash(figure.ratio(self.better)),
        )
    }
}

const HEADER: &str = "row                               value unit              \
                      target    reference     ratio";

pub(crate) fn run(name: &str, only: &[&str]) -> Result<(), Failure> {
    let rows = match name {
        "spine" => spine::ROWS,
        "desktop" => desktop::ROWS,
        "arena" => arena::ROWS,
        "build" => build::ROWS,
        "fuzz" => fuzz::ROWS,
        "intervals" => intervals::ROWS,
        "llm" => llm::ROWS,
        "testcases" => testcases::ROWS,
        "viewer" => viewer::ROWS,
        "workflow" => workflow::ROWS,
        other => {
            return Err(Failure::usage(format!(
                "`{other}` is no bench; there are: arena, build, desktop, fuzz, intervals, llm, \
                 spine, testcases, viewer, workflow"
            )));
        }
    };
    if let Some(stranger) = only
        .iter()
        .find(|name| rows.iter().all(|row| row.name != **name))
    {
        let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
        return Err(Failure::usage(format!(
            "`{stranger}` is no row of {name}; there are: {}",
            names.join(", ")
        )));
    }
    let chosen: Vec<&Row> = rows
        .iter()
        .filter(|row| only.is_empty() || only.contains(&row.name))
        .collect();
    let machine = machine::describe()?;
    let mut lab = Lab::open()?;
    let mut figures = Vec::new();
    let mut failed = Vec::new();
    for row in chosen {
        match step(row.name, || (row.measure)(&mut lab)) {
            Ok(figure) => figures.push((row, figure)),
            Err(failure) => {
                complain(format!("{}: {failure}", row.name));
                failed.push(row.name);
            }
        }
    }
    drop(lab);
    say(format!("\n{machine}\n{HEADER}"));
    for (row, figure) in &figures {
        say(row.to_line(*figure));
    }
    say("ratio: how many times as good as the reference");
    let rows: Vec<Value> = figures
        .iter()
        .map(|(row, figure)| row.to_json(*figure))
        .collect();
    write(name, &json!({ "machine": machine, "rows": rows }))?;
    if failed.is_empty() {
        Ok(())
    } else {
        Err(Failure::new(format!("not measured: {}", failed.join(", "))))
    }
}

fn write(name: &str, content: &Value) -> Result<(), Failure> {
    let folder = workspace::root().join("target/bench");
    let path = folder.join(format!("{name}.json"));
    std::fs::create_dir_all(&folder).trying(format!("make {}", folder.display()))?;
    std::fs::write(&path, format!("{content:#}\n")).trying(format!("write {}", path.display()))?;
    say(format!("written: {}", path.display()));
    Ok(())
}

/// Four digits are more than any of these measurements is worth.
fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return value;
    }
    let scale = 10f64.powf(3.0 - value.abs().log10().floor());
    (value * scale).round() / scale
}

fn shown(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 => format!("{value:.0}"),
        middle if middle >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(better: Better) -> Row {
        Row {
            name: "speed",
            unit: "1/s",
            better,
            target: Some(60.0),
            measure: |_| Ok(Figure::alone(1.0)),
        }
    }

    #[test]
    fn a_ratio_above_one_is_better_than_the_reference() {
        let figure = Figure::against(200.0, 100.0);
        assert_eq!(figure.ratio(Better::Higher), Some(2.0));
        assert_eq!(figure.ratio(Better::Lower), Some(0.5));
        assert_eq!(Figure::alone(1.0).ratio(Better::Higher), None);
    }

    #[test]
    fn rows_are_written_with_all_their_keys() {
        let value = row(Better::Higher).to_json(Figure::against(12345.678, 100.0));
        assert_eq!(
            value,
            json!({"name": "speed", "value": 12350.0, "unit": "1/s", "reference": 100.0,
                   "ratio": 123.5})
        );
        let alone = row(Better::Lower).to_json(Figure::alone(0.012_344));
        assert_eq!(alone["value"], 0.01234);
        assert_eq!(alone["reference"], Value::Null);
    }

    #[test]
    fn columns_stand_under_their_names() {
        let line = row(Better::Lower).to_line(Figure::against(12.0, 24.0));
        assert_eq!(line.chars().count(), HEADER.chars().count());
        assert!(line.ends_with("2.00") && line.contains("≤ 60.00"), "{line}");
    }

    #[test]
    fn unknown_benches_and_rows_are_refused_before_any_work() {
        assert!(
            run("nothing", &[])
                .unwrap_err()
                .to_string()
                .contains("spine")
        );
        let error = run("spine", &["speed"]).unwrap_err().to_string();
        assert!(error.contains("turns_per_s"), "{error}");
    }
}
