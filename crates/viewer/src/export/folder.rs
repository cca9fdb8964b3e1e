//! The folder that is written: new or empty, every file once, counted. Nothing is written outside of it, and
//! nothing through a link, whatever a place is called.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

use serde::Serialize;

use super::Exported;
use crate::error::ViewerError;

#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    written: Exported,
}

impl Folder {
    /// What is there already is not written over.
    pub(super) fn begin(path: &Path) -> Result<Self, ViewerError> {
        fs::create_dir_all(path).map_err(ViewerError::io("can't make", path))?;
        let mut entries = fs::read_dir(path).map_err(ViewerError::io("can't read", path))?;
        if entries.next().is_some() {
            return Err(ViewerError::BadRequest(format!(
                "{} is not empty: name a new folder",
                path.display()
            )));
        }
        Ok(Self {
            path: path.to_owned(),
            written: Exported { files: 0, bytes: 0 },
        })
    }

    pub(super) fn written(&self) -> Exported {
        self.written
    }

    /// `place`: below the folder. A file that is there was written before with the same content: pictures
    /// are named by theirs.
    pub(super) fn write(&mut self, place: &str, bytes: &[u8]) -> Result<(), ViewerError> {
        let mut parts = Path::new(place).components();
        if !parts.all(|part| matches!(part, Component::Normal(_))) {
            let why = format!("{} is no place in an export", agon_report::plain(place));
            return Err(ViewerError::Internal(why));
        }
        let path = self.path.join(place);
        let folder = path.parent().unwrap_or(&self.path);
        fs::create_dir_all(folder).map_err(ViewerError::io("can't make", folder))?;
        let file = match File::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
            file => file,
        };
        file.and_then(|mut file| file.write_all(bytes))
            .map_err(ViewerError::io("can't write", &path))?;
        self.written.files += 1;
        self.written.bytes += bytes.len() as u64;
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
    fn data_is_a_script_that_names_itself() {
        let root = tempfile::tempdir().unwrap();
        let mut folder = Folder::begin(&root.path().join("site")).unwrap();
        let value = json!({"__proto__": ["x\u{2028}\"y\\"]});
        folder.data("runs/a/trials", &value).unwrap();
        let text = fs::read_to_string(root.path().join("site/runs/a/trials.js")).unwrap();
        let expected = r#"agonData("runs/a/trials","{\"__proto__\":[\"x\u2028\\\"y\\\\\"]}");"#;
        assert_eq!(text.trim_end(), expected);
        assert_eq!(folder.written().files, 1);
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
        assert_eq!(folder.written().files, 0);
        assert!(!root.path().join("a").exists());
    }

    #[test]
    fn what_is_there_is_kept_and_counted_once() {
        let root = tempfile::tempdir().unwrap();
        let mut folder = Folder::begin(&root.path().join("site")).unwrap();
        folder.write("blobs/a.img", b"picture").unwrap();
        folder.write("blobs/a.img", b"picture").unwrap();
        assert_eq!(folder.written(), Exported { files: 1, bytes: 7 });
    }
}
