//! axe-core, which looks for faults that keep people out: a script that tests run inside of the viewer's
//! pages. Fetched from the npm registry once, pinned by its content, never shipped.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::console::{step, succeed};
use crate::debian::{self, NPM};
use crate::failure::{Failure, Trying};
use crate::workspace;

const VERSION: &str = "4.14.0";
/// Of `axe.min.js`.
const SHA256: &str = "20c09fe157a8a34a30e241aaa1fcdade657734f08ab379ecfbeb7d45cc46e878";
/// Where tests look for it.
pub(crate) const VARIABLE: &str = "AGON_AXE";

/// Says where the script is.
pub(crate) fn install() -> Result<PathBuf, Failure> {
    let folder = workspace::cache()?.join(format!("axe-core-{VERSION}"));
    let script = folder.join("package/axe.min.js");
    if script.exists() {
        return Ok(script);
    }
    debian::install(&[NPM])?;
    step("fetch axe-core", || {
        fs::create_dir_all(&folder).trying("make a folder for axe-core")?;
        let package = format!("axe-core@{VERSION}");
        let mut pack = Command::new("npm");
        pack.args(["pack", "--silent", &package])
            .current_dir(&folder);
        succeed(&mut pack)?;
        let archive = format!("axe-core-{VERSION}.tgz");
        let mut unpack = Command::new("tar");
        unpack
            .args(["-xzf", &archive, "package/axe.min.js"])
            .current_dir(&folder);
        succeed(&mut unpack)?;
        fs::write(
            folder.join("SHA256SUMS"),
            format!("{SHA256}  package/axe.min.js\n"),
        )
        .trying("write a checksum")?;
        let mut check = Command::new("sha256sum");
        check
            .args(["--check", "--quiet", "SHA256SUMS"])
            .current_dir(&folder);
        let right = succeed(&mut check);
        if right.is_err() {
            fs::remove_file(&script).trying("remove a wrong axe-core")?;
        }
        right
    })?;
    Ok(script)
}
