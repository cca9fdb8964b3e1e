//! Suites and a selection become the tasks of a run.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agon_core::{Clock, Task};
use agon_store::{RunFolder, SuiteStamp};
use agon_suite::{Filter, ImageBuild, LoadOptions, Selection, Suite, load_suite};

use super::args::SelectionArgs;
use super::failure::Failure;
use super::report::RUNS;

#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) suites: Vec<SuiteStamp>,
    pub(super) tasks: Vec<Task>,
    /// Images that the tasks need and that are made from a folder.
    pub(super) builds: Vec<ImageBuild>,
}

impl Loaded {
    pub(super) fn read(
        paths: &[PathBuf],
        chosen: &SelectionArgs,
        clock: &dyn Clock,
    ) -> Result<Self, Failure> {
        let suites = load_all(paths, chosen, clock)?;
        let filter = chosen
            .filter
            .as_deref()
            .map(str::parse::<Filter>)
            .transpose();
        let selection = Selection {
            categories: chosen.category.clone(),
            levels: chosen.level.clone(),
            filter: filter.map_err(|error| Failure::Reports(vec![error.into()]))?,
            limit: chosen.limit,
        };
        let stamps = stamps(&suites);
        let (mut tasks, mut builds) = (Vec::new(), Vec::new());
        for suite in suites {
            tasks.extend(suite.tasks);
            builds.extend(suite.builds);
        }
        selection
            .apply(&mut tasks)
            .map_err(|error| Failure::Reports(vec![error.into()]))?;
        // Made only if a task that was chosen asks for it.
        builds.retain(|build| is_asked_for(build, &tasks));
        Ok(Self {
            suites: stamps,
            tasks,
            builds,
        })
    }

    /// Takes images that are derived from those that tasks name, `OLD=NEW`: the environment is another one
    /// then, and so are its trials.
    pub(super) fn derive_images(&mut self, pairs: &[String]) -> Result<(), Failure> {
        let mut derived = BTreeMap::new();
        for pair in pairs {
            let bad = || {
                Failure::new(format_args!(
                    "--image {pair}: write OLD=NEW, such as agon-desktop:12=my-desktop:1"
                ))
            };
            let (old, new) = pair.split_once('=').ok_or_else(bad)?;
            if old.is_empty() || new.is_empty() || new.contains(',') {
                return Err(bad());
            }
            let named = |task: &Task| task.environment.image.as_deref() == Some(old);
            if !self.tasks.iter().any(named) {
                return Err(Failure::new(format_args!(
                    "--image {pair}: no task of these is played in an image `{old}`"
                )));
            }
            if derived.insert(old, new).is_some_and(|other| other != new) {
                return Err(Failure::new(format_args!(
                    "--image {pair}: `{old}` has got another image already"
                )));
            }
        }
        // All at once, from what the tasks themselves name: a new image is not the old one of another pair.
        for task in &mut self.tasks {
            let image = task.environment.image.as_deref();
            if let Some(new) = image.and_then(|old| derived.get(old)) {
                task.derive_image(new);
            }
        }
        let (tasks, builds) = (&self.tasks, &mut self.builds);
        builds.retain(|build| is_asked_for(build, tasks));
        Ok(())
    }

    /// What no agent may see: the suites, this run and the others.
    pub(super) fn hidden(&self, folder: &RunFolder) -> Vec<PathBuf> {
        let suites = self.suites.iter().map(|suite| PathBuf::from(&suite.path));
        suites
            .chain([folder.path().to_owned(), RUNS.into()])
            .collect()
    }

    /// The run's short name for its suites.
    pub(super) fn name(&self) -> String {
        let names: Vec<&str> = self
            .suites
            .iter()
            .map(|suite| suite.name.as_str())
            .collect();
        names.join("-")
    }
}

fn is_asked_for(build: &ImageBuild, tasks: &[Task]) -> bool {
    let image = |task: &Task| task.environment.image.as_deref() == Some(&build.tag);
    tasks.iter().any(image)
}

/// Suites as the manifest names them.
pub(super) fn stamps(suites: &[Suite]) -> Vec<SuiteStamp> {
    let stamp = |suite: &Suite| SuiteStamp {
        name: suite.name.clone(),
        // Absolute, so that the run can be gone on with from anywhere.
        path: suite
            .path
            .canonicalize()
            .unwrap_or_else(|_| suite.path.clone())
            .display()
            .to_string(),
        digest: suite.digest,
    };
    suites.iter().map(stamp).collect()
}

/// Loads every suite; the errors of all of them are told together.
pub(super) fn load_all(
    paths: &[PathBuf],
    chosen: &SelectionArgs,
    clock: &dyn Clock,
) -> Result<Vec<Suite>, Failure> {
    let options = LoadOptions {
        max_steps: chosen.max_steps.clone(),
        ..LoadOptions::new(clock)
    };
    let mut suites = Vec::new();
    let mut errors: Vec<miette::Report> = Vec::new();
    for path in paths {
        if !path.exists() {
            errors.push(miette::miette!(
                help = "give a suite folder, a task folder or a task file",
                "there is no suite at {}",
                path.display()
            ));
            continue;
        }
        match load_suite(path, &options) {
            Ok(suite) => suites.push(suite),
            Err(error) => errors.push(error.into()),
        }
    }
    if errors.is_empty() {
        Ok(suites)
    } else {
        Err(Failure::Reports(errors))
    }
}

#[cfg(test)]
mod tests {
    use agon_core::SystemClock;

    use super::*;

    /// The images of two tasks, after pairs were given.
    fn derived(pairs: &[&str]) -> Result<Vec<String>, String> {
        let folder = tempfile::tempdir().unwrap();
        for image in ["a", "b"] {
            let task = format!(
                "name: N\ntask: T.\nenvironment: {{ kind: container, image: {image} }}\n\
                 checks: [{{ type: returned_result, equals: done }}]\n"
            );
            let category = folder.path().join("test");
            std::fs::create_dir_all(&category).unwrap();
            std::fs::write(category.join(format!("{image}.yaml")), task).unwrap();
        }
        let suites = [folder.path().to_owned()];
        let clock = SystemClock::default();
        let mut loaded = Loaded::read(&suites, &SelectionArgs::default(), &clock).unwrap();
        let pairs: Vec<String> = pairs.iter().map(|pair| (*pair).to_owned()).collect();
        loaded
            .derive_images(&pairs)
            .map_err(|error| format!("{error:?}"))?;
        let images = loaded.tasks.into_iter().map(|task| task.environment.image);
        Ok(images.flatten().collect())
    }

    #[test]
    fn images_are_taken_all_at_once() {
        assert_eq!(derived(&["a=b", "b=c"]).unwrap(), ["b", "c"]);
        assert_eq!(derived(&["a=b", "b=a"]).unwrap(), ["b", "a"]);
        assert_eq!(derived(&["b=c"]).unwrap(), ["a", "c"]);
        for bad in [&["a=b", "a=c"][..], &["c=d"], &["a"]] {
            assert!(derived(bad).is_err(), "{bad:?}");
        }
    }
}
