//! What is done with many versions.

use crate::version::Version;

pub fn sorted(mut versions: Vec<Version>) -> Vec<String> {
    versions.sort();
    texts(&versions)
}

/// The highest, as a list of one or none.
pub fn highest(versions: Vec<Version>, stable: bool) -> Vec<String> {
    let best = versions
        .into_iter()
        .filter(|version| !stable || version.is_stable())
        .max();
    best.iter().map(|version| version.text().to_string()).collect()
}

pub fn unique(mut versions: Vec<Version>) -> Vec<String> {
    versions.sort();
    versions.dedup();
    texts(&versions)
}

fn texts(versions: &[Version]) -> Vec<String> {
    versions.iter().map(|version| version.text().to_string()).collect()
}
