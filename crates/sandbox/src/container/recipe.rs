//! Images made from a folder that has a Dockerfile, as other systems' tasks bring them. The folder is sent
//! to the engine as it is; links in it are sent as links, so that nothing outside of it is.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::time::Duration;

use bollard::query_parameters::BuildImageOptions;
use futures_util::StreamExt;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::files::pieces;
use super::images::{Images, not_made};
use crate::error::SandboxError;

/// Most bytes of a folder.
const MOST_BYTES: u64 = 1 << 30;
/// Most files and folders in it.
const MOST_ENTRIES: usize = 100_000;
/// How many lines of a build are told when it fails.
const LAST_LINES: usize = 8;

/// How an image is made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe {
    /// What the image is called, with its version behind a colon.
    pub tag: String,
    /// Holds the Dockerfile.
    pub folder: PathBuf,
    /// The whole build.
    pub within: Duration,
}

/// What became of a recipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Made {
    /// The engine had an image of that tag.
    Before,
    Now,
}

impl Images {
    /// Makes the image of a recipe unless the engine has one of its tag: a tag names the digest of what it
    /// was made from. Lines of the build go to `progress`.
    pub async fn ensure(
        &self,
        recipe: &Recipe,
        progress: impl FnMut(&str),
    ) -> Result<Made, SandboxError> {
        if self.labels(&recipe.tag).await?.is_some() {
            return Ok(Made::Before);
        }
        match timeout(recipe.within, self.make(recipe, progress)).await {
            Ok(made) => made.map(|()| Made::Now),
            Err(_) => Err(SandboxError::Timeout {
                what: "building an image",
                seconds: recipe.within.as_secs_f64(),
            }),
        }
    }

    async fn make(
        &self,
        recipe: &Recipe,
        mut progress: impl FnMut(&str),
    ) -> Result<(), SandboxError> {
        let folder = recipe.folder.clone();
        let packed = spawn_blocking(move || pack(&folder)).await;
        let packed = packed
            .map_err(io::Error::other)
            .and_then(|packed| packed)
            .map_err(SandboxError::io(format!(
                "the folder {} of an image can't be read",
                recipe.folder.display()
            )))?;
        let options = BuildImageOptions {
            dockerfile: "Dockerfile".to_owned(),
            t: Some(recipe.tag.clone()),
            rm: true,
            forcerm: true,
            labels: Some(HashMap::new()),
            ..BuildImageOptions::default()
        };
        let body = bollard::body_try_stream(pieces(packed));
        let mut last = Vec::new();
        let mut answers = Box::pin(self.docker.build_image(options, None, Some(body)));
        while let Some(answer) = answers.next().await {
            let answer = answer.map_err(|error| {
                let said = last.join("\n");
                match not_made(&recipe.tag, error) {
                    SandboxError::Start(why) => SandboxError::Start(format!("{why}\n{said}")),
                    other => other,
                }
            })?;
            let said = answer.stream.iter().chain(&answer.status);
            for line in said.flat_map(|text| text.lines()) {
                if last.len() == LAST_LINES {
                    last.remove(0);
                }
                last.push(line.chars().take(500).collect::<String>());
                progress(line);
            }
        }
        Ok(())
    }
}

/// The folder as tar, in order of name: the same folder is always the same archive, so that the engine
/// finds its layers again.
fn pack(folder: &Path) -> io::Result<File> {
    let mut builder = tar::Builder::new(BufWriter::new(tempfile::tempfile()?));
    builder.follow_symlinks(false);
    builder.mode(tar::HeaderMode::Deterministic);
    let (mut bytes, mut entries) = (0_u64, 0_usize);
    let mut waiting = vec![PathBuf::new()];
    while let Some(inside) = waiting.pop() {
        let mut names = fs::read_dir(folder.join(&inside))?
            .map(|entry| entry.map(|entry| entry.file_name()))
            .collect::<io::Result<Vec<_>>>()?;
        names.sort_unstable();
        for name in names {
            let path = inside.join(name);
            let full = folder.join(&path);
            let about = full.symlink_metadata()?;
            entries += 1;
            bytes = bytes.saturating_add(about.len());
            if entries > MOST_ENTRIES || bytes > MOST_BYTES {
                return Err(io::Error::other(format!(
                    "it is larger than {MOST_BYTES} bytes or {MOST_ENTRIES} files"
                )));
            }
            if about.is_dir() {
                builder.append_dir(&path, &full)?;
                waiting.push(path);
            } else if about.is_file() || about.is_symlink() {
                builder.append_path_with_name(&full, &path)?;
            }
        }
    }
    let mut file = builder
        .into_inner()?
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    io::Seek::rewind(&mut file)?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::symlink;

    use super::*;

    fn packed(folder: &Path) -> Vec<u8> {
        let mut bytes = Vec::new();
        pack(folder).unwrap().read_to_end(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_folder_is_packed_with_links_as_links_and_always_the_same() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("b")).unwrap();
        fs::write(folder.path().join("b/inner"), "x").unwrap();
        fs::write(folder.path().join("Dockerfile"), "FROM scratch\n").unwrap();
        symlink("/etc/passwd", folder.path().join("link")).unwrap();
        let bytes = packed(folder.path());
        assert_eq!(bytes, packed(folder.path()));
        let mut archive = tar::Archive::new(&bytes[..]);
        let entries: Vec<_> = archive
            .entries()
            .unwrap()
            .map(|entry| {
                let entry = entry.unwrap();
                let path = entry.path().unwrap().display().to_string();
                (path, entry.header().entry_type())
            })
            .collect();
        let expected = [
            ("Dockerfile", tar::EntryType::Regular),
            ("b", tar::EntryType::Directory),
            ("link", tar::EntryType::Symlink),
            ("b/inner", tar::EntryType::Regular),
        ];
        let expected = expected.map(|(path, kind)| (path.to_owned(), kind));
        assert_eq!(entries, expected);
    }
}
