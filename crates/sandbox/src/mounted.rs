//! A folder of the host that is the working folder of a sandbox: whose it is, and so as whom the
//! sandbox runs. Knows neither bubblewrap nor containers.
//!
//! Its owner is whom everybody inside runs as, without any capability: so what they make belongs to
//! the owner, and what the owner may not touch they may not either. Of the host they reach nothing
//! but this folder, which is not limited in size, though a single file in it is. The name alone gives
//! a process more than a stranger has:
//! - Owners may set the set-user-id bit of their files. Inside it means nothing; outside, others who
//!   run such a file act for the owner. A folder that others can enter is the owner's own risk.
//! - Sockets without a file belong to a network, not to a folder: with the host's network, services
//!   would take whoever is inside for the owner. Where that is root, it is refused.
//! - Switches of the kernel below `/proc` ask only for root's name: where that is the owner, nothing
//!   in `/proc` can be written.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use agon_core::Environment;
use agon_core::environment::Network;

use crate::error::SandboxError;

/// Folders that are no files of anybody, with everything below them.
const NO_FILES: [&str; 3] = ["/proc", "/sys", "/dev"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mounted {
    /// Absolute, without links.
    pub(crate) folder: PathBuf,
    pub(crate) user: u32,
    pub(crate) group: u32,
}

impl Mounted {
    pub(crate) fn new(folder: &Path) -> Result<Self, SandboxError> {
        let refused = |why: &str| refused(folder, why);
        let real = folder
            .canonicalize()
            .map_err(|error| refused(&error.to_string()))?;
        let about = real
            .metadata()
            .map_err(|error| refused(&error.to_string()))?;
        if !about.is_dir() {
            return Err(refused("it is no folder"));
        }
        if real.parent().is_none() || NO_FILES.iter().any(|root| real.starts_with(root)) {
            return Err(refused(
                "an agent must not have all of the machine: name a folder that holds only its work",
            ));
        }
        Ok(Self {
            folder: real,
            user: about.uid(),
            group: about.gid(),
        })
    }

    pub(crate) fn is_roots(&self) -> bool {
        self.user == 0
    }

    /// What sandboxes are made of may belong to the same owner, and must be out of reach.
    pub(crate) fn must_not_hold(&self, parts: &Path) -> Result<(), SandboxError> {
        if parts.starts_with(&self.folder) {
            return Err(refused(
                &self.folder,
                "it is where sandboxes are made: work in a folder below it",
            ));
        }
        Ok(())
    }

    /// Whether the host's network would make too much of the owner's name.
    pub(crate) fn must_suit(&self, environment: &Environment) -> Result<(), SandboxError> {
        if self.is_roots() && environment.network == Network::Open {
            return Err(SandboxError::Missing(format!(
                "{} belongs to root, whose name must not meet the open network of the machine: give \
                 the folder to another user (`chown`), leave the network closed, or use a container",
                self.folder.display()
            )));
        }
        Ok(())
    }
}

fn refused(folder: &Path, why: &str) -> SandboxError {
    SandboxError::Missing(format!("cannot work in {}: {why}", folder.display()))
}

#[cfg(test)]
mod tests {
    use agon_core::EnvironmentKind;

    use super::*;

    #[test]
    fn only_a_folder_of_somebodys_files_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let about = folder.path().metadata().unwrap();
        let mounted = Mounted::new(folder.path()).unwrap();
        assert_eq!((mounted.user, mounted.group), (about.uid(), about.gid()));
        for bad in [
            file.as_path(),
            Path::new("/"),
            Path::new("/proc/self/fd"),
            Path::new("/dev"),
            Path::new("/no/such/folder"),
        ] {
            assert!(Mounted::new(bad).is_err(), "{}", bad.display());
        }
    }

    #[test]
    fn root_does_not_meet_the_network() {
        let of = |user| Mounted {
            folder: "/x".into(),
            user,
            group: user,
        };
        let mut environment = Environment::of_kind(EnvironmentKind::Local);
        assert!(of(0).must_suit(&environment).is_ok());
        environment.network = Network::Open;
        assert!(of(0).must_suit(&environment).is_err());
        assert!(of(1000).must_suit(&environment).is_ok());
    }
}
