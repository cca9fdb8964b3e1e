//! Which places of a container hold programs, and what programs load without being asked to. What an image
//! brought there is what checks are carried out with, so nothing that was changed in its place is taken from
//! one container to another; what is new there comes only where it can't act on the image's own programs.
//! Paths alone: nothing is opened.

use std::collections::HashSet;

use crate::contract::X_SOCKETS;

/// How something was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Modified,
    Added,
    Deleted,
}

/// What becomes of something that was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Of the engine, or of the system.
    Ignored,
    /// Is laid over a fresh container.
    Data,
    /// New where programs are: comes to checks that name it.
    Installed,
    /// A fresh container has it as the image has.
    Withheld,
}

/// Where the first folders are that have programs and libraries.
const PREFIXES: [&str; 3] = ["", "/usr", "/usr/local"];
const PROGRAMS: [&str; 2] = ["bin", "sbin"];
const LIBRARIES: [&str; 5] = ["lib", "lib32", "lib64", "libx32", "libexec"];

/// What the system or the engine makes for each container.
const NOBODYS: [&str; 10] = [
    "/dev",
    "/proc",
    "/sys",
    "/etc/hosts",
    "/etc/hostname",
    "/etc/resolv.conf",
    "/etc/mtab",
    "/.dockerenv",
    "/run/.containerenv",
    X_SOCKETS,
];

/// Settings that programs follow whoever starts them: loaders, shells, interpreters, the names of users.
const SETTINGS: [&str; 20] = [
    "ld.so.preload",
    "ld.so.conf",
    "ld.so.conf.d",
    "ld.so.cache",
    "ld-musl",
    "nsswitch.conf",
    "environment",
    "profile",
    "profile.d",
    "bash.bashrc",
    "bashrc",
    "bash",
    "zsh",
    "zshenv",
    "python",
    "perl",
    "gitconfig",
    "ssl/openssl.cnf",
    "pki/tls/openssl.cnf",
    "security",
];

/// Below `share`, libraries of languages begin like this.
const LANGUAGES: [&str; 12] = [
    "perl", "python", "ruby", "rubygems", "php", "node", "awk", "tcl", "lua", "gcc", "gdb", "guile",
];

/// In a folder of libraries: what a loader prefers to others of the same name, or loads by a setting.
const PREFERRED: [&str; 14] = [
    "glibc-hwcaps",
    "tls",
    "gconv",
    "haswell",
    "x86_64",
    "i686",
    "sse2",
    "avx512_1",
    "locale",
    "security",
    "engines-3",
    "ossl-modules",
    "python.zip",
    "cmf",
];

/// Package managers write there what is installed.
const LISTS: [&str; 2] = ["apk", "sysimage"];

/// A place of programs, and what is below it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place<'a> {
    Programs { below: &'a str },
    Libraries { folder: &'a str, below: &'a str },
}

#[derive(Debug, Clone)]
pub(super) struct ProgramPaths {
    /// Where programs are looked for, in this order.
    path: Vec<String>,
    prefixes: Vec<String>,
}

/// What an image has where programs are, as far as it must be known.
#[derive(Debug, Default)]
pub(super) struct ImagePrograms {
    paths: HashSet<String>,
    /// Names of programs, libraries and packages wherever they are.
    programs: HashSet<String>,
    libraries: HashSet<String>,
    packages: HashSet<String>,
}

impl ProgramPaths {
    /// `path` is the variable `PATH` of the container.
    pub(super) fn of(path: &str) -> Self {
        let path: Vec<String> = path
            .split(':')
            .map(|folder| folder.trim_end_matches('/'))
            .filter(|folder| folder.starts_with('/'))
            .map(str::to_owned)
            .collect();
        let mut prefixes: Vec<String> = PREFIXES.map(str::to_owned).to_vec();
        for folder in &path {
            if let Some((prefix, name)) = folder.rsplit_once('/')
                && PROGRAMS.contains(&name)
                && !prefixes.iter().any(|known| known == prefix)
            {
                prefixes.push(prefix.to_owned());
            }
        }
        // The longest that fits counts.
        prefixes.sort_by_key(|prefix| std::cmp::Reverse(prefix.len()));
        Self { path, prefixes }
    }

