//! The pictures that a data file names: they must lie below its folder of pictures, and be what they seem.

use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use agon_core::Digest;
use agon_llm::picture::look;

use crate::item::ImageFile;

/// No picture of a screen is larger.
const MOST_BYTES: u64 = 32 << 20;

pub(super) fn open(folder: &Path, name: &str) -> Result<ImageFile, String> {
    let path = inside(folder, name)?;
    let content = bytes(&path)?;
    let (media, width, height) =
        look(&content).ok_or_else(|| format!("{} is no PNG, JPEG, WebP or GIF", path.display()))?;
    Ok(ImageFile {
        media,
        width,
        height,
        bytes: content.len() as u64,
        digest: Digest::of(&content),
        path,
    })
}

/// What a picture holds, if it can be one.
pub(crate) fn bytes(path: &Path) -> Result<Vec<u8>, String> {
    let unread = |error: std::io::Error| format!("{}: {error}", path.display());
    // A pipe would be waited for.
    if !fs::metadata(path).map_err(unread)?.is_file() {
        return Err(format!("{} is no file", path.display()));
    }
    let mut content = Vec::new();
    let file = fs::File::open(path).map_err(unread)?;
    file.take(MOST_BYTES + 1)
        .read_to_end(&mut content)
        .map_err(unread)?;
    if content.len() as u64 > MOST_BYTES {
        return Err(format!("{} is larger than 32 MiB", path.display()));
    }
    Ok(content)
}

/// Data files come from others: they may not name files elsewhere, to be sent to a service.
fn inside(folder: &Path, name: &str) -> Result<PathBuf, String> {
    let relative = Path::new(name);
    let plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    let outside = || format!("the picture `{name}` is not below {}", folder.display());
    if !relative.components().all(plain) {
        return Err(outside());
    }
    let path = folder.join(relative);
    let missing = |error: std::io::Error| format!("{}: {error}", path.display());
    let real = path.canonicalize().map_err(missing)?;
    let root = folder
        .canonicalize()
        .map_err(|error| format!("{}: {error}", folder.display()))?;
    if real.starts_with(&root) {
        Ok(real)
    } else {
        Err(outside())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_elsewhere_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("images");
        fs::create_dir(&root).unwrap();
        fs::write(folder.path().join("secret"), "x").unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret"), root.join("link")).unwrap();
        for name in ["../secret", "/etc/passwd", "link", "a/../../secret"] {
            let refused = open(&root, name).unwrap_err();
            assert!(refused.contains("is not below"), "{refused}");
        }
        assert!(open(&root, "none.png").unwrap_err().contains("none.png"));
    }
}
