//! `cargo xtask dist`: what is given to people. A release build of this commit, stripped and looked at, with
//! everything that belongs to it, as archives in `target/dist`. The same commit, built by the same tools in
//! the same place, gives the same bytes.

mod bare;
mod elf;
#[cfg(test)]
mod installer_tests;

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::console::{self, say, step};
use crate::debian::{self, BINUTILS, ZSTD};
use crate::failure::{Failure, Trying};
use crate::workspace;
use elf::Elf;

/// No symbol may be newer: that of Ubuntu 22.04. Debian 12 has 2.36.
const GLIBC: [u32; 2] = [2, 35];
/// What every such system has. Anything else would have to be installed first.
const LIBRARIES: [&str; 4] = [
    "libc.so.6",
    "libm.so.6",
    "libgcc_s.so.1",
    "ld-linux-x86-64.so.2",
];
/// The release profile, with what debuggers read.
const PROFILE: &str = "release-debug";
/// Agon, and the game of `suites/arena`, which it finds beside itself.
const PROGRAMS: [&str; 2] = ["agon", "hexagon"];
const PACKAGES: [&str; 2] = ["agon", "agon-hexagon"];
/// What of the repository belongs to a release: what the README refers to, as far as it is small.
const FILES: [&str; 8] = [
    "README.md",
    "CHANGELOG.md",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "docs",
    "examples/python",
    "suites/arena",
    "suites/demo",
];
const COMPLETIONS: [(&str, &str); 3] = [
    ("bash", "agon.bash"),
    ("zsh", "_agon"),
    ("fish", "agon.fish"),
];
const INSTALLER: &str = "agon-installer.sh";
const INSTALLER_TEXT: &str = include_str!("dist/agon-installer.sh");
const SUMS: &str = "SHA256SUMS";

/// Makes the archives.
pub(crate) fn run() -> Result<(), Failure> {
    make().map(drop)
}

/// Makes the archives, and tries them where nothing else of Agon is.
pub(crate) fn run_and_try() -> Result<(), Failure> {
    let release = make()?;
    bare::try_in_bare_root(&release)
}

/// What a release is called, and where it lies.
#[derive(Debug)]
struct Release {
    version: String,
    commit: String,
    /// When the commit was made, in seconds since 1970: the time of all files.
    time: String,
    folder: PathBuf,
}

impl Release {
    /// The one that the working tree would give.
    fn here() -> Result<Self, Failure> {
        let git = |words: &[&str]| {
            let output = console::output(
                Command::new("git")
                    .args(words)
                    .current_dir(workspace::root()),
            )?;
            Ok::<_, Failure>(output.trim().to_owned())
        };
        // No tag has a say: a release is named by its version and its commit.
        let words = [
            "describe",
            "--always",
            "--dirty",
            "--abbrev=7",
            "--exclude=*",
        ];
        Ok(Self {
            version: version()?,
            commit: git(&words)?,
            time: git(&["log", "-1", "--format=%ct"])?,
            folder: workspace::root().join("target/dist"),
        })
    }

    fn name(&self) -> String {
        format!("agon-{}-x86_64-linux", self.version)
    }

    fn debug_name(&self) -> String {
        format!("{}-debug", self.name())
    }

    fn archive(&self) -> String {
        format!("{}.tar.zst", self.name())
    }

    /// What `agon --version` must say.
    fn says(&self) -> String {
        format!("agon {} ({})", self.version, self.commit)
    }
}

fn version() -> Result<String, Failure> {
    let metadata = workspace::metadata()?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    packages
        .filter(|package| package["name"] == "agon")
        .find_map(|package| package["version"].as_str())
        .map(str::to_owned)
        .ok_or_else(|| Failure::new("`cargo metadata` names no version of agon"))
}

fn make() -> Result<Release, Failure> {
    let machine = (std::env::consts::ARCH, std::env::consts::OS);
    if machine != ("x86_64", "linux") {
        return Err(Failure::usage(
            "a release for x86_64 and Linux is built on such a machine",
        ));
    }
    debian::install(&[BINUTILS, ZSTD])?;
    let release = Release::here()?;
    let built = step(&format!("build {}", release.says()), || build(&release))?;
    let debugged = step("collect what belongs to it", || collect(&release, &built))?;
    step("pack", || {
        let mut archives = vec![pack(&release, &release.name(), "-19")?];
        if debugged {
            // Large, and seldom fetched: a fifth smaller would take minutes.
            archives.push(pack(&release, &release.debug_name(), "-9")?);
        }
        write_installer(&release.folder)?;
        sum(&release.folder, &archives)?;
        for archive in &archives {
            let path = release.folder.join(archive);
            let size = std::fs::metadata(&path).trying(format!("look at {}", path.display()))?;
            say(format!(
                "    {} ({:.1} MB)",
                path.display(),
                size.len() as f64 / 1e6
            ));
        }
        Ok(())
    })?;
    Ok(release)
}

