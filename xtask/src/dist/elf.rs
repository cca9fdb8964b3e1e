//! What a program needs of the system that starts it, read from its ELF file: the libraries, and the
//! version of each symbol that it takes from them. Knows 64 bits and little endian alone.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use crate::failure::{Failure, Trying};

const SECTION_DYNAMIC: u32 = 6;
const SECTION_SYMBOLS: u32 = 11;
const SECTION_NEEDED_VERSIONS: u32 = 0x6fff_fffe;
const SECTION_SYMBOL_VERSIONS: u32 = 0x6fff_ffff;
const TAG_NEEDED: u64 = 1;
/// The highest bit only says that a symbol is hidden.
const VERSION_MASK: u16 = 0x7fff;

/// What a program needs, and what it still carries around.
#[derive(Debug)]
pub(super) struct Elf {
    /// Such as `libc.so.6`, in the order in which they are looked for.
    pub(super) libraries: Vec<String>,
    /// The names of its sections, such as `.debug_line`.
    pub(super) sections: Vec<String>,
    symbols: Vec<Symbol>,
}

/// A symbol of another library.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Symbol {
    version: String,
    name: String,
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.name, self.version)
    }
}

impl Elf {
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let what = format!("read {}", path.display());
        let bytes = std::fs::read(path).trying(&what)?;
        Self::parse(&bytes)
            .ok_or("it is no whole ELF file of 64 bits")
            .trying(what)
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let file = Bytes(bytes);
        let sections = Section::all(&file)?;
        let versions = needed_versions(&file, &sections)?;
        Some(Self {
            libraries: libraries(&file, &sections)?,
            symbols: symbols(&file, &sections, &versions)?,
            sections: sections
                .into_iter()
                .map(|section| section.name.to_owned())
                .collect(),
        })
    }

    /// Symbols of the C library that a system with the version `limit` does not have.
    pub(super) fn newer_than(&self, limit: &[u32]) -> Vec<&Symbol> {
        let newer = |symbol: &&Symbol| {
            symbol
                .version
                .strip_prefix("GLIBC_")
                // One that is no number, such as `PRIVATE` or `ABI_DT_RELR`, is bound to some release.
                .is_some_and(|number| numbers(number).is_none_or(|number| *number > *limit))
        };
        self.symbols.iter().filter(newer).collect()
    }

    /// The newest version of the C library that a symbol asks for.
    pub(super) fn newest(&self) -> Option<String> {
        let known = self.symbols.iter().filter_map(|symbol| {
            let number = symbol.version.strip_prefix("GLIBC_")?;
            Some((numbers(number)?, number))
        });
        known.max().map(|(_, number)| number.to_owned())
    }

    /// Whether it has nothing that only debuggers read.
    pub(super) fn is_stripped(&self) -> bool {
        !self.has_debug_info() && !self.sections.iter().any(|name| name == ".symtab")
    }

    /// Not just any `.debug_`: `.debug_gdb_scripts` is part of the program and stays.
    pub(super) fn has_debug_info(&self) -> bool {
        let info = [".debug_info", ".debug_line"];
        self.sections
            .iter()
            .any(|name| info.contains(&name.as_str()))
    }
}

fn numbers(version: &str) -> Option<Vec<u32>> {
    version.split('.').map(|part| part.parse().ok()).collect()
}

/// A file whose numbers may lie.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn array<const LENGTH: usize>(&self, at: u64) -> Option<[u8; LENGTH]> {
        let at = usize::try_from(at).ok()?;
        let end = at.checked_add(LENGTH)?;
        self.0.get(at..end)?.try_into().ok()
    }

    fn u16(&self, at: u64) -> Option<u16> {
        self.array(at).map(u16::from_le_bytes)
    }

    fn u32(&self, at: u64) -> Option<u32> {
        self.array(at).map(u32::from_le_bytes)
    }

    fn u64(&self, at: u64) -> Option<u64> {
        self.array(at).map(u64::from_le_bytes)
    }

    /// The text that begins there and ends before the next zero.
    fn text(&self, at: u64) -> Option<&'a str> {
        let rest = self.0.get(usize::try_from(at).ok()?..)?;
        let end = rest.iter().position(|byte| *byte == 0)?;
        std::str::from_utf8(&rest[..end]).ok()
    }
}

