//! Which runs are found, and what they are called.

use std::fs;
use std::os::unix::fs::symlink;

use agon_viewer::Library;

use crate::fixture::{Shelf, Writing, manifest, stamp};

fn begin(shelf: &Shelf, name: &str, created: &str) {
    let mut manifest = manifest(1, vec![stamp("files/copy", None)]);
    manifest.created = created.parse().unwrap();
    Writing::begin(&shelf.place(name), &manifest);
}

fn ids(library: &Library) -> Vec<String> {
    let runs = library.runs().unwrap();
    runs.iter().map(|run| run.id().to_owned()).collect()
}

#[test]
fn runs_are_found_below_folders_newest_first() {
    let shelf = Shelf::new();
    begin(&shelf, "old", "2026-01-01T00:00:00Z");
    begin(&shelf, "a/b/c/new", "2026-01-03T00:00:00Z");
    begin(&shelf, "a/old", "2026-01-02T00:00:00Z");
    begin(&shelf, "old/trials/inside", "2026-01-04T00:00:00Z");
    begin(&shelf, "a/b/c/d/deep", "2026-01-04T00:00:00Z");
    begin(&shelf, ".hidden", "2026-01-04T00:00:00Z");
    begin(&shelf, "with space?", "2025-01-01T00:00:00Z");
    symlink("old", shelf.place("latest")).unwrap();
    let library = shelf.library();
    assert_eq!(ids(&library), ["new", "old", "old~2", "with-space-"]);
    let before: Vec<_> = library.runs().unwrap();
    // A new one does not change the names of the others.
    begin(&shelf, "0/old", "2026-01-05T00:00:00Z");
    assert_eq!(
        ids(&library),
        ["old~3", "new", "old", "old~2", "with-space-"]
    );
    fs::remove_dir_all(shelf.place("a/old")).unwrap();
    assert_eq!(ids(&library), ["old~3", "new", "old~2", "with-space-"]);
    let again = library.run("old~2").unwrap();
    assert!(before.iter().any(|run| std::sync::Arc::ptr_eq(run, &again)));
}

#[test]
fn a_run_can_be_named_itself_also_by_a_link_and_twice() {
    let shelf = Shelf::new();
    begin(&shelf, "one", "2026-01-01T00:00:00Z");
    symlink("one", shelf.place("latest")).unwrap();
    let roots = vec![shelf.place("latest"), shelf.place("one"), shelf.runs()];
    let library = Library::new(roots, shelf.cache()).unwrap();
    assert_eq!(ids(&library), ["one"]);
    let card = library.run("one").unwrap().card();
    assert!(card.path.ends_with("latest"), "{}", card.path);
}

#[test]
fn what_is_not_there_is_told() {
    let shelf = Shelf::new();
    let told = Library::new(vec![shelf.place("nowhere")], shelf.cache());
    assert!(
        told.unwrap_err()
            .to_string()
            .contains("nowhere is no folder")
    );
    let library = shelf.library();
    assert!(library.runs().unwrap().is_empty());
    for id in ["one", "..", "../runs", "", "/etc"] {
        assert!(library.run(id).is_err());
    }
    // A run that begins later is found by its name.
    begin(&shelf, "one", "2026-01-01T00:00:00Z");
    assert_eq!(library.run("one").unwrap().id(), "one");
}
