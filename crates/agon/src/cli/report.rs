//! `agon report`, and finding run folders by name.

use std::path::{Path, PathBuf};

use agon_report::{Format, RunReport, render};
use agon_store::{RunFolder, RunReader};

use super::args::ReportArgs;
use super::exit::Exit;
use super::failure::Failure;
use super::output;

/// Where runs are made unless `--out` says otherwise.
pub(super) const RUNS: &str = "runs";

pub(super) fn report(args: &ReportArgs) -> Result<Exit, Failure> {
    let format = match (args.json, args.format.as_str()) {
        (true, _) => Format::Json,
        (_, "table") => Format::Table(output::screen(
            args.output.is_none() && output::to_terminal(),
        )),
        (_, name) => name.parse()?,
    };
    let readers = args
        .runs
        .iter()
        .map(|name| {
            let reader = RunReader::open(&find_run(name)?)?;
            Ok(if args.verify { reader.verify() } else { reader })
        })
        .collect::<Result<Vec<_>, Failure>>()?;
    let reports = readers
        .iter()
        .map(|reader| RunReport::new(reader.manifest(), reader))
        .collect::<Result<Vec<_>, _>>()?;
    let text = render(format, &reports)?;
    match &args.output {
        Some(path) => std::fs::write(path, text).map_err(|error| {
            Failure::new(format_args!("can't write {}: {error}", path.display()))
        })?,
        None => output::data(&text)?,
    }
    Ok(Exit::Done)
}

/// A run by its folder, by its name under `runs/`, or `latest`.
pub(super) fn find_run(name: &str) -> Result<PathBuf, Failure> {
    let candidates = [PathBuf::from(name), Path::new(RUNS).join(name)];
    let found = candidates
        .into_iter()
        .find(|path| RunFolder::at(path).has_manifest());
    // `latest` moves on; what it means now must not.
    let found = found.map(|path| match path.read_link() {
        Ok(target) => path.parent().unwrap_or(Path::new("")).join(target),
        Err(_) => path,
    });
    found.ok_or_else(|| {
        Failure::new(format_args!(
            "there is no run `{name}`: give a run folder, a name under {RUNS}/, or `latest`"
        ))
    })
}