    pub(super) fn part(&self, path: &str, kind: Kind) -> Part {
        if NOBODYS.iter().any(|own| is_within(path, own)) {
            return Part::Ignored;
        }
        if self.is_above_programs(path) {
            // With their folders go the programs.
            return match kind {
                Kind::Deleted => Part::Withheld,
                Kind::Modified | Kind::Added => Part::Ignored,
            };
        }
        if self.acts_by_itself(path, kind) {
            return Part::Withheld;
        }
        match (self.place(path), kind) {
            (None, _) => Part::Data,
            (Some(_), Kind::Added) => Part::Installed,
            (Some(_), Kind::Modified | Kind::Deleted) => Part::Withheld,
        }
    }

    /// Whether something new can come to the image's own programs without acting on them.
    pub(super) fn admits(&self, path: &str, brought: &ImagePrograms) -> bool {
        match self.place(path) {
            None => true,
            Some(Place::Programs { below }) => {
                let (name, _) = first(below);
                !brought.programs.contains(name)
            }
            Some(Place::Libraries { folder, below }) => brought.admits_library(folder, below),
        }
    }

    /// What a check calls something that was installed: the program, the library or the package that it is
    /// a part of.
    pub(super) fn name<'a>(&self, path: &'a str) -> Option<&'a str> {
        let (mut name, mut rest) = match self.place(path)? {
            Place::Programs { below } | Place::Libraries { below, .. } => first(below),
        };
        let holds_others = |name: &str| {
            name.contains("-linux-")
                || name.starts_with("python")
                || ["site-packages", "dist-packages", "node_modules"].contains(&name)
        };
        while !rest.is_empty() && holds_others(name) {
            (name, rest) = first(rest);
        }
        (!name.is_empty()).then_some(name)
    }

    /// Shell code that prints what [`ImagePrograms::of`] reads, by the shell alone.
    pub(super) fn listing(&self) -> String {
        let mut folders: Vec<String> = Vec::new();
        for prefix in &self.prefixes {
            let below = [
                "bin",
                "sbin",
                "lib",
                "lib32",
                "lib64",
                "libx32",
                "libexec",
                "lib/*-linux-*",
                "lib*/python*/site-packages",
                "lib*/python*/dist-packages",
                "lib*/node_modules",
                "share",
            ];
            folders.extend(
                below
                    .iter()
                    .map(|below| format!("{}/{below}", quoted(prefix))),
            );
        }
        folders.extend(self.path.iter().map(|folder| quoted(folder)));
        format!(
            r#"for folder in {}; do for it in "$folder"/*; do printf '%s\n' "$it"; done; done"#,
            folders.join(" ")
        )
    }

    fn place<'a>(&self, path: &'a str) -> Option<Place<'a>> {
        if let Some(at) = path.find("/.local/lib/") {
            let at = at + "/.local/lib".len();
            return Some(Place::Libraries {
                folder: &path[..at],
                below: &path[at + 1..],
            });
        }
        for prefix in &self.prefixes {
            let Some(below) = path.strip_prefix(prefix.as_str()) else {
                continue;
            };
            let Some(below) = below.strip_prefix('/') else {
                continue;
            };
            let (top, rest) = first(below);
            let folder = &path[..path.len() - below.len() + top.len()];
            if PROGRAMS.contains(&top) {
                return Some(Place::Programs { below: rest });
            }
            let (next, _) = first(rest);
            if LIBRARIES.contains(&top) && !LISTS.contains(&next) {
                return Some(Place::Libraries {
                    folder,
                    below: rest,
                });
            }
            let of_language = || LANGUAGES.iter().any(|name| next.starts_with(name));
            if top == "share" && prefix.starts_with("/usr") && of_language() {
                return Some(Place::Libraries {
                    folder,
                    below: rest,
                });
            }
        }
        let named = self.path.iter().find(|folder| is_within(path, folder))?;
        let below = path[named.len()..].trim_start_matches('/');
        Some(Place::Programs { below })
    }

    /// Whether programs of the image are below this folder.
    fn is_above_programs(&self, path: &str) -> bool {
        let above = |folder: &str| folder.len() > path.len() && is_within(folder, path);
        path == "/etc"
            || self.path.iter().any(|folder| above(folder))
            || self
                .prefixes
                .iter()
                .any(|prefix| !prefix.is_empty() && (above(prefix) || path == prefix))
    }

    fn acts_by_itself(&self, path: &str, kind: Kind) -> bool {
        let customizes =
            |part: &str| part.starts_with("sitecustomize") || part.starts_with("usercustomize");
        if path.split('/').any(customizes) {
            return true;
        }
        let of_python = |below: &str| ["/pyvenv.cfg", "/python._pth"].contains(&below);
        let prefixes = &mut self.prefixes.iter();
        if prefixes.any(|prefix| path.strip_prefix(prefix.as_str()).is_some_and(of_python)) {
            return true;
        }
        let Some(setting) = path.strip_prefix("/etc/") else {
            return false;
        };
        if let Some(alternative) = setting.strip_prefix("alternatives") {
            return alternative.starts_with('/') && kind != Kind::Added;
        }
        SETTINGS.iter().any(|name| match *name {
            "ld-musl" | "python" => setting.starts_with(name),
            name => is_within(setting, name),
        })
    }
}

