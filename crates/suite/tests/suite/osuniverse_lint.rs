//! What `agon lint` sees in the published test cases of OSUniverse without playing them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use agon_suite::{Finding, lint};
use insta::assert_snapshot;
use regex::Regex;

use super::fixture::{Folder, load};

fn findings() -> Vec<Finding> {
    let suite =
        load(&PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/osuniverse/testcases"));
    lint(&suite.unwrap())
}

/// A finding without what is of one case alone.
fn kind(finding: &Finding) -> String {
    let quoted =
        Regex::new("`[^`]*`|[0-9]+ of [0-9]+|[a-z_]+/[a-z0-9_]+( and [0-9]+ more)?").unwrap();
    let message = quoted.replace_all(&finding.message, "..");
    format!("{} {message}", finding.severity.name())
}

#[test]
fn the_defects_of_the_160_are_named() {
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for finding in findings() {
        *kinds.entry(kind(&finding)).or_default() += 1;
    }
    let lines: Vec<String> = kinds
        .iter()
        .map(|(kind, n)| format!("{n:>3} {kind}"))
        .collect();
    assert_snapshot!(lines.join("\n"));
}

#[test]
fn every_known_defect_is_found_in_its_case() {
    let found = findings();
    let in_case = |id: &str, words: &str| {
        let named = |finding: &&Finding| finding.task.to_string() == id;
        found
            .iter()
            .filter(named)
            .any(|finding| finding.message.contains(words))
    };
    for (id, words) in [
        ("terminal/install_imagemagick", "(`convert -version`)"),
        ("libreoffice_writer/edit_long_doc_1", "ends in `diff`"),
        ("libreoffice_writer/edit_long_doc_2", "ends in `diff`"),
        ("libreoffice_writer/edit_long_doc_3", "ends in `diff`"),
        ("libreoffice_writer/combine_two_documents", "ends in `diff`"),
        (
            "games/room_1",
            "has the same answer as games/room_2 and 14 more",
        ),
        ("games/room_1", "`https://agentsea.github.io`"),
        ("games/4", "the word None"),
        ("browser/airbnb_search_1", "[%MONTH+k%]"),
        (
            "browser/airbnb_search_1",
            "asks for the network (`https://www.airbnb.com`)",
        ),
        ("multiapp/flights_search", "(`in 3 months`)"),
        ("terminal/fortune", "forbids a tool (`DO NOT USE the exec`)"),
        (
            "terminal/fortune",
            "asks for the network (`Install the fortune`)",
        ),
        ("browser/finland_population", "ages with it"),
        ("desktop/about_xfce", "only the answer is checked"),
        (
            "libreoffice_calc/hello_world",
            "the set-up needs the network (`apk add`)",
        ),
    ] {
        assert!(in_case(id, words), "{id}: {words}");
    }
    assert!(!in_case("terminal/permissions", "network"));
}

#[test]
fn a_task_that_brings_what_it_needs_has_no_such_findings() {
    let good = "task: Open http://localhost:8000/shop.html and return the price of tea.\n\
                environment: {kind: desktop}\n\
                setup_cmd: python3 -m http.server 8000 >/dev/null 2>&1 &\n\
                checks: [{type: returned_result, contains: '4.20'}]\n\
                solution: [{action: finish, result: '4.20'}]\n";
    assert!(lint(&Folder::of_task(good).suite()).is_empty());
    let fetching = good.replace(
        "python3 -m http.server 8000 >/dev/null 2>&1 &",
        "apt-get install -y tea",
    );
    let open = fetching.replace("{kind: desktop}", "{kind: desktop, network: open}");
    for (yaml, warned) in [(&fetching, true), (&open, false)] {
        let found = lint(&Folder::of_task(yaml).suite());
        let warns = found
            .iter()
            .any(|found| found.message.contains("the set-up needs the network"));
        assert_eq!(warns, warned, "{found:?}");
    }
}
