//! `agon llm list`: what can be said after `--model`.

use agon_core::Usage;
use agon_llm::ModelSpec;
use agon_llm::config::{Config, ConfigSource, FORMS, KeyOrigin};
use agon_llm::price::Prices;
use serde::Serialize;

use super::args::ListArgs;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;
use crate::cli::output;

const COLUMNS: usize = 6;

/// One section, as a script sees it.
#[derive(Debug, Serialize)]
struct Row {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_url: Option<String>,
    /// Where the key comes from; never the key.
    key: String,
    /// Dollars for a million tokens, in and out; none where they are not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    price: Option<Price>,
    ready: bool,
    /// What is wrong with it, and what to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

#[derive(Debug, Serialize)]
struct Price {
    input: String,
    output: String,
}

impl Price {
    fn of(prices: &Prices, spec: &ModelSpec) -> Option<Self> {
        // Short requests: long ones may have prices of their own.
        let million = |usage: &Usage| Some((prices.cost(spec, usage)? * 1_000).to_string());
        Some(Self {
            input: million(&Usage {
                input_tokens: 1_000,
                ..Usage::default()
            })?,
            output: million(&Usage {
                output_tokens: 1_000,
                ..Usage::default()
            })?,
        })
    }
}

impl Row {
    fn of(config: &Config, prices: &Prices, name: &str) -> Self {
        match config.model_and_key(name) {
            Ok((spec, origin)) => Self::known(name, prices, spec, &origin),
            Err(error) => Self {
                name: name.to_owned(),
                provider: None,
                model: None,
                base_url: None,
                key: "-".to_owned(),
                price: None,
                ready: false,
                problem: Some(error.to_string()),
            },
        }
    }

    fn known(name: &str, prices: &Prices, spec: ModelSpec, origin: &KeyOrigin) -> Self {
        Self {
            price: Price::of(prices, &spec),
            name: name.to_owned(),
            provider: Some(spec.provider.name().to_owned()),
            model: Some(spec.model),
            base_url: Some(spec.base_url).filter(|url| !url.is_empty()),
            key: match origin {
                KeyOrigin::NotNeeded => "none".to_owned(),
                KeyOrigin::Missing => "missing".to_owned(),
                KeyOrigin::Placeholder => "placeholder".to_owned(),
                KeyOrigin::Section(section) => format!("[{section}]"),
                KeyOrigin::Variable(name) => format!("${name}"),
            },
            ready: spec.settings.not_ready.is_none(),
            problem: spec.settings.not_ready,
        }
    }

    fn cells(&self) -> [String; COLUMNS] {
        let or_none = |cell: &Option<String>| cell.clone().unwrap_or_else(|| "-".to_owned());
        let price = self.price.as_ref();
        let price = price.map(|Price { input, output }| format!("{input} / {output}"));
        let cells = [
            self.name.clone(),
            or_none(&self.provider),
            or_none(&self.model),
            or_none(&self.base_url),
            self.key.clone(),
            price.unwrap_or_else(|| "unknown".to_owned()),
        ];
        cells.map(|cell| output::plain(&cell))
    }
}

pub(super) fn list(args: &ListArgs) -> Result<Exit, Failure> {
    let config = Config::load(&ConfigSource::of_process(args.config.clone()))?;
    for warning in config.warnings() {
        output::say(&format!("agon: {}", output::plain(warning)));
    }
    let prices = Prices::open(args.prices.as_deref())?;
    let sections = config.sections();
    let rows = sections.iter().map(|name| Row::of(&config, &prices, name));
    let rows: Vec<Row> = rows.collect();
    if args.json {
        for row in &rows {
            output::json(row)?;
        }
        return Ok(Exit::Done);
    }
    match config.file() {
        Some(file) => output::data(&format!("{}\n", file.display()))?,
        None => output::data("There is no config.toml here.\n")?,
    }
    if !rows.is_empty() {
        output::data(&drawn(&rows))?;
    }
    output::data(&format!("\nWithout a section: {FORMS}"))?;
    Ok(Exit::Done)
}

/// Columns as wide as they must be; what is wrong stands below its section.
fn drawn(rows: &[Row]) -> String {
    let head = [
        "NAME",
        "PROVIDER",
        "MODEL",
        "BASE_URL",
        "KEY",
        "$ PER M TOKENS IN / OUT",
    ];
    let head = head.map(str::to_owned);
    let cells: Vec<_> = rows.iter().map(Row::cells).collect();
    let mut widths = head.clone().map(|cell| cell.len());
    for cells in &cells {
        for (width, cell) in widths.iter_mut().zip(cells) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |cells: &[String; COLUMNS]| {
        let mut line = String::new();
        for (cell, width) in cells.iter().zip(widths) {
            line += &format!("{cell:<width$}  ");
        }
        line.trim_end().to_owned() + "\n"
    };
    let mut text = line(&head);
    for (row, cells) in rows.iter().zip(&cells) {
        text += &line(cells);
        if let Some(problem) = &row.problem {
            text += &format!("  {}\n", output::plain(problem));
        }
    }
    text
}