impl ImagePrograms {
    /// From what [`ProgramPaths::listing`] printed in a container where no agent was.
    pub(super) fn of(listing: &str, program_paths: &ProgramPaths) -> Self {
        let mut brought = Self::default();
        for path in listing.lines() {
            let (folder, name) = path.rsplit_once('/').unwrap_or_default();
            if folder.ends_with("-packages") {
                brought.packages.insert(stem(name).to_owned());
            } else {
                match program_paths.place(path) {
                    Some(Place::Programs { .. }) => brought.programs.insert(name.to_owned()),
                    _ => brought.libraries.insert(name.to_owned()),
                };
            }
            brought.paths.insert(path.to_owned());
        }
        brought
    }

    fn admits_library(&self, folder: &str, below: &str) -> bool {
        let (name, rest) = first(below);
        let here = format!("{folder}/{name}");
        if name.contains("-linux-") {
            return rest.is_empty() || self.admits_library(&here, rest);
        }
        if is_preferred(name) {
            return false;
        }
        if name.starts_with("python") {
            return match first(rest) {
                ("", _) => true,
                ("site-packages" | "dist-packages", package) => self.admits_package(package),
                _ => !self.paths.contains(&here),
            };
        }
        if name == "node_modules" {
            let (module, _) = first(rest);
            return !self.paths.contains(&format!("{here}/{module}"));
        }
        let hides = name.contains(".so") && self.libraries.contains(name);
        !hides && !self.paths.contains(&here)
    }

    /// Packages of the image come before all others, and none runs when Python starts.
    fn admits_package(&self, below: &str) -> bool {
        let (name, rest) = first(below);
        let runs_at_start = name.ends_with(".pth")
            || name.ends_with(".egg-link")
            || name.starts_with("apport_python_hook")
            // Who finds programs by these finds those of the agent.
            || rest.ends_with("entry_points.txt");
        !runs_at_start && !self.packages.contains(stem(name))
    }
}

fn is_preferred(name: &str) -> bool {
    PREFERRED.contains(&name)
        || name.starts_with("x86-64-v")
        || name.starts_with("libnss_")
        || name.starts_with("ld-")
        || name.starts_with("ld.so")
        || name.starts_with("libc.so")
        || (name.starts_with("python") && name.ends_with(".zip"))
}

/// A package's name without ending and version.
fn stem(name: &str) -> &str {
    name.split(['.', '-']).next().unwrap_or(name)
}

fn first(path: &str) -> (&str, &str) {
    path.split_once('/').unwrap_or((path, ""))
}

