//! A version and its precedence.

use std::cmp::Ordering;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    numbers: [u32; 3],
    pre: Vec<String>,
    build: Vec<String>,
    /// As it was written.
    text: String,
}

impl Version {
    pub fn parse(text: &str) -> Result<Self, String> {
        let complaint = || format!("`{text}` is no version");
        let body = text.strip_prefix('v').unwrap_or(text);
        let (body, build) = match body.split_once('+') {
            Some((body, build)) => (body, identifiers(build).ok_or_else(complaint)?),
            None => (body, Vec::new()),
        };
        let (body, pre) = match body.split_once('-') {
            Some((body, pre)) => (body, identifiers(pre).ok_or_else(complaint)?),
            None => (body, Vec::new()),
        };
        let parts: Vec<&str> = body.split('.').collect();
        if parts.len() != 3 || parts.iter().any(|part| !is_number(part)) {
            return Err(complaint());
        }
        if pre.iter().any(|part| is_digits(part) && !is_number(part)) {
            return Err(complaint());
        }
        let mut numbers = [0; 3];
        for (number, part) in numbers.iter_mut().zip(parts) {
            *number = part.parse().unwrap();
        }
        Ok(Version {
            numbers,
            pre,
            build,
            text: text.to_string(),
        })
    }

    pub fn is_stable(&self) -> bool {
        self.pre.is_empty()
    }

    pub fn text(&self) -> &str {
        &self.text
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.numbers
            .cmp(&other.numbers)
            .then_with(|| self.pre.is_empty().cmp(&other.pre.is_empty()))
            .then_with(|| self.pre.cmp(&other.pre))
            .then_with(|| self.build.cmp(&other.build))
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

fn identifiers(text: &str) -> Option<Vec<String>> {
    let parts: Vec<String> = text.split('.').map(String::from).collect();
    let good = |part: &String| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    parts.iter().all(good).then_some(parts)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

/// Digits without leading zeros.
fn is_number(text: &str) -> bool {
    is_digits(text) && (text == "0" || !text.starts_with('0'))
}