/// The folder with the programs.
fn build(release: &Release) -> Result<PathBuf, Failure> {
    let mut command = workspace::cargo(&["build", "--profile", PROFILE, "--locked"]);
    for package in PACKAGES {
        command.args(["--package", package]);
    }
    // Nothing of this machine's settings: a release must run on others.
    for variable in ["RUSTFLAGS", "CARGO_ENCODED_RUSTFLAGS", "CARGO_BUILD_TARGET"] {
        command.env_remove(variable);
    }
    console::succeed(command.env("AGON_COMMIT", &release.commit))?;
    Ok(workspace::target()?.join(PROFILE))
}

/// Fills the folders that become archives. Says whether there is one with debug information.
fn collect(release: &Release, built: &Path) -> Result<bool, Failure> {
    remove(&release.folder)?;
    let folder = release.folder.join(release.name());
    let debug = release.folder.join(release.debug_name());
    let bin = folder.join("bin");
    make_folder(&bin)?;
    let mut debugged = false;
    for program in PROGRAMS {
        debugged |= strip(&built.join(program), &bin, &debug)?;
        inspect(&bin.join(program), &GLIBC)?;
    }
    let agon = bin.join("agon");
    let said = console::output(Command::new(&agon).arg("--version"))?;
    if said.trim_end() != release.says() {
        return Err(Failure::new(format!(
            "`agon --version` says `{}` instead of `{}`",
            said.trim_end(),
            release.says()
        )));
    }
    let completions = folder.join("completions");
    make_folder(&completions)?;
    for (shell, file) in COMPLETIONS {
        let script = console::output(Command::new(&agon).args(["completions", shell]))?;
        write(&completions.join(file), &script)?;
    }
    console::succeed(Command::new(&agon).arg("man").arg(folder.join("man/man1")))?;
    write_installer(&folder)?;
    copy_tracked(&folder)?;
    Ok(debugged)
}

/// The program without what only debuggers read; that goes into a file of its own, if there is any. A
/// program that finds this file beside itself names lines in its traces.
fn strip(program: &Path, bin: &Path, debug: &Path) -> Result<bool, Failure> {
    let name = program.file_name().unwrap_or_default();
    let debugged = Elf::read(program)?.has_debug_info();
    let mut command = Command::new("objcopy");
    command.arg("--strip-all");
    if debugged {
        make_folder(debug)?;
        let file = debug.join(name).with_extension("debug");
        console::succeed(
            Command::new("objcopy")
                .arg("--only-keep-debug")
                .arg(program)
                .arg(&file),
        )?;
        command.arg(format!("--add-gnu-debuglink={}", file.display()));
    }
    console::succeed(command.arg(program).arg(bin.join(name)))?;
    Ok(debugged)
}

/// Refuses a program that would not start on every system with this version of the C library.
fn inspect(program: &Path, glibc: &[u32]) -> Result<(), Failure> {
    let elf = Elf::read(program)?;
    let name = program.display();
    if !elf.is_stripped() {
        return Err(Failure::new(format!("{name} is not stripped")));
    }
    let foreign: Vec<&str> = elf
        .libraries
        .iter()
        .map(String::as_str)
        .filter(|library| !LIBRARIES.contains(library))
        .collect();
    if !foreign.is_empty() {
        return Err(Failure::new(format!(
            "{name} needs libraries that not every system has: {}",
            foreign.join(", ")
        )));
    }
    let newer = elf.newer_than(glibc);
    let newer: Vec<String> = newer.iter().map(ToString::to_string).collect();
    let limit: Vec<String> = glibc.iter().map(ToString::to_string).collect();
    let limit = limit.join(".");
    if !newer.is_empty() {
        return Err(Failure::new(format!(
            "{name} needs symbols newer than glibc {limit}: {}",
            newer.join(", ")
        )));
    }
    say(format!(
        "    {} needs glibc {} (at most {limit} is allowed)",
        program.file_name().unwrap_or_default().display(),
        elf.newest().unwrap_or_default()
    ));
    Ok(())
}

