//! `agon suite distribution`: the table that OSUniverse publishes, from its own files.

use std::path::Path;

use insta::assert_snapshot;

use crate::support::Bench;

fn published() -> String {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../suite/tests/data/osuniverse/testcases");
    folder.to_str().unwrap().to_owned()
}

#[test]
fn the_published_cases_have_the_published_distribution() {
    let bench = Bench::new();
    let shown = bench
        .call(&["suite", "distribution", &published()])
        .expect(0);
    assert_snapshot!(shown.stdout());

    let json = bench
        .call(&["suite", "distribution", &published(), "--json"])
        .expect(0)
        .json();
    assert_eq!(json["weighted_maximum"], 375.5);
    assert_eq!(json["total"]["total"], 160);
    assert_eq!(json["categories"].as_array().unwrap().len(), 9);
    assert_eq!(json["categories"][1]["category"], "desktop");
    assert_eq!(json["categories"][1]["tasks"]["wood"], 9);
    assert_eq!(json["levels"][4]["sum"], 88.0);
}

#[test]
fn a_selection_of_suites_with_weights_of_their_own_is_counted_as_such() {
    let bench = Bench::new();
    let task = |extra: &str| format!("task: x\nchecks: [{{type: file, path: a}}]\n{extra}");
    bench.suite(&[
        ("a", &task("level: gold\nweight: 3\n")),
        ("b", &task("level: gold\n")),
        ("c", &task("")),
        ("d", &task("level: paper\n")),
    ]);
    let shown = bench
        .call(&["suite", "distribution", "suite", "--levels", "gold,none"])
        .expect(0);
    assert_snapshot!(shown.stdout());
}