/// Whether it is this, or lies in it.
pub(super) fn is_within(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// For the shell, with patterns left alone outside.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATH: &str =
        "/opt/venv/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/tools/";

    fn parts(kind: Kind, paths: &[&str]) -> Vec<Part> {
        let program_paths = ProgramPaths::of(PATH);
        paths
            .iter()
            .map(|path| program_paths.part(path, kind))
            .collect()
    }

    #[test]
    fn programs_and_libraries_of_the_image_stay_as_they_are() {
        let brought = [
            "/usr/bin/python3",
            "/bin/sh",
            "/lib/x86_64-linux-gnu/libc.so.6",
            "/lib64",
            "/usr/local/lib/python3.12/json/__init__.py",
            "/usr/lib/python3/dist-packages/yaml/__init__.py",
            "/usr/share/perl5/JSON.pm",
            "/opt/venv/bin/python",
            "/opt/venv/lib/python3.12/site-packages/numpy/__init__.py",
            "/tools/judge",
            "/etc/alternatives/awk",
        ];
        for kind in [Kind::Modified, Kind::Deleted] {
            for (path, part) in brought.iter().zip(parts(kind, &brought)) {
                assert_eq!(part, Part::Withheld, "{path}");
            }
        }
        for (path, part) in brought[..10].iter().zip(parts(Kind::Added, &brought)) {
            assert_eq!(part, Part::Installed, "{path}");
        }
    }

    #[test]
    fn what_loads_by_itself_comes_along_in_no_way() {
        for kind in [Kind::Modified, Kind::Added, Kind::Deleted] {
            let settings = [
                "/etc/ld.so.preload",
                "/etc/ld.so.conf.d/mine.conf",
                "/etc/ld-musl-x86_64.path",
                "/etc/nsswitch.conf",
                "/etc/profile",
                "/etc/profile.d/x.sh",
                "/etc/bash.bashrc",
                "/etc/environment",
                "/etc/python3.11/sitecustomize.py",
                "/etc/ssl/openssl.cnf",
                "/usr/lib/python3/dist-packages/sitecustomize.py",
                "/root/.local/lib/python3.11/site-packages/usercustomize.py",
                "/opt/venv/pyvenv.cfg",
            ];
            for (path, part) in settings.iter().zip(parts(kind, &settings)) {
                assert_eq!(part, Part::Withheld, "{path}");
            }
        }
    }

    #[test]
    fn all_else_is_data() {
        let data = [
            "/config/Desktop/a.txt",
            "/root/.bashrc",
            "/etc/passwd",
            "/etc/profiles",
            "/etc/hosts.allow",
            "/var/lib/dpkg/status",
            "/lib/apk/db/installed",
            "/usr/share/nginx/html/index.html",
            "/opt/app/run",
            "/tmp",
            "/srv/bin/x",
        ];
        for kind in [Kind::Modified, Kind::Added, Kind::Deleted] {
            for (path, part) in data.iter().zip(parts(kind, &data)) {
                assert_eq!(part, Part::Data, "{path}");
            }
        }
    }

    #[test]
    fn folders_above_programs_are_never_replaced() {
        let above = ["/usr", "/usr/local", "/opt", "/opt/venv", "/etc"];
        assert!(
            parts(Kind::Deleted, &above)
                .iter()
                .all(|part| *part == Part::Withheld)
        );
        assert!(
            parts(Kind::Modified, &above)
                .iter()
                .all(|part| *part == Part::Ignored)
        );
        assert_eq!(parts(Kind::Deleted, &["/opt/app"]), [Part::Data]);
    }

    #[test]
    fn what_is_new_does_not_stand_before_what_the_image_has() {
        let program_paths = ProgramPaths::of(PATH);
        let listing = "/usr/bin/wc\n/usr/bin/python3\n/usr/lib/x86_64-linux-gnu/libm.so.6\n\
            /usr/lib/python3.11\n/usr/lib/git-core\n/usr/lib/python3/dist-packages/yaml\n\
            /usr/lib/python3/dist-packages/six.py\n/usr/lib/*-linux-*/*\n";
        let brought = ImagePrograms::of(listing, &program_paths);
        for refused in [
            "/usr/local/bin/wc",
            "/tools/python3",
            "/usr/local/lib/libm.so.6",
            "/lib/libm.so.6",
            "/usr/lib/glibc-hwcaps/x86-64-v3/libc.so.6",
            "/usr/lib/x86_64-linux-gnu/glibc-hwcaps/x86-64-v2/libz.so.1",
            "/usr/lib/libnss_mine.so.2",
            "/usr/lib/python311.zip",
            "/usr/lib/python3.11/json/__pycache__/decoder.cpython-311.pyc",
            "/usr/lib/git-core/git-mine",
            "/usr/local/lib/python3.11/dist-packages/yaml/__init__.py",
            "/usr/local/lib/python3.11/dist-packages/six.cpython-311.so",
            "/usr/local/lib/python3.11/dist-packages/mine.pth",
            "/usr/local/lib/python3.11/dist-packages/mine-1.dist-info/entry_points.txt",
            "/root/.local/lib/python3.11/site-packages/yaml.py",
            "/root/.local/lib/python3.11/site-packages/mine.pth",
        ] {
            assert!(!program_paths.admits(refused, &brought), "{refused}");
        }
        for admitted in [
            "/usr/bin/convert",
            "/usr/local/bin/answer",
            "/usr/lib/x86_64-linux-gnu/libMagickCore-6.so.6",
            "/usr/lib/libreoffice/program/soffice.bin",
            "/usr/local/lib/python3.11/dist-packages/requests/__init__.py",
            "/usr/lib/python3.13/json/__init__.py",
        ] {
            assert!(program_paths.admits(admitted, &brought), "{admitted}");
        }
    }
}
