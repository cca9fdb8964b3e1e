//! What was asked: the parts of the address, its query and the body. All of it comes from others.

use std::sync::Arc;

use agon_core::{Digest, TaskId};
use axum::body::Bytes;
use axum::extract::{Query, RawPathParams};
use axum::http::Uri;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::api::{DESCRIPTION, Parameter};
use crate::error::ViewerError;
use crate::library::Run;
use crate::shape::{TaskQuery, TrialKey, TrialQuery};

/// Longer addresses are none of ours.
pub(crate) const LONGEST_ADDRESS: usize = 8 << 10;

#[derive(Debug)]
pub(crate) struct Asked {
    parts: Vec<(String, String)>,
    pairs: Vec<(String, String)>,
    raw_query: String,
    body: Bytes,
}

impl Asked {
    pub(crate) fn new(
        parts: &RawPathParams,
        address: &Uri,
        body: Bytes,
    ) -> Result<Self, ViewerError> {
        let pairs = Query::<Vec<(String, String)>>::try_from_uri(address)
            .map_err(|error| bad(format_args!("the query can't be read: {error}")))?;
        Ok(Self {
            parts: parts
                .iter()
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .collect(),
            pairs: pairs.0,
            raw_query: address.query().unwrap_or_default().to_owned(),
            body,
        })
    }

    /// A part of the path, decoded.
    pub(crate) fn part(&self, name: &str) -> Result<&str, ViewerError> {
        let found = self.parts.iter().find(|(part, _)| part == name);
        found
            .map(|(_, value)| value.as_str())
            .ok_or_else(|| bad(format_args!("the address lacks its {name}")))
    }

    pub(crate) fn number<N: std::str::FromStr>(&self, name: &str) -> Result<N, ViewerError> {
        let text = self.part(name)?;
        text.parse()
            .map_err(|_| bad(format_args!("`{text}` is no {name}: use a number")))
    }

    pub(crate) fn digest(&self) -> Result<Digest, ViewerError> {
        let text = self.part("digest")?;
        Digest::from_hex(text).ok_or_else(|| {
            bad(format_args!(
                "`{text}` names no blob: use 64 hexadecimal digits"
            ))
        })
    }

    /// `category/id`.
    pub(crate) fn task(&self) -> Result<TaskId, ViewerError> {
        TaskId::new(self.part("category")?, self.part("task")?).map_err(bad)
    }

    pub(crate) fn trial(&self) -> Result<TrialKey, ViewerError> {
        Ok(TrialKey {
            task: self.task()?.to_string(),
            epoch: self.number("epoch")?,
            attempt: self.number("attempt")?,
        })
    }

