//! The command line.

mod order;
mod version;

use std::io::{self, Read};
use std::process::ExitCode;

use version::Version;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["compare", a, b] => compare(a, b),
        ["sort"] => listed().map(|versions| order::sorted(versions)),
        ["max"] => listed().map(|versions| order::highest(versions, false)),
        ["max", "--stable"] => listed().map(|versions| order::highest(versions, true)),
        ["unique"] => listed().map(|versions| order::unique(versions)),
        _ => Err("usage: vers compare A B | sort | max [--stable] | unique".to_string()),
    };
    match done {
        Ok(lines) if lines.is_empty() && words[0] == "max" => ExitCode::FAILURE,
        Ok(lines) => {
            for line in lines {
                println!("{line}");
            }
            ExitCode::SUCCESS
        }
        Err(complaint) => {
            eprintln!("vers: {complaint}");
            ExitCode::from(2)
        }
    }
}

fn compare(a: &str, b: &str) -> Result<Vec<String>, String> {
    let (a, b) = (Version::parse(a)?, Version::parse(b)?);
    let sign = if a < b {
        "<"
    } else if a == b {
        "="
    } else {
        ">"
    };
    Ok(vec![sign.to_string()])
}

fn listed() -> Result<Vec<Version>, String> {
    let mut text = String::new();
    io::stdin()
        .lock()
        .read_to_string(&mut text)
        .map_err(|error| error.to_string())?;
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
        .map(Version::parse)
        .collect()
}