struct Section<'a> {
    name: &'a str,
    kind: u32,
    offset: u64,
    size: u64,
    /// The section that holds the names of this one's entries.
    link: u32,
    info: u32,
}

impl<'a> Section<'a> {
    fn all(file: &Bytes<'a>) -> Option<Vec<Self>> {
        if file.array(0)? != *b"\x7fELF\x02\x01" {
            return None;
        }
        let (table, size) = (file.u64(0x28)?, u64::from(file.u16(0x3a)?));
        let (count, names) = (u64::from(file.u16(0x3c)?), u64::from(file.u16(0x3e)?));
        let header = |index: u64| table.checked_add(index.checked_mul(size)?);
        let names = file.u64(header(names)?.checked_add(0x18)?)?;
        (0..count)
            .map(|index| {
                let at = header(index)?;
                Some(Self {
                    name: file.text(names.checked_add(u64::from(file.u32(at)?))?)?,
                    kind: file.u32(at.checked_add(0x04)?)?,
                    offset: file.u64(at.checked_add(0x18)?)?,
                    size: file.u64(at.checked_add(0x20)?)?,
                    link: file.u32(at.checked_add(0x28)?)?,
                    info: file.u32(at.checked_add(0x2c)?)?,
                })
            })
            .collect()
    }

    /// Where its entries of `size` bytes begin.
    fn entries(&self, size: u64) -> impl Iterator<Item = u64> {
        let offset = self.offset;
        (0..self.size / size).filter_map(move |index| offset.checked_add(index * size))
    }

    /// A text of the section that holds its names.
    fn text(&self, file: &Bytes<'a>, sections: &[Self], at: u64) -> Option<&'a str> {
        let names = sections.get(usize::try_from(self.link).ok()?)?;
        file.text(names.offset.checked_add(at)?)
    }
}

fn find<'s, 'a>(sections: &'s [Section<'a>], kind: u32) -> Option<&'s Section<'a>> {
    sections.iter().find(|section| section.kind == kind)
}

fn libraries(file: &Bytes<'_>, sections: &[Section<'_>]) -> Option<Vec<String>> {
    let Some(dynamic) = find(sections, SECTION_DYNAMIC) else {
        return Some(Vec::new());
    };
    let mut libraries = Vec::new();
    for entry in dynamic.entries(16) {
        if file.u64(entry)? == TAG_NEEDED {
            let name = dynamic.text(file, sections, file.u64(entry.checked_add(8)?)?)?;
            libraries.push(name.to_owned());
        }
    }
    Some(libraries)
}

/// The versions that the program asks libraries for, by the number under which symbols refer to them.
fn needed_versions(file: &Bytes<'_>, sections: &[Section<'_>]) -> Option<BTreeMap<u16, String>> {
    let mut versions = BTreeMap::new();
    let Some(section) = find(sections, SECTION_NEEDED_VERSIONS) else {
        return Some(versions);
    };
    let mut library = section.offset;
    for _ in 0..section.info {
        let mut version = library.checked_add(u64::from(file.u32(library.checked_add(8)?)?))?;
        for _ in 0..file.u16(library.checked_add(2)?)? {
            let number = file.u16(version.checked_add(6)?)?;
            let name = u64::from(file.u32(version.checked_add(8)?)?);
            versions.insert(
                number & VERSION_MASK,
                section.text(file, sections, name)?.to_owned(),
            );
            match file.u32(version.checked_add(12)?)? {
                0 => break,
                next => version = version.checked_add(u64::from(next))?,
            }
        }
        match file.u32(library.checked_add(12)?)? {
            0 => break,
            next => library = library.checked_add(u64::from(next))?,
        }
    }
    Some(versions)
}

