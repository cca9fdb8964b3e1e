//! Where a configuration comes from: which file, which folder, which environment.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::environment::Environment;
use super::error::ConfigError;
use super::{document, dotenv};

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
        let wanted = self.file.clone();
        let wanted = wanted.or_else(|| variables.get("AGON_CONFIG").map(PathBuf::from));
        if let Some(path) = wanted {
            let path = self.folder.join(path);
            return match read(&path, document::MOST_BYTES)? {
                Some(text) => Ok(Some((path, text))),
                None => Err(ConfigError::Unreadable {
                    path,
                    why: "there is no such file".to_owned(),
                }),
            };
        }
        let home = variables
            .get("HOME")
            .map(|home| Path::new(home).join(".config"));
        let user = variables.get("XDG_CONFIG_HOME").map(PathBuf::from).or(home);
        let places = [
            Some(self.folder.join("config.toml")),
            user.map(|folder| folder.join("agon/config.toml")),
        ];
        for path in places.into_iter().flatten() {
            if let Some(text) = read(&path, document::MOST_BYTES)? {
                return Ok(Some((path, text)));
            }
        }
        Ok(None)
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
