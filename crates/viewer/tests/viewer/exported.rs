//! The files of an export: all of them in its folder, and nothing in it that is not the run's.

use std::fs;
use std::path::{Path, PathBuf};

use agon_store::TrialLine;
use agon_viewer::{Library, export};

use crate::fixture::{self, Writing};

#[test]
fn an_export_stays_in_its_folder_and_writes_over_nothing() {
    let outer = tempfile::tempdir().unwrap();
    let root = outer.path().join("runs");
    // Names of folders, tasks and events as wrong as they are allowed to be.
    let names = [
        "a b<script>",
        "..;",
        "-",
        "index.html",
        "\u{202e}x",
        "assets",
    ];
    for name in names {
        let ids = [
            "index.html/index.html",
            "trials.js/con",
            "head.js/__proto__",
            "task/compare",
        ];
        let tasks = ids.iter().map(|id| fixture::stamp(id, None)).collect();
        let run = Writing::begin(&root.join(name), &fixture::manifest(1, tasks));
        for id in ids {
            run.end(TrialLine {
                steps: 1,
                ..fixture::graded(id, 1, 1, 1.0)
            });
        }
    }
    let library = Library::new(vec![root], outer.path().join("cache")).unwrap();
    let runs = library.runs().unwrap();
    let into = outer.path().join("into");
    let before = entries(outer.path());
    let exported = export(&runs, &outer.path().join("cache"), &into, |_| {}).unwrap();
    let mut after = entries(outer.path());
    assert_eq!(
        entries(&into).iter().filter(|path| path.is_file()).count() as u64,
        exported.files
    );
    after.retain(|path| !path.starts_with(&into) && !path.starts_with(outer.path().join("cache")));
    assert_eq!(after, before);
    for name in [
        "index.html",
        "compare/index.html",
        "compare/task/index.html/index.html/index.html",
    ] {
        assert!(into.join(name).is_file(), "{name}");
    }
    let again = export(&runs, &outer.path().join("cache"), &into, |_| {}).unwrap_err();
    assert!(again.to_string().contains("not empty"), "{again}");
}

#[test]
fn pictures_that_are_none_are_not_exported() {
    let root = tempfile::tempdir().unwrap();
    let run = root.path().join("screens");
    agon_testkit::long_trial(&run, 3, (640, 400)).unwrap();
    let pictures: Vec<PathBuf> = entries(&run.join("blobs"))
        .into_iter()
        .filter(|path| path.is_file())
        .collect();
    assert_eq!(pictures.len(), 4);
    // A link to a picture that is not the run's, one that was changed, and one that is a page.
    let secret = root.path().join("secret.png");
    fs::rename(&pictures[0], &secret).unwrap();
    std::os::unix::fs::symlink(&secret, &pictures[0]).unwrap();
    fs::copy(&secret, &pictures[1]).unwrap();
    fs::write(&pictures[2], "<script>alert(1)</script>").unwrap();
    let library = Library::new(vec![run], root.path().join("cache")).unwrap();
    let into = root.path().join("into");
    export(
        &library.runs().unwrap(),
        &root.path().join("cache"),
        &into,
        |_| {},
    )
    .unwrap();
    let exported: Vec<PathBuf> = entries(&into.join("runs/screens/blobs"));
    let named = pictures[3].file_stem().unwrap().to_string_lossy();
    assert_eq!(exported.len(), 1, "{exported:?}");
    assert!(
        exported[0].to_string_lossy().contains(&*named),
        "{exported:?} {named}"
    );
}

/// A site is made to be given away.
#[test]
fn an_export_does_not_tell_where_it_was_made() {
    let outer = tempfile::tempdir().unwrap();
    let root = outer.path().join("runs");
    let whole = Writing::begin(
        &root.join("whole"),
        &fixture::manifest(1, vec![fixture::stamp("files/copy", None)]),
    );
    whole.end(fixture::graded("files/copy", 1, 1, 1.0));
    agon_testkit::long_trial(&root.join("screens"), 3, (640, 400)).unwrap();
    // Each wrong in its own way: what is told of it names files.
    for (name, file) in [("manifest", "run.json"), ("trials", "trials.jsonl")] {
        let stamps = vec![fixture::stamp("files/copy", None)];
        let run = Writing::begin(&root.join(name), &fixture::manifest(1, stamps));
        run.end(fixture::graded("files/copy", 1, 1, 1.0));
        fs::remove_file(root.join(name).join(file)).unwrap();
        fs::create_dir(root.join(name).join(file)).unwrap();
    }
    fs::remove_dir_all(root.join("whole/trials")).ok();
    for entry in entries(&root.join("whole")) {
        if entry.is_file() && entry.to_string_lossy().contains("events") {
            fs::remove_file(entry).unwrap();
        }
    }
    // No place for indexes: that is told as well.
    let cache = outer.path().join("cache");
    fs::write(&cache, "").unwrap();
    let library = Library::new(vec![root], cache.clone()).unwrap();
    let runs = library.runs().unwrap();
    assert_eq!(runs.len(), 4);
    let into = outer.path().join("site");
    let mut told = Vec::new();
    export(&runs, &cache, &into, |progress| {
        told.push(progress.run.to_owned());
    })
    .unwrap();
    told.sort();
    assert_eq!(told, ["screens", "whole"]);
    let secret = outer
        .path()
        .file_name()
        .unwrap()
        .to_string_lossy()
        .into_owned();
    let mut broken = 0;
    for path in entries(&into).into_iter().filter(|path| path.is_file()) {
        let text = String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned();
        let at = text.find(&secret).map(|at| &text[at.saturating_sub(60)..]);
        let at = at.map(|at| at.chars().take(200).collect::<String>());
        assert_eq!(at, None, "{}", path.display());
        broken += usize::from(text.contains("This run can't be read"));
    }
    assert_eq!(broken, 2);
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path.clone());
            }
            found.push(path);
        }
    }
    found.sort();
    found
}
