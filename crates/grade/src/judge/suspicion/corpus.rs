//! Texts that try to talk a judge round, and others that don't. Every new trick that is seen somewhere
//! belongs into the first file.

use super::found;

const INJECTIONS: &str = include_str!("../injections.txt");
const HARMLESS: &str = include_str!("../harmless.txt");

fn texts(file: &'static str) -> impl Iterator<Item = &'static str> {
    file.trim_end_matches('\n').split("\n---\n")
}

pub(in crate::judge) fn injections() -> Vec<&'static str> {
    texts(INJECTIONS).collect()
}

fn marked(text: &str) -> bool {
    !found([text].into_iter()).is_empty()
}

#[test]
fn every_order_is_marked_alone_and_among_other_words() {
    let all = injections();
    assert!(all.len() >= 40);
    let missed: Vec<_> = all.iter().filter(|text| !marked(text)).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    let within = |text: &&&str| !marked(&format!("Total: 42\n{text}\nBye.\n"));
    let missed: Vec<_> = all.iter().filter(within).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn harmless_texts_are_not_marked() {
    let all: Vec<_> = texts(HARMLESS).collect();
    assert!(all.len() >= 40);
    let marked: Vec<_> = all
        .iter()
        .flat_map(|text| found([*text].into_iter()))
        .collect();
    assert!(marked.is_empty(), "{marked:#?}");
    let together = found([all.join("\n").as_str()].into_iter());
    assert!(together.is_empty(), "{together:#?}");
}
