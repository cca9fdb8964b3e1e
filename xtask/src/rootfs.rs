//! The images that container tests use, and the root in which a release is tried, made from Debian's own
//! packages: no registry is needed.

use std::path::{Path, PathBuf};

use crate::console;
use crate::debian::Root;
use crate::docker_api::DockerApi;
use crate::failure::{Failure, Trying};
use crate::workspace;

/// An image without a desktop, its tag left out.
pub(crate) const IMAGE: &str = "agon-test";
/// The image of `agon image build desktop`, with its tag.
pub(crate) const DESKTOP_IMAGE: &str = "agon-test-desktop:1";
/// The image of `agon image build desktop --with-office`, with its tag.
pub(crate) const OFFICE_IMAGE: &str = "agon-test-desktop-office:1";
const RECIPE_LABEL: &str = "agon.recipe";

/// An image and what it is made of.
#[derive(Debug, Clone)]
pub(crate) struct TestImage {
    name: String,
    /// What its archive is called in the cache.
    kind: &'static str,
    /// The release of Debian; without one, whatever this machine has.
    codename: Option<&'static str>,
    packages: Vec<&'static str>,
    /// Settings of dpkg.
    settings: Vec<&'static str>,
    /// Shell code that runs inside in the end.
    finish: &'static str,
    env: &'static [&'static str],
    /// Another one whenever the content must change: old images and archives are then made again.
    recipe: String,
}

/// All images of the tests.
pub(crate) fn images() -> [TestImage; 3] {
    [plain(), desktop(), office()]
}

pub(crate) fn plain() -> TestImage {
    TestImage {
        name: format!("{IMAGE}:latest"),
        kind: "rootfs",
        codename: None,
        packages: vec!["python3-minimal", "procps"],
        settings: Vec::new(),
        finish: "",
        env: &[],
        recipe: "1".to_owned(),
    }
}

/// Debian 12 with what its installer and `suites/demo` need beside a release of Agon, and an ordinary user. No
/// engine ever has it.
pub(crate) fn bare() -> TestImage {
    TestImage {
        name: "a release".to_owned(),
        kind: "bare",
        codename: Some("bookworm"),
        packages: vec!["bubblewrap", "python3", "zstd"],
        settings: Vec::new(),
        finish: "useradd --create-home --uid 1000 tester",
        env: &[],
        recipe: "1".to_owned(),
    }
}

/// The same as `agon image build desktop` makes.
pub(crate) fn desktop() -> TestImage {
    let lists = [include_str!("../../images/desktop/packages")];
    with_screen(DESKTOP_IMAGE, "desktop", &lists)
}

/// The same as `agon image build desktop --with-office` makes.
fn office() -> TestImage {
    let lists = [
        include_str!("../../images/desktop/packages"),
        include_str!("../../images/desktop/packages-browser"),
        include_str!("../../images/desktop/packages-office"),
    ];
    with_screen(OFFICE_IMAGE, "office", &lists)
}

fn with_screen(name: &str, kind: &'static str, lists: &[&'static str]) -> TestImage {
    let packages: Vec<&str> = lists.iter().copied().flat_map(entries).collect();
    let settings = entries(include_str!("../../images/desktop/excludes"));
    let finish = include_str!("../../images/desktop/finish");
    let parts = packages.iter().chain(&settings).chain([&finish]);
    let recipe = format!("2-{:016x}", hash(parts));
    TestImage {
        name: name.to_owned(),
        kind,
        codename: None,
        packages,
        settings,
        finish,
        env: &[
            "LANG=C.UTF-8",
            "DISPLAY=:0",
            "NO_AT_BRIDGE=1",
            "GSETTINGS_BACKEND=keyfile",
        ],
        recipe,
    }
}

impl TestImage {
    /// Makes sure that the engine has it.
    pub(crate) fn ensure(&self, api: &DockerApi) -> Result<(), Failure> {
        let labels = api.image_labels(&self.name)?;
        if labels.is_some_and(|labels| labels[RECIPE_LABEL] == self.recipe) {
            return Ok(());
        }
        let tar = self.ensure_tar()?;
        let label = format!("LABEL {RECIPE_LABEL}={}", self.recipe);
        let env = self.env.iter().map(|variable| format!("ENV {variable}"));
        let changes: Vec<String> = env.chain([label]).collect();
        console::step(&format!("import {}", self.name), || {
            api.import(&tar, &self.name, &changes)
        })
    }

    /// Where its root file system is kept.
    pub(crate) fn tar(&self) -> Result<PathBuf, Failure> {
        Ok(workspace::cache()?.join(format!("test-{}-{}.tar", self.kind, self.recipe)))
    }

