//! A configuration of a test: its files and its variables.

use crate::config::{Config, ConfigError, ConfigSource, Environment};

/// A folder with files, and an environment of its own.
pub(super) struct Place {
    pub(super) folder: tempfile::TempDir,
    pub(super) variables: Vec<(&'static str, &'static str)>,
}

impl Place {
    pub(super) fn new(config: &str) -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
            variables: Vec::new(),
        };
        place.file("config.toml", config)
    }

    pub(super) fn file(self, name: &str, text: &str) -> Self {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    pub(super) fn set(mut self, name: &'static str, value: &'static str) -> Self {
        self.variables.push((name, value));
        self
    }

    pub(super) fn source(&self) -> ConfigSource {
        ConfigSource {
            file: None,
            folder: self.folder.path().to_owned(),
            environment: Environment::from_iter(self.variables.clone()),
        }
    }

    pub(super) fn load(&self) -> Result<Config, ConfigError> {
        Config::load(&self.source())
    }

    #[track_caller]
    pub(super) fn config(&self) -> Config {
        self.load().unwrap()
    }

    /// The error without the folder of the test.
    #[track_caller]
    pub(super) fn error(&self) -> String {
        self.short(&self.load().unwrap_err().to_string())
    }

    #[track_caller]
    pub(super) fn warnings(&self) -> Vec<String> {
        self.config()
            .warnings()
            .iter()
            .map(|text| self.short(text))
            .collect()
    }

    pub(super) fn short(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.folder.path().display()), "")
    }
}
