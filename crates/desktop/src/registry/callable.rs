//! Functions by name.

use std::fmt;
use std::sync::{Arc, LazyLock};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::args::Args;
use super::callables;
use super::context::Context;
use super::shelf::{Described, Registry};
use crate::desktop::Desktop;
use crate::error::DesktopError;

/// `CALLABLES.call("keyboard.press", Vk::RIGHT)?`
pub static CALLABLES: LazyLock<Registry<Callable>> = LazyLock::new(|| {
    let registry = Registry::new("callable");
    callables::put(&registry);
    registry
});

type Function = dyn Fn(&Context, Args, &str) -> Result<Value, DesktopError> + Send + Sync;

#[derive(Clone)]
pub struct Callable {
    parameters: Arc<str>,
    about: &'static str,
    function: Arc<Function>,
}

impl Callable {
    /// Arguments are read as `A`: a struct with named fields takes arrays and objects, `Value`
    /// takes whatever comes.
    pub fn new<A, R, F>(function: F) -> Self
    where
        A: DeserializeOwned,
        R: Serialize,
        F: Fn(&Context, A) -> Result<R, DesktopError> + Send + Sync + 'static,
    {
        Self::described("...", "", function)
    }

    /// With the names of its parameters and one sentence about it, for lists and errors.
    pub fn described<A, R, F>(
        parameters: impl Into<Arc<str>>,
        about: &'static str,
        function: F,
    ) -> Self
    where
        A: DeserializeOwned,
        R: Serialize,
        F: Fn(&Context, A) -> Result<R, DesktopError> + Send + Sync + 'static,
    {
        let parameters = parameters.into();
        let expected = Arc::clone(&parameters);
        let function = move |context: &Context, args: Args, name: &str| {
            let result = function(context, args.read(name, &expected)?)?;
            serde_json::to_value(result).map_err(|error| {
                DesktopError::Invalid(format!("{name}: its result is no JSON: {error}"))
            })
        };
        Self {
            parameters,
            about,
            function: Arc::new(function),
        }
    }

    /// On the given desktop.
    pub fn call(
        &self,
        desktop: &Arc<Desktop>,
        args: impl Into<Args>,
    ) -> Result<Value, DesktopError> {
        (self.function)(&Context::of(desktop), args.into(), "callable")
    }
}

impl Registry<Callable> {
    /// Adds a function under `namespace/name`.
    pub fn register<A, R, F>(&self, name: &str, function: F) -> Result<(), DesktopError>
    where
        A: DeserializeOwned,
        R: Serialize,
        F: Fn(&Context, A) -> Result<R, DesktopError> + Send + Sync + 'static,
    {
        self.add(name, Callable::new(function))
    }

    /// Calls on the [current desktop](super::current_desktop).
    pub fn call(&self, name: &str, args: impl Into<Args>) -> Result<Value, DesktopError> {
        let callable = self.get(name)?;
        (callable.function)(&Context::default(), args.into(), name)
    }

    /// Calls on the given desktop.
    pub fn call_on(
        &self,
        desktop: &Arc<Desktop>,
        name: &str,
        args: impl Into<Args>,
    ) -> Result<Value, DesktopError> {
        let callable = self.get(name)?;
        (callable.function)(&Context::of(desktop), args.into(), name)
    }
}

impl Described for Callable {
    fn parameters(&self) -> &str {
        &self.parameters
    }

    fn about(&self) -> &str {
        self.about
    }
}

impl fmt::Debug for Callable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Callable({})", self.parameters)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_users_own_function_is_called_by_name() {
        let double = |_: &Context, (number,): (i64,)| Ok(number * 2);
        CALLABLES.register("mygame/double", double).unwrap();
        assert_eq!(CALLABLES.call("mygame/double", 21).unwrap(), json!(42));
        assert!(CALLABLES.register("mygame/double", double).is_err());
        let error = CALLABLES.call("mygame/double", "x").unwrap_err();
        assert!(error.is_callers() && error.to_string().starts_with("mygame/double(...): "));
        let raw = |_: &Context, args: Value| Ok(args);
        CALLABLES.register("mygame/raw", raw).unwrap();
        assert_eq!(
            CALLABLES.call("mygame/raw", json!({"a": 1})).unwrap(),
            json!({"a": 1})
        );
    }

    #[test]
    fn the_clock_needs_no_desktop() {
        let now = CALLABLES.call("clock.time_ns", ()).unwrap();
        assert!(now.as_u64().unwrap() > 1_600_000_000_000_000_000);
        assert!(CALLABLES.call("std/time_ns", 1).is_err());
    }
}
