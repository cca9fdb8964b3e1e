//! Where the working folder of a container is: `/work`, or the folder that the task names. Everybody else
//! says [`WORK`] and means this.

use std::path::{Component, Path};

use crate::contract::{Request, WORK};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Folder(String);

impl Folder {
    /// A mounted folder has its own place. The root is nobody's working folder: nothing could take it, or
    /// put it back.
    pub(super) fn of(request: &Request) -> Self {
        let named = request.environment.cwd.as_deref();
        match named.filter(|_| request.work.is_none()) {
            Some(named) => Self::named(named),
            None => Self(WORK.to_owned()),
        }
    }

    fn named(path: &str) -> Self {
        let mut folder = String::new();
        for part in Path::new(path).components() {
            if let Component::Normal(name) = part {
                folder.push('/');
                folder.push_str(&name.to_string_lossy());
            }
        }
        match folder.is_empty() {
            true => Self(WORK.to_owned()),
            false => Self(folder),
        }
    }

    pub(super) fn path(&self) -> &str {
        &self.0
    }

    /// What a file is called: relative names start here.
    pub(super) fn absolute(&self, path: &str) -> String {
        match path.starts_with('/') {
            true => path.to_owned(),
            false => format!("{}/{path}", self.0),
        }
    }

    /// The place that the harness means, who calls every working folder [`WORK`].
    pub(super) fn place(&self, path: &str) -> String {
        match path.strip_prefix(WORK) {
            Some("") => self.0.clone(),
            Some(below) if below.starts_with('/') => format!("{}{below}", self.0),
            _ => self.absolute(path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_working_folder_is_the_one_that_is_named() {
        let folder = Folder::named("/testbed//repo/");
        assert_eq!(folder.path(), "/testbed/repo");
        assert_eq!(folder.place("/work"), "/testbed/repo");
        assert_eq!(folder.place("/work/a/b"), "/testbed/repo/a/b");
        assert_eq!(folder.place("/workspace"), "/workspace");
        assert_eq!(folder.place("/tmp"), "/tmp");
        assert_eq!(folder.place("a"), "/testbed/repo/a");
        assert_eq!(folder.absolute("a/b"), "/testbed/repo/a/b");
        assert_eq!(
            folder.absolute("/work/a"),
            "/work/a",
            "an agent means what it says"
        );
    }

    #[test]
    fn the_root_is_no_working_folder() {
        for root in ["/", "//", "/."] {
            assert_eq!(Folder::named(root).path(), WORK);
        }
    }
}
