//! The folder that is written: new or empty, every file once, counted. Nothing is written outside of it, and
//! nothing through a link, whatever a place is called. It has its name only when it is whole.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use super::Exported;
use crate::error::ViewerError;
use crate::library::is_run;
use crate::visible::plain;

/// What a folder is called until it is whole.
const UNFINISHED: &str = ".part";

#[derive(Debug)]
pub(super) struct Folder {
    /// What it will be.
    wanted: PathBuf,
    path: PathBuf,
    written: Exported,
    whole: bool,
}

impl Folder {
    /// What is there already is not written over, and nothing is written into a run.
    pub(super) fn begin(wanted: &Path) -> Result<Self, ViewerError> {
        let refused = |why: String| Err(ViewerError::BadRequest(why));
        let wanted = std::path::absolute(wanted).map_err(ViewerError::io("can't use", wanted))?;
        let there = wanted.ancestors().find_map(|path| path.canonicalize().ok());
        let there = there.unwrap_or_default();
        if let Some(run) = there.ancestors().find(|path| is_run(path)) {
            return refused(format!(
                "{} is in the run folder {}: name a folder outside of it",
                wanted.display(),
                run.display()
            ));
        }
        // By its own name where it is there: a link stays, and so does what is called `..`.
        let wanted = wanted.canonicalize().unwrap_or(wanted);
        let entries = fs::read_dir(&wanted).map(|mut entries| entries.next().is_some());
        match entries {
            Ok(false) => {}
            Ok(true) => {
                let wanted = wanted.display();
                return refused(format!("{wanted} is not empty: name a new folder"));
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(ViewerError::io("can't read", &wanted)(error)),
        }
        let (Some(around), Some(name)) = (wanted.parent(), wanted.file_name()) else {
            return refused(format!("{} can't be used: name a folder", wanted.display()));
        };
        fs::create_dir_all(around).map_err(ViewerError::io("can't make", around))?;
        let mut unfinished = name.to_owned();
        unfinished.push(UNFINISHED);
        let path = around.join(unfinished);
        match fs::create_dir(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => refused(format!(
                "{} is there already, of an export that goes on or never ended: remove it, or name another \
                 folder",
                path.display()
            )),
            made => {
                made.map_err(ViewerError::io("can't make", &path))?;
                Ok(Self {
                    wanted,
                    path,
                    written: Exported { files: 0, bytes: 0 },
                    whole: false,
                })
            }
        }
    }

    /// All of it is there: it gets its name.
    pub(super) fn finish(mut self) -> Result<Exported, ViewerError> {
        fs::rename(&self.path, &self.wanted)
            .map_err(ViewerError::io("can't make", &self.wanted))?;
        self.whole = true;
        Ok(self.written)
    }

    /// `place`: below the folder. A file that is there was written before with the same content: pictures
    /// are named by theirs.
    pub(super) fn write(&mut self, place: &str, bytes: &[u8]) -> Result<(), ViewerError> {
        self.copy(place, bytes)
    }

    /// The same of what is too large to be held.
    pub(super) fn copy(&mut self, place: &str, mut from: impl Read) -> Result<(), ViewerError> {
        let mut parts = Path::new(place).components();
        if !parts.all(|part| matches!(part, Component::Normal(_))) {
            let why = format!("{} is no place in an export", plain(place));
            return Err(ViewerError::Internal(why));
        }
        let path = self.path.join(place);
        let folder = path.parent().unwrap_or(&self.path);
        fs::create_dir_all(folder).map_err(ViewerError::io("can't make", folder))?;
        let file = match File::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
            file => file,
        };
        let bytes = file
            .and_then(|mut file| io::copy(&mut from, &mut file))
            .map_err(ViewerError::io("can't write", &path))?;
        self.written.files += 1;
        self.written.bytes += bytes;
        Ok(())
    }

    pub(super) fn page(&mut self, place: &str, html: &str) -> Result<(), ViewerError> {
        self.write(place, html.as_bytes())
    }