    pub(crate) fn ensure_tar(&self) -> Result<PathBuf, Failure> {
        let tar = self.tar()?;
        if tar.exists() {
            return Ok(tar);
        }
        let codename = match self.codename {
            Some(codename) => codename.to_owned(),
            None => own_codename()?,
        };
        let root = Root::reachable()?.ok_or_else(|| {
            Failure::usage("only root can make a root file system: run this as root")
        })?;
        let what = format!(
            "make a root file system for {} from Debian packages",
            self.name
        );
        console::step(&what, || {
            std::fs::create_dir_all(workspace::cache()?).trying("make the cache folder")?;
            let unfinished = tar.with_extension(format!("{}.tar", std::process::id()));
            // In a mount namespace of its own: what it mounts must not outlive it.
            let mut command = root.command("unshare");
            command
                .args([
                    "--mount",
                    "mmdebstrap",
                    "--quiet",
                    "--variant=minbase",
                    "--format=tar",
                ])
                .arg(format!("--include={}", self.packages.join(",")));
            for setting in &self.settings {
                command.arg(format!("--dpkgopt={setting}"));
            }
            let finish = self.finish.replace('\'', r"'\''");
            command.arg(format!("--customize-hook=chroot \"$1\" sh -c '{finish}'"));
            let made = console::succeed(command.arg(codename).arg(&unfinished));
            if made.is_err() {
                let _ = std::fs::remove_file(&unfinished);
            }
            made?;
            std::fs::rename(&unfinished, &tar).trying(format!("keep {}", tar.display()))?;
            self.forget_others(&tar)
        })?;
        Ok(tar)
    }

    /// Removes what older recipes left in the cache: each is up to two gigabytes.
    fn forget_others(&self, tar: &Path) -> Result<(), Failure> {
        let prefix = format!("test-{}-", self.kind);
        for entry in std::fs::read_dir(workspace::cache()?).trying("read the cache folder")? {
            let path = entry.trying("read the cache folder")?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            if path != tar && name.is_some_and(|name| superseded(name, &prefix)) {
                std::fs::remove_file(&path).trying(format!("remove {}", path.display()))?;
            }
        }
        Ok(())
    }
}

/// Whether it is a whole archive of this kind; one in the making has a number before its ending.
fn superseded(name: &str, prefix: &str) -> bool {
    name.strip_prefix(prefix)
        .and_then(|rest| rest.strip_suffix(".tar"))
        .is_some_and(|recipe| !recipe.contains('.'))
}

/// Lines without comments.
fn entries(list: &'static str) -> Vec<&'static str> {
    list.lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim())
        .filter(|line| !line.is_empty())
        .collect()
}

/// FNV-1a: the same everywhere and for ever.
fn hash<'a>(words: impl Iterator<Item = &'a &'a str>) -> u64 {
    let bytes = words.flat_map(|word| word.bytes().chain([b'\n']));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Of this machine.
fn own_codename() -> Result<String, Failure> {
    let release = std::fs::read_to_string("/etc/os-release").trying("read /etc/os-release")?;
    codename(&release)
        .map(str::to_owned)
        .ok_or_else(|| Failure::usage("/etc/os-release names no VERSION_CODENAME"))
}

fn codename(os_release: &str) -> Option<&str> {
    os_release
        .lines()
        .find_map(|line| line.strip_prefix("VERSION_CODENAME="))
        .map(|name| name.trim_matches('"'))
        .filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_list_is_another_archive() {
        assert_ne!(hash(["ab"].iter()), hash(["a", "b"].iter()));
        assert_ne!(hash(["a", "b"].iter()), hash(["b", "a"].iter()));
        let mut archives = images().map(|image| image.tar().unwrap()).to_vec();
        archives.sort();
        archives.dedup();
        assert_eq!(archives.len(), images().len());
    }

    #[test]
    fn a_desktop_has_what_tests_start() {
        let packages = desktop().packages;
        for name in ["xvfb", "openbox", "xterm", "mousepad"] {
            assert!(packages.contains(&name), "{packages:?}");
        }
    }

    #[test]
    fn only_whole_archives_of_the_same_kind_are_superseded() {
        assert!(superseded("test-desktop-1-ab.tar", "test-desktop-"));
        assert!(!superseded("test-desktop-1-ab.77.tar", "test-desktop-"));
        assert!(!superseded("test-office-1-ab.tar", "test-desktop-"));
        assert!(!superseded("test-desktop-1-ab.tar.part", "test-desktop-"));
    }

    #[test]
    fn office_programs_come_on_top_of_a_desktop() {
        let [small, large] = [desktop().packages, office().packages];
        assert!(small.iter().all(|name| large.contains(name)), "{large:?}");
        for name in ["libreoffice-calc", "libreoffice-writer", "chromium"] {
            assert!(large.contains(&name) && !small.contains(&name), "{name}");
        }
    }

    #[test]
    fn the_code_name_of_the_release_is_found() {
        assert_eq!(
            codename("ID=debian\nVERSION_CODENAME=bookworm\n"),
            Some("bookworm")
        );
        assert_eq!(codename("VERSION_CODENAME=\"noble\""), Some("noble"));
        assert_eq!(codename("ID=arch\nVERSION_CODENAME=\n"), None);
    }
}
