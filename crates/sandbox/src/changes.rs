//! What was changed in a container beside its working folder: a tar file in a temporary place, written by a
//! sandbox, laid over a fresh one, kept by the store. Its content is hostile: it is listed and passed on,
//! never unpacked on the host. What it holds below `laid/` is data; what stands below `installed/` lies where
//! programs are looked for, and comes only to checks that name something of it.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};

use serde::{Deserialize, Serialize};
use tempfile::{NamedTempFile, TempPath};

/// What the folders of the archive are called.
pub(crate) const LAID: &str = "laid";
pub(crate) const INSTALLED: &str = "installed";
/// The entry that describes it. No path of a container has this name here.
const ABOUT: &str = "about.json";
/// Most bytes of a description.
const LONGEST: u64 = 256 << 20;
/// How many programs of the image are named that were not taken.
const NAMED: usize = 20;

/// What can't be said by files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct About {
    /// Of the image's files, those that are no more. A folder that ends with `/` is emptied and stays.
    pub(crate) removed: Vec<String>,
    /// What was changed or removed of the image's own programs: a fresh container has them as they were.
    pub(crate) kept_back: Vec<String>,
    /// What stands below `installed/` is called by these names.
    pub(crate) names: Vec<String>,
    /// How many entries are known to be missing.
    pub(crate) left_out: u64,
    /// The files are here, too.
    pub(crate) whole: bool,
}

#[derive(Debug)]
pub struct Changes {
    path: TempPath,
    bytes: u64,
    about: About,
}

impl Changes {
    /// Reads what was written by [`Changes::write`] and kept meanwhile.
    pub fn open(path: TempPath) -> io::Result<Self> {
        let file = File::open(&path)?;
        let bytes = file.metadata()?.len();
        let mut archive = tar::Archive::new(BufReader::new(file));
        for entry in archive.entries_with_seek()? {
            let entry = entry?;
            if &*entry.path_bytes() == ABOUT.as_bytes() {
                let about = serde_json::from_reader(entry.take(LONGEST))?;
                return Ok(Self { path, bytes, about });
            }
        }
        Err(io::Error::other("it does not say what it is"))
    }

    /// Ends an archive of files with what they don't say.
    pub(crate) fn write(
        mut builder: tar::Builder<BufWriter<NamedTempFile>>,
        about: About,
    ) -> io::Result<Self> {
        let text = serde_json::to_vec(&about)?;
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, ABOUT, &text[..])?;
        let mut writer = builder.into_inner()?;
        writer.flush()?;
        let file = writer
            .into_inner()
            .map_err(io::IntoInnerError::into_error)?;
        let path = file.into_temp_path();
        let bytes = path.metadata()?.len();
        Ok(Self { path, bytes, about })
    }

    /// The same without any file, for a record that has no room for them.
    pub fn without_files(&self) -> io::Result<Self> {
        let about = About {
            whole: false,
            ..self.about.clone()
        };
        let file = BufWriter::new(NamedTempFile::new()?);
        Self::write(tar::Builder::new(file), about)
    }

    /// Whether its files are there.
    pub fn is_whole(&self) -> bool {
        self.about.whole
    }

    pub fn file(&self) -> io::Result<File> {
        File::open(&self.path)
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How many entries are known to be missing, because there was more than can be taken.
    pub fn left_out(&self) -> u64 {
        self.about.left_out
    }

    /// The image's own programs that were changed or removed, not more than a few of them.
    pub fn kept_back(&self) -> impl Iterator<Item = &str> {
        self.about.kept_back.iter().take(NAMED).map(String::as_str)
    }

    pub(crate) fn removed(&self) -> &[String] {
        &self.about.removed
    }

    /// Whether a check names something that was installed.
    pub(crate) fn is_named(&self, words: &Words) -> bool {
        let names = &mut self.about.names.iter();
        names.any(|name| words.0.contains(name))
    }
}

/// The words of a check: names of programs among them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Words(HashSet<String>);

impl Words {
    pub fn of(text: &str) -> Self {
        let mut words = Self::default();
        words.add(text);
        words
    }

    pub fn add(&mut self, text: &str) {
        let apart = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '+' | '.'));
        for word in text.split(apart) {
            let word = word.trim_matches('.');
            if !word.is_empty() {
                self.0.insert(word.to_owned());
                // A module's part, or the name of a script without its ending.
                self.0.extend(word.split('.').map(str::to_owned));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(about: About) -> Changes {
        let mut builder = tar::Builder::new(BufWriter::new(NamedTempFile::new().unwrap()));
        let mut header = tar::Header::new_gnu();
        header.set_size(1);
        header.set_mode(0o644);
        builder
            .append_data(&mut header, "laid/about.json", &b"x"[..])
            .unwrap();
        Changes::write(builder, about).unwrap()
    }

    #[test]
    fn what_is_kept_says_the_same_later() {
        let about = About {
            removed: vec!["/etc/motd".to_owned(), "/config/".to_owned()],
            kept_back: vec!["/usr/bin/wc".to_owned()],
            names: vec!["jq".to_owned()],
            left_out: 2,
            whole: true,
        };
        let changes = some(about.clone());
        let mut copy = NamedTempFile::new().unwrap();
        io::copy(&mut changes.file().unwrap(), &mut copy).unwrap();
        let again = Changes::open(copy.into_temp_path()).unwrap();
        assert_eq!(again.about, about);
        let without = again.without_files().unwrap();
        assert!(!without.is_whole() && without.bytes() < again.bytes());
        assert_eq!(without.removed(), again.removed());
    }

    #[test]
    fn an_archive_of_something_else_is_none() {
        let empty = tar::Builder::new(NamedTempFile::new().unwrap());
        let file = empty.into_inner().unwrap();
        assert!(Changes::open(file.into_temp_path()).is_err());
    }

    #[test]
    fn programs_are_named_in_commands_and_scripts() {
        let changes = some(About {
            names: vec!["convert".to_owned()],
            ..About::default()
        });
        for text in [
            "convert -version",
            "cd /a && /usr/bin/convert a.png b.png",
            "subprocess.run(['convert', '-version'])",
            "out=$(convert -version)|wc -l",
            "from convert.core import x",
        ] {
            assert!(changes.is_named(&Words::of(text)), "{text}");
        }
        for text in ["converted", "", "re-convert", "wc -l"] {
            assert!(!changes.is_named(&Words::of(text)), "{text}");
        }
    }
}
