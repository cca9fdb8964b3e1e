//! Where measurements happen: the release binary, a folder on a real disk, and runs that were
//! checked before their figures count.

use std::cell::OnceCell;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::desktop::Findings;
use super::process::{Measured, measure};
use super::program::Figures;
use super::suites;
use super::workflow::Many;
use crate::console::step;
use crate::failure::{Failure, Trying};
use crate::{models, workspace};

#[derive(Debug)]
pub(super) struct Lab {
    /// Built when it is first needed.
    agon: OnceCell<PathBuf>,
    folder: PathBuf,
    /// The finished run of 100,000 trials, once it was made, and the memory it took.
    large: Option<(Run, f64)>,
    pub(super) desktop: Findings,
    pub(super) arena: Figures,
    pub(super) intervals: Figures,
    pub(super) llm: Figures,
    pub(super) viewer: Figures,
    pub(super) stale: super::stale::Findings,
    pub(super) many: Option<Many>,
}

/// One invocation of `agon run`, usually with the oracle, which solves everything.
#[derive(Debug, Clone)]
pub(super) struct Run {
    pub(super) suite: PathBuf,
    /// Who plays, and further options of it.
    pub(super) agent: Vec<String>,
    pub(super) out: PathBuf,
    pub(super) epochs: u32,
    pub(super) workers: Option<u32>,
    /// How many trials must have passed at the end.
    pub(super) trials: u64,
    /// Where containers are made.
    pub(super) docker_host: Option<String>,
}

impl Lab {
    pub(super) fn open() -> Result<Self, Failure> {
        // Not under /tmp, which may be memory: what is kept must cost what keeping costs.
        let folder = workspace::root().join(format!("target/bench/work.{}", std::process::id()));
        std::fs::create_dir_all(&folder).trying(format!("make {}", folder.display()))?;
        Ok(Self {
            agon: OnceCell::new(),
            folder,
            large: None,
            desktop: Findings::default(),
            arena: Figures::default(),
            intervals: Figures::default(),
            llm: Figures::default(),
            viewer: Figures::default(),
            stale: super::stale::Findings::default(),
            many: None,
        })
    }

    pub(super) fn agon(&self) -> Result<&Path, Failure> {
        if self.agon.get().is_none() {
            let built = step("build Agon", workspace::release_binary)?;
            models::install_ocr(&built)?;
            return Ok(self.agon.get_or_init(|| built));
        }
        self.agon
            .get()
            .map(PathBuf::as_path)
            .ok_or_else(|| Failure::new("Agon was not built"))
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// A run of `tasks` x `epochs` trials into a new folder.
    pub(super) fn plan(&self, name: &str, suite: PathBuf, tasks: u32, epochs: u32) -> Run {
        Run {
            suite,
            agent: vec!["oracle".to_owned()],
            out: self.folder.join(format!("run-{name}")),
            epochs,
            workers: None,
            trials: u64::from(tasks) * u64::from(epochs),
            docker_host: None,
        }
    }

    /// Runs it; a run in which anything but success happened has no figures.
    pub(super) fn run(&self, run: &Run) -> Result<Measured, Failure> {
        let log = run.out.with_extension("log");
        let stderr = File::create(&log).trying(format!("write {}", log.display()))?;
        let mut command = Command::new(self.agon()?);
        command
            .arg("run")
            .arg(&run.suite)
            .args(["--json", "--agent"])
            .args(&run.agent)
            .arg("--epochs")
            .arg(run.epochs.to_string())
            .arg("--out")
            .arg(&run.out)
            .stderr(stderr);
        if let Some(workers) = run.workers {
            command.args(["--workers", &workers.to_string()]);
        }
        if let Some(host) = &run.docker_host {
            command.env("DOCKER_HOST", host);
        }
        let measured = measure(&mut command)?;
        match flaw(&measured, run.trials) {
            None => Ok(measured),
            Some(flaw) => Err(Failure::new(format!(
                "{flaw}\n{}",
                std::fs::read_to_string(&log).unwrap_or_default()
            ))),
        }
    }

    /// The finished run of 100,000 one-turn trials and the memory it took, in MB.
    pub(super) fn large_run(&mut self) -> Result<(Run, f64), Failure> {
        if let Some(large) = &self.large {
            return Ok(large.clone());
        }
        let suite = suites::answer(&self.folder, 100)?;
        let run = self.plan("100k", suite, 100, 1000);
        let measured = self.run(&run)?;
        let large = (run, measured.peak_mb);
        self.large = Some(large.clone());
        Ok(large)
    }

    pub(super) fn start_version(&self) -> Result<Command, Failure> {
        let mut command = Command::new(self.agon()?);
        command.arg("--version");
        Ok(command)
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// What is wrong with a run, if anything.
fn flaw(measured: &Measured, trials: u64) -> Option<String> {
    let line = measured.stdout.lines().next_back().unwrap_or_default();
    if !measured.success {
        return Some(format!("`agon run` failed: {line}"));
    }
    let Ok(summary) = serde_json::from_str::<Value>(line) else {
        return Some(format!(
            "the last line of `agon run --json` is no JSON: {line}"
        ));
    };
    (summary["trials"] != trials || summary["passed"] != trials)
        .then(|| format!("{trials} trials should have passed: {line}"))
}

#[cfg(test)]
mod tests {
    use super::super::process::Written;
    use super::*;

    fn measured(stdout: &str, success: bool) -> Measured {
        Measured {
            seconds: 1.0,
            peak_mb: 1.0,
            written: Written::default(),
            stdout: stdout.to_owned(),
            success,
        }
    }

    #[test]
    fn only_runs_in_which_everything_passed_count() {
        let good = "{\"trials\":2,\"passed\":2}\n";
        assert_eq!(flaw(&measured(good, true), 2), None);
        for (bad, success) in [
            (good, false),
            ("{\"trials\":2,\"passed\":1}", true),
            ("{\"trials\":3,\"passed\":3}", true),
            ("", true),
        ] {
            assert!(flaw(&measured(bad, success), 2).is_some(), "{bad}");
        }
    }
}
