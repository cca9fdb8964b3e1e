//! As whom the programs of a container run: its root, or the owner of the folder that it works in.

use std::fmt;
use std::path::Path;

use bollard::Docker;

use super::engine::failed;
use crate::contract::{WORK, WORKSPACE};
use crate::error::SandboxError;
use crate::hidden::{Hidden, Seen};
use crate::mounted::Mounted;

/// Where a folder of the host is seen.
pub(super) const PLACES: [&str; 2] = [WORK, WORKSPACE];

#[derive(Debug, Clone, Default)]
pub(super) struct RunAs {
    /// As numbered inside.
    pub(super) user: u32,
    pub(super) group: u32,
    /// The folder that it is about.
    pub(super) work: Option<Mounted>,
    /// What must not be seen of it.
    pub(super) covers: Vec<Seen>,
    /// Numbers must mean the same inside as outside, though the engine would have them differ.
    pub(super) real_users: bool,
}

impl RunAs {
    pub(super) async fn of(
        work: Option<&Path>,
        hidden: &Hidden,
        docker: &Docker,
    ) -> Result<Self, SandboxError> {
        let Some(work) = work.map(Mounted::new).transpose()? else {
            return Ok(Self::default());
        };
        let info = docker
            .info()
            .await
            .map_err(failed("could not ask the container engine about users"))?;
        let options = info.security_options.unwrap_or_default();
        let has = |name: &str| options.iter().any(|option| names(option, name));
        // The engine of an ordinary user gives that user the number of root inside.
        let (user, group) = match has("rootless") {
            true => (0, 0),
            false => (work.user, work.group),
        };
        Ok(Self {
            user,
            group,
            covers: PLACES
                .iter()
                .flat_map(|inside| hidden.within_reach_of(&work, Path::new(inside)))
                .collect(),
            work: Some(work),
            real_users: has("userns"),
        })
    }

    pub(super) fn is_root(&self) -> bool {
        self.user == 0
    }
}

/// `name=rootless`, or `name=seccomp,profile=builtin`.
fn names(option: &str, name: &str) -> bool {
    option
        .split(',')
        .any(|part| part.strip_prefix("name=") == Some(name))
}

impl fmt::Display for RunAs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.user, self.group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_names() {
        assert!(names("name=rootless", "rootless"));
        assert!(names("name=userns,x=y", "userns"));
        assert!(!names("name=seccomp,profile=userns", "userns"));
    }
}
