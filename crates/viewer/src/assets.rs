//! Style sheets and scripts, which are part of the program. Their addresses hold a digest of all of them,
//! so that browsers can keep them for ever. A new file of `assets/` gets a line in the table.

use std::sync::LazyLock;

use agon_core::Digest;

#[derive(Debug)]
pub(crate) struct Asset {
    pub(crate) name: &'static str,
    pub(crate) bytes: &'static [u8],
}

macro_rules! embedded {
    ($($name:literal),* $(,)?) => {
        &[$(Asset { name: $name, bytes: include_bytes!(concat!("../assets/", $name)) }),*]
    };
}

pub(crate) const ALL: &[Asset] = embedded![
    "axis.js",
    "base.css",
    "blocks.js",
    "checks.js",
    "compare.css",
    "compare.js",
    "compare_static.js",
    "difference.js",
    "dom.js",
    "filters.js",
    "finder.js",
    "format.js",
    "ink.js",
    "keys.js",
    "live.css",
    "live.js",
    "moment.js",
    "overlay.js",
    "panel.js",
    "picture.js",
    "player.js",
    "prediction.js",
    "query.js",
    "review.js",
    "rows.js",
    "run.css",
    "run.js",
    "runs.js",
    "sidebyside.js",
    "source.js",
    "source_static.js",
    "splitter.js",
    "stage.js",
    "step.js",
    "stopping.js",
    "talk.js",
    "theme.js",
    "timeline.js",
    "times.js",
    "transcript.js",
    "trial.css",
    "trial.js",
    "trialfeed.js",
    "trialhead.js",
    "trialkeys.js",
    "trials_static.js",
    "trialtable.js",
    "who.js",
];

/// Of all of them: a module names the others by their names alone.
static DIGEST: LazyLock<String> = LazyLock::new(|| {
    let parts = ALL
        .iter()
        .flat_map(|asset| [asset.name.as_bytes(), asset.bytes]);
    Digest::of_parts(parts).short()
});

/// Where they are, without a slash at the end.
pub(crate) fn base() -> String {
    format!("/assets/{}", *DIGEST)
}

/// One of them, as long as the digest is that of this program.
pub(crate) fn find(digest: &str, name: &str) -> Option<&'static Asset> {
    ALL.iter()
        .find(|asset| digest == *DIGEST && asset.name == name)
}

impl Asset {
    pub(crate) fn content_type(&self) -> &'static str {
        match self.name.rsplit_once('.') {
            Some((_, "js")) => "text/javascript; charset=utf-8",
            Some((_, "css")) => "text/css; charset=utf-8",
            Some((_, "svg")) => "image/svg+xml",
            _ => "application/octet-stream",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Modules are bundled into one script for runs that are shared as files.
    #[test]
    fn every_file_of_the_folder_is_part_of_the_program() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/assets");
        let mut files: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        files.sort();
        let names: Vec<&str> = ALL.iter().map(|asset| asset.name).collect();
        assert_eq!(names, files);
    }

    #[test]
    fn an_asset_of_another_program_is_not_found() {
        let base = base();
        let digest = base.rsplit('/').next().unwrap();
        assert_eq!(find(digest, "dom.js").unwrap().name, "dom.js");
        assert!(find("000000000000", "dom.js").is_none());
        assert!(find(digest, "../src/lib.rs").is_none());
    }
}