    /// A value as a script: a page that was opened from a disk may load nothing else. As a text within it,
    /// because names such as `__proto__` mean something else in a script than in JSON.
    pub(super) fn data(&mut self, name: &str, value: &impl Serialize) -> Result<(), ViewerError> {
        let odd = |error| ViewerError::Internal(format!("{name} can't be written: {error}"));
        let text = serde_json::to_string(value).map_err(odd)?;
        let call = serde_json::to_string(&(name, text)).map_err(odd)?;
        let arguments = call.trim_start_matches('[').trim_end_matches(']');
        // Both end a line in old scripts.
        let arguments = arguments
            .replace('\u{2028}', "\\u2028")
            .replace('\u{2029}', "\\u2029");
        let script = format!("agonData({arguments});\n");
        self.write(&format!("{name}.js"), script.as_bytes())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.whole {
            // What failed is told already.
            fs::remove_dir_all(&self.path).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_folder_with_something_in_it_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("thesis.tex"), "").unwrap();
        let refused = Folder::begin(root.path()).unwrap_err().to_string();
        assert!(refused.contains("not empty"), "{refused}");
    }

    #[test]
    fn it_has_its_name_only_when_it_is_whole() {
        let root = tempfile::tempdir().unwrap();
        let site = root.path().join("new/site");
        let begun = |files: usize| {
            let mut folder = Folder::begin(&site).unwrap();
            (0..files).for_each(|n| folder.write(&n.to_string(), b"x").unwrap());
            folder
        };
        let folder = begun(2);
        assert!(!site.exists());
        let second = Folder::begin(&site).unwrap_err().to_string();
        assert!(second.contains("site.part is there already"), "{second}");
        drop(folder);
        assert_eq!(fs::read_dir(root.path().join("new")).unwrap().count(), 0);
        // Also in the place of an empty one.
        fs::create_dir(&site).unwrap();
        begun(1).finish().unwrap();
        assert!(site.join("0").is_file());
        assert_eq!(fs::read_dir(root.path().join("new")).unwrap().count(), 1);
    }

    #[test]
    fn nothing_is_written_into_a_run() {
        let root = tempfile::tempdir().unwrap();
        let run = root.path().join("run");
        fs::create_dir(&run).unwrap();
        fs::write(run.join("run.json"), "{}").unwrap();
        std::os::unix::fs::symlink(&run, root.path().join("latest")).unwrap();
        for place in ["run", "run/site", "run/a/b", "latest/site"] {
            let refused = Folder::begin(&root.path().join(place)).unwrap_err();
            assert!(
                refused.to_string().contains("is in the run folder"),
                "{refused}"
            );
        }
        assert_eq!(fs::read_dir(&run).unwrap().count(), 1);
    }

    #[test]
    fn data_is_a_script_that_names_itself() {
        let root = tempfile::tempdir().unwrap();
        let mut folder = Folder::begin(&root.path().join("site")).unwrap();
        let value = json!({"__proto__": ["x\u{2028}\"y\\"]});
        folder.data("runs/a/trials", &value).unwrap();
        assert_eq!(folder.finish().unwrap().files, 1);
        let text = fs::read_to_string(root.path().join("site/runs/a/trials.js")).unwrap();
        let expected = r#"agonData("runs/a/trials","{\"__proto__\":[\"x\u2028\\\"y\\\\\"]}");"#;
        assert_eq!(text.trim_end(), expected);
    }

    #[test]
    fn nothing_is_written_outside_of_it() {
        let root = tempfile::tempdir().unwrap();
        let mut folder = Folder::begin(&root.path().join("site")).unwrap();
        for place in [
            "../a",
            "runs/../../a",
            "/tmp/agon-export",
            "runs/./../..",
            "",
        ] {
            folder.write(place, b"x").unwrap_err();
        }
        assert_eq!(folder.finish().unwrap().files, 0);
        assert!(!root.path().join("a").exists());
    }

    #[test]
    fn what_is_there_is_kept_and_counted_once() {
        let root = tempfile::tempdir().unwrap();
        let mut folder = Folder::begin(&root.path().join("site")).unwrap();
        folder.write("blobs/a.img", b"picture").unwrap();
        folder.write("blobs/a.img", b"picture").unwrap();
        assert_eq!(folder.finish().unwrap(), Exported { files: 1, bytes: 7 });
    }
}
