//! What was asked: the parts of the address, its query and the body. All of it comes from others.

use agon_core::{Digest, TaskId};
use axum::body::Bytes;
use axum::extract::{Query, RawPathParams};
use axum::http::Uri;
use serde::de::DeserializeOwned;

use crate::error::ViewerError;
use crate::shape::{TrialKey, TrialQuery};

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

    /// Which trials are meant.
    pub(crate) fn query(&self) -> Result<TrialQuery, ViewerError> {
        let pairs = self.pairs.iter();
        crate::index::trial_query(pairs.map(|(name, value)| (name.as_str(), value.as_str())))
    }

    /// The query as it was sent, without some parameters; with its question mark where there is any.
    pub(crate) fn query_without(&self, names: &[&str]) -> String {
        without(&self.raw_query, names)
    }

    pub(crate) fn body<T: DeserializeOwned>(&self) -> Result<T, ViewerError> {
        serde_json::from_slice(&self.body)
            .map_err(|error| bad(format_args!("the body is not what is expected: {error}")))
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

fn bad(text: impl std::fmt::Display) -> ViewerError {
    ViewerError::BadRequest(text.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_parameters_are_taken_out_of_a_query() {
        assert_eq!(without("a=1&step=3&q=x%26y", &["step"]), "?a=1&q=x%26y");
        assert_eq!(without("token=abc", &["token"]), "");
        assert_eq!(without("&&", &[]), "");
        assert_eq!(without("tokens=1&token", &["token"]), "?tokens=1");
    }
}