/// Every symbol with a version. A version that no symbol has is there as well, because the loader asks for
/// it all the same.
fn symbols(
    file: &Bytes<'_>,
    sections: &[Section<'_>],
    versions: &BTreeMap<u16, String>,
) -> Option<Vec<Symbol>> {
    let mut unnamed = versions.clone();
    let mut symbols = Vec::new();
    if let (Some(table), Some(numbers)) = (
        find(sections, SECTION_SYMBOLS),
        find(sections, SECTION_SYMBOL_VERSIONS),
    ) {
        for (entry, number) in table.entries(24).zip(numbers.entries(2)) {
            let number = file.u16(number)? & VERSION_MASK;
            if let Some(version) = versions.get(&number) {
                unnamed.remove(&number);
                let name = table.text(file, sections, u64::from(file.u32(entry)?))?;
                symbols.push(Symbol {
                    version: version.clone(),
                    name: name.to_owned(),
                });
            }
        }
    }
    symbols.extend(unnamed.into_values().map(|version| Symbol {
        version,
        name: "(no symbol)".to_owned(),
    }));
    symbols.sort();
    Some(symbols)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The program of this test: whatever it is started on, it takes symbols from a C library.
    fn own() -> Vec<u8> {
        std::fs::read(std::env::current_exe().unwrap()).unwrap()
    }

    #[test]
    fn a_program_says_what_it_needs() {
        let elf = Elf::parse(&own()).unwrap();
        assert!(
            elf.libraries.iter().any(|name| name == "libc.so.6"),
            "{:?}",
            elf.libraries
        );
        assert!(elf.newest().is_some());
        let names: Vec<String> = elf.symbols.iter().map(Symbol::to_string).collect();
        assert!(
            names.iter().any(|name| name.starts_with("malloc@GLIBC_2.")),
            "{names:?}"
        );
        assert!(elf.sections.iter().any(|name| name == ".text"));
    }

    #[test]
    fn what_is_too_new_is_named() {
        let elf = Elf::parse(&own()).unwrap();
        assert_eq!(elf.newer_than(&[99]), Vec::<&Symbol>::new());
        let newer = elf.newer_than(&[2, 0]);
        assert!(newer.len() > 10, "{newer:?}");
        assert!(newer.iter().all(|symbol| symbol.version != "GCC_3.0"));
    }

    #[test]
    fn versions_are_numbers_and_not_words() {
        let elf = |version: &str| Elf {
            libraries: Vec::new(),
            sections: Vec::new(),
            symbols: vec![Symbol {
                version: version.to_owned(),
                name: "f".to_owned(),
            }],
        };
        for good in ["GLIBC_2.35", "GLIBC_2.3.4", "GLIBC_2.4", "GCC_14.0"] {
            assert!(elf(good).newer_than(&[2, 35]).is_empty(), "{good}");
        }
        for bad in [
            "GLIBC_2.36",
            "GLIBC_2.100",
            "GLIBC_2.35.1",
            "GLIBC_PRIVATE",
            "GLIBC_ABI_DT_RELR",
        ] {
            assert_eq!(elf(bad).newer_than(&[2, 35]).len(), 1, "{bad}");
        }
        assert_eq!(elf("GLIBC_2.4").newest().as_deref(), Some("2.4"));
    }

    #[test]
    fn a_broken_file_is_refused_wherever_it_is_cut_or_changed() {
        let whole = own();
        for bad in [
            &b""[..],
            b"\x7fELF",
            b"#!/bin/sh\n",
            &whole[..whole.len() / 2],
        ] {
            assert!(Elf::parse(bad).is_none());
        }
        // Nothing to expect of these but an end.
        let mut broken = whole;
        for at in (0x20..0x40).chain(0x200..0x400) {
            let before = std::mem::replace(&mut broken[at], 0xff);
            let _ = Elf::parse(&broken);
            broken[at] = before;
        }
    }
}
