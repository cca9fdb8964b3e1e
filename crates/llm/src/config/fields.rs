//! The keys of one section with their places, and the macro that makes a typed section of them. Sections
//! inherit here, before anything is typed.

use std::collections::BTreeMap;

use super::environment::Environment;
use super::error::ConfigError;
use super::nearest::nearest;
use super::raw::{FromRaw, Raw, is_empty_text};

/// Where a value was given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Origin {
    /// `config.toml:12`
    Place(String),
    Variable(String),
}

#[derive(Clone)]
pub(super) struct Given {
    pub(super) raw: Raw,
    pub(super) origin: Origin,
}

/// Not yet typed.
#[derive(Clone, Default)]
pub(super) struct Fields {
    /// Without brackets: `llm.eval`.
    pub(super) section: String,
    given: BTreeMap<String, Given>,
}

impl Fields {
    pub(super) fn new(section: impl Into<String>) -> Self {
        Self {
            section: section.into(),
            given: BTreeMap::new(),
        }
    }

    pub(super) fn set(&mut self, key: impl Into<String>, raw: Raw, origin: Origin) {
        self.given.insert(key.into(), Given { raw, origin });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.given.contains_key(key)
    }

    pub(super) fn origin(&self, key: &str) -> Option<&Origin> {
        self.given.get(key).map(|given| &given.origin)
    }

    /// Where the section begins, as far as its keys tell.
    pub(super) fn first_origin(&self) -> Origin {
        let first = self.given.values().next().map(|given| given.origin.clone());
        first.unwrap_or_else(|| Origin::Place("config.toml".to_owned()))
    }

    pub(super) fn take_raw(&mut self, key: &str) -> Option<Given> {
        self.given.remove(key)
    }

    fn keys(&self) -> impl Iterator<Item = &str> {
        self.given.keys().map(String::as_str)
    }

    /// `base` gives what is not given here.
    pub(super) fn inherit(mut self, base: &Self) -> Self {
        for (key, given) in &base.given {
            self.given
                .entry(key.clone())
                .or_insert_with(|| given.clone());
        }
        self
    }

    /// Variables named `PREFIX` and a known key in capitals win over the file.
    pub(super) fn overridden(mut self, keys: &[&str], prefix: &str, by: &Environment) -> Self {
        for key in keys {
            let variable = format!("{prefix}{}", key.to_ascii_uppercase());
            if let Some(words) = by.get(&variable) {
                self.set(
                    *key,
                    Raw::Words(words.to_owned()),
                    Origin::Variable(variable),
                );
            }
        }
        self
    }

    /// Takes the first key out that nobody knows.
    pub(super) fn take_unknown(&mut self, known: &[&str]) -> Option<ConfigError> {
        let key = self.keys().find(|key| !known.contains(key))?.to_owned();
        let given = self.given.remove(&key)?;
        Some(ConfigError::UnknownKey {
            place: place(&given.origin),
            section: self.section.clone(),
            nearest: nearest(&key, known.iter().copied()),
            // A key of the file can be as long as the file.
            key: key.chars().take(60).collect(),
        })
    }

    pub(super) fn take_known<T: Section>(&mut self) -> Result<T, ConfigError> {
        match self.take_unknown(T::KEYS) {
            Some(error) => Err(error),
            None => T::read(self),
        }
    }

    pub(super) fn take<T: FromRaw>(&mut self, key: &str) -> Result<Option<T>, ConfigError> {
        let Some(given) = self.given.remove(key) else {
            return Ok(None);
        };
        match T::from_raw(&given.raw) {
            Some(value) => Ok(Some(value)),
            // `api_key = ""` is how templates say "none".
            None if is_empty_text(&given.raw) => Ok(None),
            None => Err(bad(
                &self.section,
                key,
                &given.origin,
                format!("must be {}", T::WANTED),
            )),
        }
    }
}

/// An error at a value.
pub(super) fn bad(section: &str, key: &str, origin: &Origin, why: String) -> ConfigError {
    let key = match origin {
        Origin::Place(_) => format!("`{key}` of [{section}]"),
        Origin::Variable(_) => "its value".to_owned(),
    };
    let place = place(origin);
    ConfigError::BadValue { place, key, why }
}

pub(super) fn place(origin: &Origin) -> String {
    match origin {
        Origin::Place(place) => place.clone(),
        Origin::Variable(name) => format!("the variable {name}"),
    }
}

/// A section with types.
pub(super) trait Section: Sized {
    const KEYS: &'static [&'static str];
    fn read(fields: &mut Fields) -> Result<Self, ConfigError>;
}

/// Makes a struct of keys with types and defaults, and the way to read it.
macro_rules! section {
    ($(#[$about:meta])* $seen:vis $name:ident {
        $( $(#[$note:meta])* $key:ident : $type:ty = $default:expr, )*
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, PartialEq)]
        $seen struct $name {
            $( $(#[$note])* $seen $key: $type, )*
        }

        impl Default for $name {
            fn default() -> Self {
                Self { $( $key: $default, )* }
            }
        }

        impl $crate::config::fields::Section for $name {
            const KEYS: &'static [&'static str] = &[$( stringify!($key) ),*];

            fn read(
                fields: &mut $crate::config::fields::Fields,
            ) -> Result<Self, $crate::config::error::ConfigError> {
                Ok(Self {
                    $( $key: match fields.take(stringify!($key))? {
                        Some(value) => value,
                        None => $default,
                    }, )*
                })
            }
        }
    };
}
pub(super) use section;
