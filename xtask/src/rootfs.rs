//! The image that container tests use, made from Debian's own packages: no registry is needed.

use std::path::PathBuf;

use crate::console;
use crate::debian::Root;
use crate::docker_api::DockerApi;
use crate::failure::{Failure, Trying};
use crate::workspace;

pub(crate) const IMAGE: &str = "agon-test";
const PACKAGES: &str = "python3-minimal,procps";
/// Raised whenever the content of the image must change: old ones are then made again.
const RECIPE: &str = "1";
const RECIPE_LABEL: &str = "agon.recipe";

/// Makes sure that the engine has the image.
pub(crate) fn ensure_image(api: &DockerApi) -> Result<(), Failure> {
    let labels = api.image_labels(&format!("{IMAGE}:latest"))?;
    if labels.is_some_and(|labels| labels[RECIPE_LABEL] == RECIPE) {
        return Ok(());
    }
    let tar = ensure_tar()?;
    console::step(&format!("import {IMAGE}:latest"), || {
        api.import(&tar, IMAGE, (RECIPE_LABEL, RECIPE))
    })
}

/// Where the root file system is kept.
pub(crate) fn tar() -> Result<PathBuf, Failure> {
    Ok(workspace::cache()?.join(format!("test-rootfs-{RECIPE}.tar")))
}

fn ensure_tar() -> Result<PathBuf, Failure> {
    let tar = tar()?;
    if tar.exists() {
        return Ok(tar);
    }
    let release = std::fs::read_to_string("/etc/os-release").trying("read /etc/os-release")?;
    let codename = codename(&release)
        .ok_or_else(|| Failure::usage("/etc/os-release names no VERSION_CODENAME"))?;
    let root = Root::reachable()?
        .ok_or_else(|| Failure::usage("only root can make a root file system: run this as root"))?;
    console::step("make a root file system from Debian packages", || {
        std::fs::create_dir_all(workspace::cache()?).trying("make the cache folder")?;
        let unfinished = tar.with_extension(format!("{}.tar", std::process::id()));
        let made = console::succeed(
            root.command("mmdebstrap")
                .args(["--quiet", "--variant=minbase", "--format=tar"])
                .arg(format!("--include={PACKAGES}"))
                .arg(codename)
                .arg(&unfinished),
        );
        if made.is_err() {
            let _ = std::fs::remove_file(&unfinished);
        }
        made?;
        std::fs::rename(&unfinished, &tar).trying(format!("keep {}", tar.display()))
    })?;
    Ok(tar)
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
    fn the_code_name_of_the_release_is_found() {
        assert_eq!(
            codename("ID=debian\nVERSION_CODENAME=bookworm\n"),
            Some("bookworm")
        );
        assert_eq!(codename("VERSION_CODENAME=\"noble\""), Some("noble"));
        assert_eq!(codename("ID=arch\nVERSION_CODENAME=\n"), None);
    }
}
