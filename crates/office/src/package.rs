//! The ZIP archive that most office files are. Its entries are unpacked into memory one by one, and only
//! so much of them: what a header says about sizes is not believed.

use std::io::{Cursor, Read};

use zip::ZipArchive;

use crate::deadline::Deadline;
use crate::error::OfficeError;
use crate::xml::{self, Element};

/// All that is unpacked of one file.
const UNPACKED: u64 = 256 << 20;
/// One part of it.
const PART: u64 = 64 << 20;
const ENTRIES: usize = 10_000;

#[derive(Debug)]
pub(crate) struct Package<'a> {
    archive: ZipArchive<Cursor<&'a [u8]>>,
    left: u64,
    deadline: Deadline,
}

impl<'a> Package<'a> {
    /// `None`: no archive at all.
    pub(crate) fn open(bytes: &'a [u8], deadline: Deadline) -> Result<Option<Self>, OfficeError> {
        if !bytes.starts_with(b"PK") {
            return Ok(None);
        }
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(OfficeError::damaged)?;
        if archive.len() > ENTRIES {
            return Err(OfficeError::TooLarge("it has too many entries"));
        }
        Ok(Some(Self {
            archive,
            left: UNPACKED,
            deadline,
        }))
    }

    pub(crate) const fn deadline(&self) -> Deadline {
        self.deadline
    }

    pub(crate) fn part(&mut self, name: &str) -> Result<Option<Vec<u8>>, OfficeError> {
        self.deadline.check()?;
        let Some(index) = self.archive.index_for_name(name) else {
            return Ok(None);
        };
        let entry = self.archive.by_index(index).map_err(OfficeError::damaged)?;
        let most = PART.min(self.left);
        let mut content = Vec::new();
        let read = entry.take(most + 1).read_to_end(&mut content);
        read.map_err(|error| OfficeError::damaged(format!("{name}: {error}")))?;
        let length = content.len() as u64;
        if length > most {
            return Err(OfficeError::TooLarge("it unpacks to too much"));
        }
        self.left -= length;
        Ok(Some(content))
    }

    /// A part that may be left out.
    pub(crate) fn xml(&mut self, name: &str) -> Result<Option<Element>, OfficeError> {
        let part = self.part(name)?;
        part.map(|content| xml::parse(&content, self.deadline))
            .transpose()
    }

    /// A part without which there is nothing to read.
    pub(crate) fn needed(&mut self, name: &str) -> Result<Element, OfficeError> {
        let part = self.xml(name)?;
        part.ok_or_else(|| OfficeError::damaged(format!("it has no {name}")))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn open(bytes: &[u8]) -> Result<Option<Package<'_>>, OfficeError> {
        Package::open(bytes, Deadline::later())
    }

    fn packed(parts: &[(&str, &[u8])]) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in parts {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(content).unwrap();
        }
        zip.finish().unwrap().into_inner()
    }

    #[test]
    fn a_bomb_is_not_unpacked() {
        let bomb = packed(&[("content.xml", &vec![b' '; PART as usize + 1])]);
        assert!(bomb.len() < 1 << 20, "{}", bomb.len());
        let mut package = open(&bomb).unwrap().unwrap();
        let read = package.part("content.xml");
        assert_eq!(read, Err(OfficeError::TooLarge("it unpacks to too much")));
    }

    #[test]
    fn many_parts_are_bounded_together() {
        let large = vec![b' '; PART as usize];
        let bomb = packed(&[("a", &large)]);
        let mut package = open(&bomb).unwrap().unwrap();
        for _ in 0..UNPACKED / PART {
            assert!(package.part("a").is_ok());
        }
        assert!(package.part("a").is_err());
    }

    #[test]
    fn too_many_entries_are_refused() {
        let names: Vec<String> = (0..=ENTRIES).map(|n| n.to_string()).collect();
        let parts: Vec<_> = names.iter().map(|name| (name.as_str(), &b""[..])).collect();
        assert!(matches!(
            open(&packed(&parts)),
            Err(OfficeError::TooLarge(_))
        ));
    }

    #[test]
    fn what_is_no_archive_is_none() {
        assert!(open(b"a,b\n").unwrap().is_none());
        assert!(open(b"PK but nothing else").is_err());
    }
}
