//! The modules that `owa` activates before their names exist. Here all names are always there; what
//! is activated says which they are.

use super::callable::CALLABLES;
use super::listener::LISTENERS;
use super::names;
use super::runnable::RUNNABLES;
use crate::error::DesktopError;

/// Module and the namespace of its names.
const MODULES: [(&str, &str); 3] = [
    ("owa.env.desktop", "desktop"),
    ("owa.env.gst", "gst"),
    ("owa.env.std", "std"),
];

/// Full names of what a module offers.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Module {
    pub name: &'static str,
    pub callables: Vec<String>,
    pub listeners: Vec<String>,
    pub runnables: Vec<String>,
}

/// Any number of times.
pub fn activate_module(name: &str) -> Result<Module, DesktopError> {
    let known = MODULES.iter().find(|(known, _)| *known == name);
    let Some((name, namespace)) = known else {
        let names = MODULES.map(|(known, _)| known);
        let error = names::unknown("module", name, names.into_iter());
        return Err(DesktopError::Invalid(format!(
            "{error}; there are {}; your own names are registered with CALLABLES.register",
            names.join(", ")
        )));
    };
    let of = |entries: Vec<super::shelf::Entry>| {
        entries
            .into_iter()
            .map(|entry| entry.name)
            .filter(|full| {
                full.split_once('/')
                    .is_some_and(|(space, _)| space == *namespace)
            })
            .collect()
    };
    Ok(Module {
        name,
        callables: of(CALLABLES.list()),
        listeners: of(LISTENERS.list()),
        runnables: of(RUNNABLES.list()),
    })
}
