//! The project's own commands, run as `cargo xtask COMMAND`. This file only picks the command. No
//! crate of Agon is used here, so that `cargo xtask` builds in seconds and works when they do not.

mod axe;
mod bench;
mod browser;
mod check;
mod console;
mod debian;
mod demo;
mod dist;
mod docker_api;
mod docker_engine;
mod failure;
mod games;
mod local;
mod models;
mod qa;
mod rootfs;
mod soak;
mod test;
mod timings;
mod workspace;

use std::process::ExitCode;

use failure::Failure;
use test::Selection;

const HELP: &str = "\
cargo xtask COMMAND

  demo                          install what is missing, build, run the demo suite, show the reports
  test                          everything that must hold: formatting, lints, boundaries, tests
       [--all]                  the long tier, too: many kills, whole suites, local weights, the release
       [--part K/N]             only part K of N of it, e.g. to share it between machines
       [--filter NAME]          only the tests whose name contains NAME
  check                         the crate order, file sizes and other house rules
  bench NAME [--only ROW,ROW]   measure, print a table, write target/bench/NAME.json
  dist [--try]                  make a release in target/dist; try it in a bare Debian 12
  qa                            write the dataset of suites/qa anew
  soak arena [GAMES]            play many games; every score read must be the true one [100]
  soak desktop [--times N]      play the solutions of suites/desktop; all must pass every time [20]
  help                          this text

Examples:
  cargo xtask demo
  cargo xtask test
  cargo xtask test --filter wilson      only the tests whose name contains `wilson`
  cargo xtask test --all --part 2/4
  cargo xtask check
  cargo xtask bench build               how long demo and tests take from a fresh clone
  cargo xtask bench spine
  cargo xtask bench spine --only turns_per_s,version_ms
  cargo xtask bench desktop
  cargo xtask bench arena
  cargo xtask bench llm                 beside Python's openai, which is installed under target/bench
  cargo xtask bench fuzz                every fuzz target for half a minute
  cargo xtask bench intervals           simulated runs: do intervals hold the truth?
  cargo xtask bench testcases           cases on desktops in containers
  cargo xtask bench viewer              pages in a real browser
  cargo xtask soak arena
  cargo xtask soak desktop --times 1

Exit status: 0 done; 1 something failed; 2 bad usage, or a program is missing that cannot be
installed from here (the exact command is printed).";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match dispatch(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            console::complain(&failure);
            failure.exit_code()
        }
    }
}

fn dispatch(words: &[&str]) -> Result<(), Failure> {
    match words {
        ["demo"] => demo::run(),
        ["test", words @ ..] => test::run(&Selection::parse(words)?),
        ["check"] => check::run(),
        ["bench", name] => bench::run(name, &[]),
        ["bench", name, "--only", rows] => bench::run(name, &rows.split(',').collect::<Vec<_>>()),
        ["dist"] => dist::run(),
        ["dist", "--try"] => dist::run_and_try(),
        ["qa"] => qa::run(),
        ["soak", "arena"] => soak::arena(100),
        ["soak", "arena", games] => soak::arena(count(games)?),
        ["soak", "desktop"] => soak::desktop::run(20),
        ["soak", "desktop", "--times", times] => soak::desktop::run(count(times)?),
        ["help" | "--help" | "-h"] => {
            console::say(HELP);
            Ok(())
        }
        [] => Err(Failure::usage(HELP)),
        other => Err(Failure::usage(format!(
            "`{}` is no command\n\n{HELP}",
            other.join(" ")
        ))),
    }
}

fn count(text: &str) -> Result<u32, Failure> {
    let count = text
        .parse()
        .ok()
        .filter(|count| (1..=100_000).contains(count));
    count.ok_or_else(|| Failure::usage(format!("`{text}` is no number between 1 and 100000")))
}
