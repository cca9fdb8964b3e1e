//! A release tried where nothing else of Agon is: installed by an ordinary user in a bare Debian 12, started
//! there, and removed again.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::{INSTALLER, Release, SUMS};
use crate::console::{self, step};
use crate::debian::{self, MMDEBSTRAP, Root};
use crate::failure::{Failure, Trying};
use crate::soak::desktop::all_passed;
use crate::{rootfs, workspace};

const ENTER: &str = include_str!("enter.sh");
const HOME: &str = "home/tester";
/// As a login shell would have it after the installer.
const PATH: &str = "PATH=$HOME/.local/bin:$PATH";

pub(super) fn try_in_bare_root(release: &Release) -> Result<(), Failure> {
    if !rootfs::bare().tar()?.exists() {
        debian::install(&[MMDEBSTRAP])?;
    }
    let tar = rootfs::bare().ensure_tar()?;
    let root = step("unpack a bare Debian 12", || BareRoot::unpack(&tar))?;
    root.bring(release)?;
    step("install the release there", || {
        console::say(root.say(&format!("sh {INSTALLER}"))?.trim_end());
        let said = root.say("agon --version")?;
        if said.trim_end() == release.says() {
            Ok(())
        } else {
            Err(Failure::new(format!("`agon --version` says {said}")))
        }
    })?;
    step("play suites/demo with `oracle` there", || {
        let said = root.say(
            "agon run .local/share/agon/suites/demo --agent oracle --retries 0 --json --out demo",
        )?;
        let trials =
            all_passed(said.lines().next_back().unwrap_or_default()).map_err(Failure::new)?;
        console::say(format!("    all {trials} trials passed"));
        Ok(())
    })?;
    step("remove it again", || {
        let code = format!("sh {INSTALLER} --uninstall >/dev/null; rm -r demo; ls -A");
        let left = root.say(&code)?;
        let mut left: Vec<&str> = left.lines().filter(|name| !is_own(name)).collect();
        left.retain(|name| ![INSTALLER, SUMS, release.archive().as_str()].contains(name));
        if left.is_empty() {
            Ok(())
        } else {
            Err(Failure::new(format!(
                "these were left in the home folder: {}",
                left.join(", ")
            )))
        }
    })?;
    root.remove()
}

/// What every new home folder has.
fn is_own(name: &str) -> bool {
    [".bash_logout", ".bashrc", ".profile"].contains(&name)
}

/// A folder that is the root file system of whatever is started in it.
struct BareRoot {
    folder: PathBuf,
    root: Root,
}

impl BareRoot {
    fn unpack(tar: &Path) -> Result<Self, Failure> {
        let root = Root::reachable()?.ok_or_else(|| {
            Failure::usage("only root can enter a root file system: run this as root")
        })?;
        let folder = workspace::root().join("target/bare-root");
        let bare = Self { folder, root };
        bare.remove()?;
        console::succeed(bare.root.command("mkdir").arg("-p").arg(&bare.folder))?;
        // Its devices are those of the host.
        let mut command = bare.root.command("tar");
        command.args([
            "--extract",
            "--numeric-owner",
            "--exclude=./dev/*",
            "--file",
        ]);
        console::succeed(command.arg(tar).arg("--directory").arg(&bare.folder))?;
        Ok(bare)
    }

    /// Puts what a user would have downloaded into the home folder.
    fn bring(&self, release: &Release) -> Result<(), Failure> {
        let mut command = self.root.command("cp");
        for file in [release.archive().as_str(), INSTALLER, SUMS] {
            command.arg(release.folder.join(file));
        }
        console::succeed(command.arg(self.folder.join(HOME)))
    }

    /// Runs shell code there, as an ordinary user in his home folder.
    fn enter(&self, code: &str) -> Command {
        let mut command = self.root.command("unshare");
        command
            .args(["--mount", "--pid", "--net", "--ipc", "--uts"])
            .args(["--fork", "--kill-child", "sh", "-c", ENTER, "enter"])
            .arg(&self.folder)
            .arg(code);
        command
    }

    /// What the code writes to standard output, with Agon on the search path. The rest is shown only if
    /// it fails.
    fn say(&self, code: &str) -> Result<String, Failure> {
        let output = self
            .enter(&format!("{PATH}; {code}"))
            .output()
            .trying("start `unshare`")?;
        if !output.status.success() {
            return Err(Failure::new(format!(
                "`{code}` failed in {}: {}\n{}",
                self.folder.display(),
                output.status,
                String::from_utf8_lossy(&output.stderr)
            )));
        }
        String::from_utf8(output.stdout).trying(format!("read the output of `{code}`"))
    }

    fn remove(&self) -> Result<(), Failure> {
        let mut command = self.root.command("rm");
        console::succeed(command.args(["-rf", "--one-file-system"]).arg(&self.folder))
    }
}
