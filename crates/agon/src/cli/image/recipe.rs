//! What is in the image of a container desktop, and the digest by which one is known to be up to
//! date. The files are those of `images/desktop`, part of this program: no source tree is needed.

use std::collections::HashMap;

use agon_core::digest::{Digest, Hasher};
use agon_sandbox::container::ImageName;

/// The Debian that it is made of, by code name.
pub(super) const RELEASE: &str = "bookworm";
pub(super) const LABEL_KIND: &str = "agon.image";
const LABEL_RECIPE: &str = "agon.recipe";

const DOCKERFILE: &str = include_str!("../../../../../images/desktop/Dockerfile");
const PACKAGES: &str = include_str!("../../../../../images/desktop/packages");
const BROWSER: &str = include_str!("../../../../../images/desktop/packages-browser");
const OFFICE: &str = include_str!("../../../../../images/desktop/packages-office");
const EXCLUDES: &str = include_str!("../../../../../images/desktop/excludes");
const FINISH: &str = include_str!("../../../../../images/desktop/finish");

/// Variables of everything that runs in it; the Dockerfile has the same.
pub(super) const ENV: [(&str, &str); 4] = [
    ("LANG", "C.UTF-8"),
    ("DISPLAY", ":0"),
    ("NO_AT_BRIDGE", "1"),
    ("GSETTINGS_BACKEND", "keyfile"),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Packages,
    Registry,
}

/// What is in it beyond a screen, windows and small programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extras {
    None,
    Browser,
    /// Office programs, and a browser as well.
    Office,
}

impl Extras {
    /// How an image is called unless the user says otherwise.
    pub(super) fn tag(self) -> &'static str {
        match self {
            Self::None | Self::Browser => "agon-desktop:12",
            Self::Office => "agon-desktop-office:12",
        }
    }

    /// Names and contents of the package lists.
    fn lists(self) -> &'static [(&'static str, &'static str)] {
        const LISTS: [(&str, &str); 3] = [
            ("packages", PACKAGES),
            ("packages-browser", BROWSER),
            ("packages-office", OFFICE),
        ];
        match self {
            Self::None => &LISTS[..1],
            Self::Browser => &LISTS[..2],
            Self::Office => &LISTS,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Recipe {
    pub(super) source: Source,
    pub(super) extras: Extras,
}

impl Recipe {
    pub(super) fn packages(self) -> Vec<&'static str> {
        let lists = self.extras.lists().iter();
        lists.flat_map(|&(_, list)| entries(list)).collect()
    }

    /// Settings of dpkg.
    pub(super) fn excludes(self) -> impl Iterator<Item = &'static str> {
        entries(EXCLUDES)
    }

    /// Shell code that runs inside of the root file system in the end.
    pub(super) fn finish(self) -> &'static str {
        FINISH
    }

    /// Files for the engine to build from.
    pub(super) fn files(self) -> [(&'static str, &'static str); 6] {
        [
            ("Dockerfile", DOCKERFILE),
            ("packages", PACKAGES),
            ("packages-browser", BROWSER),
            ("packages-office", OFFICE),
            ("excludes", EXCLUDES),
            ("finish", FINISH),
        ]
    }

    pub(super) fn arguments(self) -> HashMap<String, String> {
        let names: Vec<&str> = self.extras.lists().iter().map(|&(name, _)| name).collect();
        HashMap::from([("LISTS".to_owned(), names.join(" "))])
    }

    pub(super) fn name(self, tag: &str) -> ImageName {
        let labels = [
            (LABEL_KIND, "desktop".to_owned()),
            (LABEL_RECIPE, self.digest().to_hex()),
        ];
        ImageName {
            tag: tag.to_owned(),
            labels: HashMap::from(labels.map(|(key, value)| (key.to_owned(), value))),
        }
    }

    /// Whether an image with these labels was made by this recipe.
    pub(super) fn made(self, labels: &HashMap<String, String>) -> bool {
        labels.get(LABEL_RECIPE) == Some(&self.digest().to_hex())
    }

    /// Of all that goes into it, but for the versions of packages, which only a mirror knows.
    fn digest(self) -> Digest {
        let source: &[&str] = match self.source {
            Source::Packages => &["packages", RELEASE],
            Source::Registry => &["registry", DOCKERFILE],
        };
        let env = ENV.iter().flat_map(|&(key, value)| [key, value]);
        let mut hasher = Hasher::default();
        let parts = source.iter().copied().chain(self.packages());
        for part in parts.chain(self.excludes()).chain(env) {
            hasher.part(part.as_bytes());
        }
        hasher.part(FINISH.as_bytes());
        hasher.finish()
    }
}

/// Lines without comments.
fn entries(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.lines()
        .map(|line| line.split('#').next().unwrap_or_default().trim())
        .filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECIPES: [Recipe; 6] = [
        recipe(Source::Packages, Extras::None),
        recipe(Source::Packages, Extras::Browser),
        recipe(Source::Packages, Extras::Office),
        recipe(Source::Registry, Extras::None),
        recipe(Source::Registry, Extras::Browser),
        recipe(Source::Registry, Extras::Office),
    ];

    const fn recipe(source: Source, extras: Extras) -> Recipe {
        Recipe { source, extras }
    }

    #[test]
    fn lists_hold_package_names_and_nothing_else() {
        for recipe in RECIPES {
            let packages = recipe.packages();
            for needed in ["xvfb", "openbox", "xterm"] {
                assert!(packages.contains(&needed), "{packages:?}");
            }
            let browses = recipe.extras != Extras::None;
            assert_eq!(packages.contains(&"chromium"), browses);
            let writes = recipe.extras == Extras::Office;
            assert_eq!(packages.contains(&"libreoffice-writer"), writes);
            let allowed =
                |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "+-.".contains(c);
            for name in packages {
                assert!(name.chars().all(allowed), "{name}");
            }
        }
    }

    #[test]
    fn every_recipe_knows_its_own_images_only() {
        for recipe in RECIPES {
            for other in RECIPES {
                let labels = other.name("x:1").labels;
                assert_eq!(recipe.made(&labels), recipe == other);
            }
            assert!(!recipe.made(&HashMap::new()));
        }
    }

    #[test]
    fn the_dockerfile_says_the_same() {
        for (key, value) in ENV {
            assert!(DOCKERFILE.contains(&format!("{key}={value}")), "{key}");
        }
        let copied: Vec<&str> = DOCKERFILE
            .lines()
            .filter_map(|line| line.strip_prefix("COPY "))
            .flat_map(|line| line.split(' '))
            .collect();
        let [_, beside @ ..] = RECIPES[0].files();
        for (name, _) in beside {
            assert!(copied.contains(&name), "{name}");
        }
    }
}
