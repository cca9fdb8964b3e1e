//! One registry: entries by their full name and by shorter ones. What is in it stays; a name is
//! never given twice.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::names;
use crate::error::DesktopError;

/// Callables, listeners or runnables. Values are cheap to copy.
pub struct Registry<T> {
    /// What one of its entries is called in words.
    what: &'static str,
    shelf: RwLock<Shelf<T>>,
}

struct Shelf<T> {
    entries: BTreeMap<String, T>,
    aliases: BTreeMap<String, String>,
}

/// What people are shown of an entry.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Entry {
    pub name: String,
    /// Other names of the same.
    pub aliases: Vec<String>,
    /// Names of its parameters in order, those with `?` may be left out.
    pub parameters: String,
    pub about: String,
}

/// What an entry says of itself.
pub(super) trait Described {
    fn parameters(&self) -> &str;
    fn about(&self) -> &str;
}

impl<T: Clone> Registry<T> {
    pub(super) fn new(what: &'static str) -> Self {
        let shelf = Shelf {
            entries: BTreeMap::new(),
            aliases: BTreeMap::new(),
        };
        Self {
            what,
            shelf: RwLock::new(shelf),
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Shelf<T>> {
        self.shelf.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Shelf<T>> {
        self.shelf.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// By its full name or an alias.
    pub fn get(&self, name: &str) -> Result<T, DesktopError> {
        self.find(name).map(|(_, found)| found)
    }

    /// With its full name.
    pub(super) fn find(&self, name: &str) -> Result<(String, T), DesktopError> {
        let shelf = self.read();
        let full = shelf.aliases.get(name).map_or(name, String::as_str);
        match shelf.entries.get(full) {
            Some(entry) => Ok((full.to_owned(), entry.clone())),
            None => {
                let known = shelf.entries.keys().chain(shelf.aliases.keys());
                Err(names::unknown(self.what, name, known.map(String::as_str)))
            }
        }
    }

    pub fn contains(&self, name: &str) -> bool {
        self.find(name).is_ok()
    }

    /// Adds an entry under `namespace/name`.
    pub fn add(&self, name: &str, entry: T) -> Result<(), DesktopError> {
        names::check(name)?;
        let mut shelf = self.write();
        shelf.must_be_free(self.what, name)?;
        shelf.entries.insert(name.to_owned(), entry);
        Ok(())
    }

    /// Another name for an entry that is there.
    pub fn alias(&self, alias: &str, name: &str) -> Result<(), DesktopError> {
        let (full, _) = self.find(name)?;
        let mut shelf = self.write();
        shelf.must_be_free(self.what, alias)?;
        shelf.aliases.insert(alias.to_owned(), full);
        Ok(())
    }

    pub(super) fn put_alias(&self, alias: &str, name: &str) {
        self.write()
            .aliases
            .insert(alias.to_owned(), name.to_owned());
    }

    /// One of ours, whose flat name is the old one.
    pub(super) fn put(&self, name: &str, alias: Option<&str>, entry: T) {
        let mut shelf = self.write();
        shelf.entries.insert(name.to_owned(), entry);
        if let Some(alias) = alias {
            shelf.aliases.insert(alias.to_owned(), name.to_owned());
        }
    }
}

#[expect(
    private_bounds,
    reason = "what an entry says of itself is read through `list` alone"
)]
impl<T: Clone + Described> Registry<T> {
    /// All entries by their full names.
    pub fn list(&self) -> Vec<Entry> {
        let shelf = self.read();
        let aliases = |name: &str| {
            let of = shelf.aliases.iter().filter(|(_, full)| *full == name);
            of.map(|(alias, _)| alias.clone()).collect()
        };
        shelf
            .entries
            .iter()
            .map(|(name, entry)| Entry {
                name: name.clone(),
                aliases: aliases(name),
                parameters: entry.parameters().to_owned(),
                about: entry.about().to_owned(),
            })
            .collect()
    }
}

impl<T> Shelf<T> {
    fn must_be_free(&self, what: &str, name: &str) -> Result<(), DesktopError> {
        if self.entries.contains_key(name) || self.aliases.contains_key(name) {
            return Err(DesktopError::Invalid(format!(
                "the {what} `{name}` is registered already: choose another name"
            )));
        }
        Ok(())
    }
}

impl<T> fmt::Debug for Registry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Registry({}s)", self.what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_given_once() {
        let registry = Registry::new("number");
        registry.add("a/one", 1).unwrap();
        registry.alias("one", "a/one").unwrap();
        assert_eq!(registry.get("a/one").unwrap(), 1);
        assert_eq!(registry.get("one").unwrap(), 1);
        for error in [
            registry.add("a/one", 2).unwrap_err(),
            registry.alias("one", "a/one").unwrap_err(),
            registry.alias("a/one", "one").unwrap_err(),
        ] {
            assert!(error.to_string().contains("already"), "{error}");
        }
        assert!(registry.alias("two", "a/two").is_err());
        assert!(registry.add("one", 1).is_err(), "without a namespace");
        assert_eq!(registry.get("a/one").unwrap(), 1);
    }
}
