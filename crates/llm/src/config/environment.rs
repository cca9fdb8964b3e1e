//! Variables of the environment, as a value: tests bring their own, and only one function looks at the
//! process's.

use std::collections::BTreeMap;
use std::fmt;

#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<String, String>,
}

impl Environment {
    /// Names and values that are no Unicode are left out.
    pub fn of_process() -> Self {
        std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect()
    }

    /// An empty value counts as none.
    pub fn get(&self, name: &str) -> Option<&str> {
        let value = self.variables.get(name)?;
        (!value.is_empty()).then_some(value)
    }

    /// Names that begin with `prefix`, and what follows it.
    pub(super) fn with_prefix<'a>(
        &'a self,
        prefix: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.variables
            .range(prefix.to_owned()..)
            .map_while(move |(name, _)| Some((&**name, name.strip_prefix(prefix)?)))
            .filter(|(name, _)| self.get(name).is_some())
    }

    /// Takes from `other` what is not set here.
    pub(super) fn or(mut self, other: Self) -> Self {
        for (name, value) in other.variables {
            if self.get(&name).is_none() {
                self.variables.insert(name, value);
            }
        }
        self
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let own = |(name, value): (N, V)| (name.into(), value.into());
        Self {
            variables: pairs.into_iter().map(own).collect(),
        }
    }
}

/// Any value may be a key.
impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_wins_and_nothing_prints_a_value() {
        let real = Environment::from_iter([("A", "real"), ("EMPTY", "")]);
        let file = Environment::from_iter([("A", "file"), ("EMPTY", "filled"), ("B", "secret")]);
        let both = real.or(file);
        assert_eq!(both.get("A"), Some("real"));
        assert_eq!(both.get("EMPTY"), Some("filled"));
        assert_eq!(format!("{both:?}"), r#"{"A", "B", "EMPTY"}"#);
    }

    #[test]
    fn a_prefix_finds_its_names() {
        let all = Environment::from_iter([("LLM_MODEL", "x"), ("LLM_SEED", ""), ("LLN", "y")]);
        let found: Vec<_> = all.with_prefix("LLM_").collect();
        assert_eq!(found, [("LLM_MODEL", "MODEL")]);
    }
}