/// Only what the repository knows: no runs or caches that lie around in its folders.
fn copy_tracked(folder: &Path) -> Result<(), Failure> {
    let root = workspace::root();
    let list = console::output(
        Command::new("git")
            .args(["ls-files", "-z", "--"])
            .args(FILES)
            .current_dir(&root),
    )?;
    for wanted in FILES {
        let inside = format!("{wanted}/");
        if !names(&list).any(|file| file == wanted || file.starts_with(&inside)) {
            return Err(Failure::new(format!("git knows no {wanted}")));
        }
    }
    for file in names(&list) {
        let target = folder.join(file);
        make_folder(target.parent().unwrap_or(folder))?;
        std::fs::copy(root.join(file), &target).trying(format!("copy {file}"))?;
    }
    Ok(())
}

fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split('\0').filter(|name| !name.is_empty())
}

/// Packs a folder beside itself, and removes it. Order, owners, times and rights do not depend on who packs.
fn pack(release: &Release, name: &str, level: &str) -> Result<String, Failure> {
    let tar = format!("{name}.tar");
    console::succeed(
        Command::new("tar")
            .args(["--create", "--format=gnu", "--sort=name"])
            .args(["--owner=0", "--group=0", "--numeric-owner"])
            .args(["--mode=u=rwX,go=rX", &format!("--mtime=@{}", release.time)])
            .args([&format!("--file={tar}"), name])
            .env("LC_ALL", "C")
            .current_dir(&release.folder),
    )?;
    console::succeed(
        Command::new("zstd")
            // Any number of threads gives the same bytes.
            .args(["--quiet", "--rm", "-T0", level, &tar])
            .env_remove("ZSTD_CLEVEL")
            .env_remove("ZSTD_NBTHREADS")
            .current_dir(&release.folder),
    )?;
    remove(&release.folder.join(name))?;
    Ok(format!("{tar}.zst"))
}

fn sum(folder: &Path, archives: &[String]) -> Result<(), Failure> {
    let sums = console::output(
        Command::new("sha256sum")
            .args(archives)
            .arg(INSTALLER)
            .current_dir(folder),
    )?;
    write(&folder.join(SUMS), &sums)
}

fn make_folder(path: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(path).trying(format!("make {}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).trying(format!("write {}", path.display()))
}

fn write_installer(folder: &Path) -> Result<(), Failure> {
    let path = folder.join(INSTALLER);
    write(&path, INSTALLER_TEXT)?;
    std::fs::set_permissions(&path, Permissions::from_mode(0o755))
        .trying(format!("let {} be run", path.display()))
}

fn remove(folder: &Path) -> Result<(), Failure> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).trying(format!("remove {}", folder.display()))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gone with the test.
    struct Folder(PathBuf);

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_program_is_stripped_and_must_run_on_older_systems() {
        let folder = Folder(std::env::temp_dir().join(format!("agon-dist-{}", std::process::id())));
        let (bin, debug) = (folder.0.join("bin"), folder.0.join("debug"));
        make_folder(&bin).unwrap();
        let own = std::env::current_exe().unwrap();
        let whole = inspect(&own, &[99]).unwrap_err().to_string();
        assert!(whole.ends_with("is not stripped"), "{whole}");
        assert!(strip(&own, &bin, &debug).unwrap());
        let stripped = bin.join(own.file_name().unwrap());
        inspect(&stripped, &[99]).unwrap();
        let newer = inspect(&stripped, &[2, 0]).unwrap_err().to_string();
        assert!(newer.contains("newer than glibc 2.0: "), "{newer}");
        assert!(newer.contains("malloc@GLIBC_2."), "{newer}");
        // What was taken out is whole, and the program names it.
        let file = std::fs::read_dir(&debug).unwrap().next().unwrap().unwrap();
        assert!(Elf::read(&file.path()).unwrap().has_debug_info());
        let sections = Elf::read(&stripped).unwrap().sections;
        assert!(sections.iter().any(|name| name == ".gnu_debuglink"));
    }

    #[test]
    fn a_release_is_named_by_version_and_commit() {
        let release = Release::here().unwrap();
        let says = release.says();
        assert!(
            says.starts_with(&format!("agon {} (", release.version)),
            "{says}"
        );
        assert!(release.time.parse::<u64>().is_ok(), "{}", release.time);
        let commit = release.commit.trim_end_matches("-dirty");
        assert!(commit.len() >= 7 && commit.chars().all(|c| c.is_ascii_hexdigit()));
        assert_eq!(release.archive(), format!("{}.tar.zst", release.name()));
    }
}
