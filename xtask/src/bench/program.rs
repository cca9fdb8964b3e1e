//! Figures that are measured by a program of a crate, one of its examples: one line of JSON each. Knows nothing of what they mean.

use std::collections::BTreeMap;

use serde_json::Value;

use super::Figure;
use super::process::measure;
use crate::console::say;
use crate::failure::{Failure, Trying};
use crate::workspace;

/// What was found out already: some measurements yield several rows.
#[derive(Debug, Default)]
pub(super) struct Figures(BTreeMap<String, Figure>);

impl Figures {
    pub(super) fn get(&self, row: &str) -> Option<Figure> {
        self.0.get(row).copied()
    }

    /// The figure of a row, measured by an example of `package` unless it is known.
    pub(super) fn find(
        &mut self,
        (package, example): (&str, &str),
        row: &str,
        words: &[&str],
        docker_host: Option<String>,
    ) -> Result<Figure, Failure> {
        if self.get(row).is_none() {
            let mut command = workspace::cargo(&["run", "--release", "--quiet"]);
            command
                .args(["--package", package, "--example", example, "--", row])
                .args(words)
                .envs(docker_host.map(|host| ("DOCKER_HOST", host)));
            let measured = measure(&mut command)?;
            if !measured.success {
                return Err(Failure::new("the program that measures has failed"));
            }
            for line in measured.stdout.lines() {
                let (name, figure, notes) = read(line)?;
                for note in notes {
                    say(format!("    {name}: {note}"));
                }
                self.0.insert(name, figure);
            }
        }
        let figure = self.get(row);
        figure.ok_or_else(|| Failure::new("the program that measures says nothing of it"))
    }
}

/// A line of the program: a row's name, its figure, and what people should know of it.
fn read(line: &str) -> Result<(String, Figure, Vec<String>), Failure> {
    let told: Value = serde_json::from_str(line).trying(format!("read `{line}`"))?;
    let odd = || Failure::new(format!("`{line}` is no figure"));
    let name = told["name"].as_str().ok_or_else(odd)?.to_owned();
    let figure = Figure {
        value: told["value"].as_f64().ok_or_else(odd)?,
        reference: told["reference"].as_f64(),
    };
    let notes = told["notes"].as_array().into_iter().flatten();
    let notes = notes.filter_map(|note| note.as_str().map(str::to_owned));
    Ok((name, figure, notes.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_program_are_figures() {
        let line = r#"{"name":"a","value":1.5,"reference":null,"notes":["scrot is missing"]}"#;
        let (name, figure, notes) = read(line).unwrap();
        assert_eq!((name.as_str(), figure), ("a", Figure::alone(1.5)));
        assert_eq!(notes, ["scrot is missing"]);
        let (_, figure, notes) = read(r#"{"name":"a","value":1,"reference":2.0}"#).unwrap();
        assert_eq!(figure, Figure::against(1.0, 2.0));
        assert!(notes.is_empty());
        for bad in ["", "{}", r#"{"name":"a"}"#, r#"{"name":"a","value":null}"#] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
