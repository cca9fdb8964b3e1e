//! Where a configuration comes from: which file, which folder, which environment.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::error::ConfigError;
use super::load::Config;
use super::secret::Secret;
use super::{document, dotenv, vendor};

#[derive(Debug, Clone, Default)]
pub struct ConfigSource {
    /// The file that was asked for. Without one: `$AGON_CONFIG`, `config.toml` in `folder`, then
    /// `agon/config.toml` in the user's configuration folder.
    pub file: Option<PathBuf>,
    /// The working folder, which may hold a `.env` too.
    pub folder: PathBuf,
    pub environment: Environment,
}

impl ConfigSource {
    pub fn of_process(file: Option<PathBuf>) -> Self {
        Self {
            file,
            folder: PathBuf::new(),
            environment: Environment::of_process(),
        }
    }

    /// The environment with `.env` below it, and what is to be said about `.env`.
    pub(super) fn variables(&self) -> (Environment, Vec<String>) {
        let path = self.folder.join(".env");
        // Folders of this name are common, and are no settings.
        let found = if path.is_file() {
            read(&path, dotenv::MOST_BYTES)
        } else {
            Ok(None)
        };
        let (file, warnings) = match found {
            Ok(Some(text)) => dotenv::parse(&text),
            Ok(None) => Default::default(),
            Err(error) => (Environment::default(), vec![error.to_string()]),
        };
        (self.environment.clone().or(file), warnings)
    }

    /// The file and its text; `None` if there is none and none was asked for.
    pub(super) fn text(
        &self,
        variables: &Environment,
    ) -> Result<Option<(PathBuf, String)>, ConfigError> {
        if let Some(path) = self.wanted(variables) {
            return match read(&path, document::MOST_BYTES)? {
                Some(text) => Ok(Some((path, text))),
                None => Err(ConfigError::Unreadable {
                    path,
                    why: "there is no such file".to_owned(),
                }),
            };
        }
        for path in self.usual(variables) {
            if let Some(text) = read(&path, document::MOST_BYTES)? {
                return Ok(Some((path, text)));
            }
        }
        Ok(None)
    }
}

impl ConfigSource {
    /// The file that was asked for.
    fn wanted(&self, variables: &Environment) -> Option<PathBuf> {
        let asked = self.file.clone();
        let asked = asked.or_else(|| variables.get("AGON_CONFIG").map(PathBuf::from));
        asked.map(|path| self.folder.join(path))
    }

    /// Where it is looked for unless one was asked for.
    fn usual(&self, variables: &Environment) -> impl Iterator<Item = PathBuf> {
        let home = variables
            .get("HOME")
            .map(|home| Path::new(home).join(".config"));
        let user = variables.get("XDG_CONFIG_HOME").map(PathBuf::from).or(home);
        let user = user.map(|folder| folder.join("agon/config.toml"));
        [Some(self.folder.join("config.toml")), user]
            .into_iter()
            .flatten()
    }

    /// Every file in which keys are looked for, whether it is there and used this time or not.
    pub fn places(&self) -> Vec<PathBuf> {
        let (variables, _) = self.variables();
        self.wanted(&variables)
            .into_iter()
            .chain(self.usual(&variables))
            .chain([self.folder.join(".env")])
            .collect()
    }

    /// From here on the scrubber knows the keys that are there, also where no model is asked. What can't be
    /// read is told by those who need it.
    pub fn learn_keys(&self) {
        let (variables, _) = self.variables();
        for name in vendor::key_variables() {
            variables.get(name).and_then(Secret::read);
        }
        for path in self.places() {
            let source = Self {
                file: Some(path),
                ..self.clone()
            };
            Config::load(&source).ok();
        }
    }
}

/// `None`: there is no such file.
fn read(path: &Path, most: usize) -> Result<Option<String>, ConfigError> {
    let failed = |why: String| ConfigError::Unreadable {
        path: path.to_owned(),
        why,
    };
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error.to_string())),
    };
    let mut bytes = Vec::new();
    file.take(most as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| failed(error.to_string()))?;
    if bytes.len() > most {
        return Err(failed(format!("it is larger than {} KiB", most >> 10)));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        // The error itself holds the text.
        Err(_) => Err(failed("it is no UTF-8 text".to_owned())),
    }
}