    /// Every value of a parameter, in order.
    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let named = move |pair: &&(String, String)| pair.0 == name;
        self.pairs.iter().filter(named).map(|pair| pair.1.as_str())
    }

    /// A number of the query; where it is not given, another.
    pub(crate) fn given<N: std::str::FromStr>(
        &self,
        name: &str,
        otherwise: N,
    ) -> Result<N, ViewerError> {
        match self.all(name).next() {
            None => Ok(otherwise),
            Some(text) => text
                .parse()
                .map_err(|_| bad(format_args!("{name}={text} is no number that can be used"))),
        }
    }

    /// The same, of at most `most`.
    pub(crate) fn at_most<N: std::str::FromStr + PartialOrd + std::fmt::Display>(
        &self,
        name: &str,
        otherwise: N,
        most: N,
    ) -> Result<N, ViewerError> {
        let given = self.given(name, otherwise)?;
        if given > most {
            return Err(bad(format_args!(
                "{name}={given} is too many: {most} at most, ask for the rest afterwards"
            )));
        }
        Ok(given)
    }

    /// Refuses parameters that there are not: a filter with a slip in its name would filter nothing.
    pub(crate) fn only(&self, known: &[Parameter]) -> Result<(), ViewerError> {
        let names: Vec<&str> = known.iter().map(|parameter| parameter.name).collect();
        let pairs = &mut self.pairs.iter();
        pairs.try_for_each(|(name, _)| crate::index::known_name(name, &names))
    }

    /// The trial that was looked at last: `after=category/id/epoch/attempt`.
    pub(crate) fn after(&self) -> Result<Option<TrialKey>, ViewerError> {
        self.all("after").next().map(key).transpose()
    }

    /// Which trials are meant.
    pub(crate) fn query(&self) -> Result<TrialQuery, ViewerError> {
        let pairs = self.pairs.iter();
        crate::index::trial_query(pairs.map(|(name, value)| (name.as_str(), value.as_str())))
    }

    /// Which tasks of a comparison of these runs are meant.
    pub(crate) fn tasks(&self, runs: &[Arc<Run>]) -> Result<TaskQuery, ViewerError> {
        let pairs = self.pairs.iter();
        let pairs = pairs.map(|(name, value)| (name.as_str(), value.as_str()));
        let ids: Vec<&str> = runs.iter().map(|run| run.id()).collect();
        crate::compare::task_query(pairs, &ids)
    }

    /// The query as it was sent, without some parameters; with its question mark where there is any.
    pub(crate) fn query_without(&self, names: &[&str]) -> String {
        without(&self.raw_query, names)
    }

    pub(crate) fn body<T: DeserializeOwned>(&self) -> Result<T, ViewerError> {
        let value: Value = serde_json::from_slice(&self.body)
            .map_err(|_| bad(format_args!("the body is no JSON")))?;
        if !value.is_object() {
            return Err(bad(format_args!(
                "the body is no JSON object: {DESCRIPTION} says what it holds"
            )));
        }
        serde_json::from_value(value).map_err(|error| {
            // Names of our types say nothing to who sent it.
            let error = error.to_string().replace("struct TrialKey", "an object");
            bad(format_args!(
                "the body is not what is expected: {error} ({DESCRIPTION} says what it holds)"
            ))
        })
    }
}

/// A query without some of its parameters, with a question mark where anything is left.
pub(crate) fn without(query: &str, names: &[&str]) -> String {
    let kept = |pair: &&str| {
        let name = pair.split_once('=').map_or(*pair, |(name, _)| name);
        !pair.is_empty() && !names.contains(&name)
    };
    let pairs: Vec<&str> = query.split('&').filter(kept).collect();
    match pairs.is_empty() {
        true => String::new(),
        false => format!("?{}", pairs.join("&")),
    }
}

fn key(text: &str) -> Result<TrialKey, ViewerError> {
    let no_key = || bad(format_args!("after={text} is no category/id/epoch/attempt"));
    let mut parts = text.rsplitn(3, '/');
    let mut number = || parts.next().and_then(|part| part.parse().ok());
    let (Some(attempt), Some(epoch)) = (number(), number()) else {
        return Err(no_key());
    };
    let task = parts.next().ok_or_else(no_key)?.to_owned();
    Ok(TrialKey {
        task,
        epoch,
        attempt,
    })
}

fn bad(text: impl std::fmt::Display) -> ViewerError {
    ViewerError::BadRequest(text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_is_named_by_four_parts() {
        let read = key("text/hello/2/3").unwrap();
        assert_eq!(read.task, "text/hello");
        assert_eq!((read.epoch, read.attempt), (2, 3));
        for bad in ["", "1/2", "a/b/c/d", "a/b/1/-2"] {
            assert!(key(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn some_parameters_are_taken_out_of_a_query() {
        assert_eq!(without("a=1&step=3&q=x%26y", &["step"]), "?a=1&q=x%26y");
        assert_eq!(without("token=abc", &["token"]), "");
        assert_eq!(without("&&", &[]), "");
        assert_eq!(without("tokens=1&token", &["token"]), "?tokens=1");
    }
}
