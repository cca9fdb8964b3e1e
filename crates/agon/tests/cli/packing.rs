//! What a release is made of beside the program: its version, manual pages and completions.

use std::fs;

use crate::support::Bench;

#[test]
fn every_command_has_a_manual_page() {
    let bench = Bench::new();
    bench.call(&["man", "share/man/man1"]).expect(0);
    let page = |name: &str| {
        let page = fs::read_to_string(bench.path("share/man/man1").join(name));
        page.unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    assert!(page("agon.1").contains("agon run suites/demo"));
    assert!(page("agon-run.1").contains("budget"));
    assert!(page("agon-desktop-start.1").contains("desktop"));
    let help = bench.call(&["--help"]).expect(0).stdout();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    let commands = commands.filter_map(|line| line.split_whitespace().next());
    let commands: Vec<&str> = commands.filter(|name| *name != "help").collect();
    assert!(commands.len() > 20, "{commands:?}");
    for command in commands {
        page(&format!("agon-{command}.1"));
    }
    assert!(!bench.path("share/man/man1/agon-man.1").exists());
}

#[test]
fn where_no_manual_page_can_be_written_that_is_said() {
    let bench = Bench::new();
    bench.write("file", "");
    let called = bench.call(&["man", "file/man1"]).expect(2);
    assert!(called.stderr().contains("file/man1"), "{}", called.stderr());
}

#[test]
fn the_version_begins_with_the_number() {
    let bench = Bench::new();
    let said = bench.call(&["--version"]).expect(0).stdout();
    let number = format!("agon {}", env!("CARGO_PKG_VERSION"));
    let commit = said.trim_end().strip_prefix(&number);
    assert!(
        commit.is_some_and(|commit| commit.is_empty() || commit.starts_with(" (")),
        "{said}"
    );
    assert_eq!(
        bench.call(&["run", "--version"]).expect(0).stdout(),
        said.replace("agon", "agon-run")
    );
}

#[test]
fn shells_are_told_about_commands_that_people_use() {
    let bench = Bench::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = bench.call(&["completions", shell]).expect(0).stdout();
        assert!(
            script.contains("agon") && script.contains("predict"),
            "{shell}"
        );
    }
}
