//! The installer with archives that hold a few small files: what it puts where, what it refuses, and that
//! it removes what it put there and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{INSTALLER, INSTALLER_TEXT, Release, SUMS, pack, sum};

/// A folder with a release and a home, gone with the test.
struct Desk {
    folder: PathBuf,
}

impl Drop for Desk {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Desk {
    /// A space in a path must do no harm.
    fn new(name: &str) -> Self {
        let name = format!("agon installer {name} {}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(folder.join("home")).unwrap();
        fs::create_dir_all(folder.join("release")).unwrap();
        fs::write(folder.join("release").join(INSTALLER), INSTALLER_TEXT).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// A release whose program is a shell script, with further files.
    fn release(&self, version: &str, program: &str, further: &[&str]) -> String {
        let release = Release {
            version: version.to_owned(),
            commit: "1234567".to_owned(),
            time: "1700000000".to_owned(),
            folder: self.path("release"),
        };
        let top = format!("release/{}", release.name());
        let agon = self.write(&format!("{top}/bin/agon"), program);
        fs::set_permissions(agon, fs::Permissions::from_mode(0o755)).unwrap();
        let usual = [
            "man/man1/agon.1",
            "completions/agon.bash",
            "completions/_agon",
            "completions/agon.fish",
            "README.md",
        ];
        for file in usual.iter().chain(further) {
            self.write(&format!("{top}/{file}"), version);
        }
        let archive = pack(&release, &release.name(), "-3").unwrap();
        sum(&release.folder, std::slice::from_ref(&archive)).unwrap();
        archive
    }

    fn good_release(&self) -> String {
        self.release(
            "1.0.0",
            "#!/bin/sh\necho agon 1.0.0\n",
            &["suites/demo/a.yaml"],
        )
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command
            .arg(self.path("release").join(INSTALLER))
            .args(words)
            .env("HOME", self.path("home"))
            .current_dir(&self.folder);
        command
    }

    fn install(&self, words: &[&str]) -> Installed {
        Installed::from(self.command(words).output().unwrap())
    }

    /// Every file and folder of the home, with the content of files.
    fn home(&self) -> BTreeMap<String, String> {
        let home = self.path("home");
        let mut found = BTreeMap::new();
        let mut folders = vec![home.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&home).unwrap().display().to_string();
                if path.is_dir() {
                    found.insert(name + "/", String::new());
                    folders.push(path);
                } else {
                    found.insert(name, fs::read_to_string(path).unwrap());
                }
            }
        }
        found
    }
}

struct Installed {
    status: i32,
    said: String,
}

impl From<Output> for Installed {
    fn from(output: Output) -> Self {
        let said = [output.stdout, output.stderr].concat();
        Self {
            status: output.status.code().unwrap_or(-1),
            said: String::from_utf8(said).unwrap(),
        }
    }
}

impl Installed {
    #[track_caller]
    fn expect(self, status: i32, words: &[&str]) -> Self {
        assert_eq!(self.status, status, "{}", self.said);
        for word in words {
            assert!(self.said.contains(word), "no `{word}` in: {}", self.said);
        }
        self
    }
}

#[test]
fn what_was_installed_is_removed_and_nothing_else() {
    let desk = Desk::new("whole");
    desk.write("home/.local/share/man/man1/other.1", "mine");
    let before = desk.home();
    desk.good_release();
    desk.install(&[])
        .expect(0, &["agon 1.0.0 is installed", "is not on your PATH"]);
    let home = desk.home();
    for file in [
        "bin/agon",
        "share/man/man1/agon.1",
        "share/bash-completion/completions/agon",
        "share/zsh/site-functions/_agon",
        "share/fish/vendor_completions.d/agon.fish",
        "share/agon/README.md",
        "share/agon/suites/demo/a.yaml",
    ] {
        assert!(
            home.contains_key(&format!(".local/{file}")),
            "{file}: {home:?}"
        );
    }
    assert!(
        !home.keys().any(|name| name.contains("agon-installer.")),
        "{home:?}"
    );
    let agon = Command::new(desk.path("home/.local/bin/agon"))
        .output()
        .unwrap();
    assert_eq!(agon.stdout, b"agon 1.0.0\n");
    let mine = desk.write("home/.local/share/agon/suites/demo/mine.yaml", "mine");
    desk.install(&["--uninstall"]).expect(0, &["removed"]);
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
    fs::remove_dir_all(desk.path("home/.local/share/agon")).unwrap();
    assert_eq!(desk.home(), before);
    desk.install(&["--uninstall"])
        .expect(1, &["no release of Agon is installed"]);
}

#[test]
fn an_empty_home_is_empty_again() {
    let desk = Desk::new("empty");
    let archive = desk.good_release();
    let archive = desk.path("release").join(archive);
    let elsewhere = ["--prefix", "home/a folder/", archive.to_str().unwrap()];
    let path = format!(
        "{}:{}",
        desk.path("home/a folder/bin").display(),
        std::env::var("PATH").unwrap()
    );
    let output = desk.command(&elsewhere).env("PATH", path).output().unwrap();
    let installed = Installed::from(output).expect(0, &["a folder/bin/agon"]);
    assert!(!installed.said.contains("PATH"), "{}", installed.said);
    desk.install(&["--uninstall", "--prefix=home/a folder"])
        .expect(0, &[]);
    assert_eq!(desk.home(), BTreeMap::new());
}

#[test]
fn a_newer_release_replaces_an_older_one() {
    let desk = Desk::new("newer");
    let old = desk.good_release();
    desk.install(&[]).expect(0, &[]);
    let program = "#!/bin/sh\necho agon 2.0.0\n";
    let new = desk.release("2.0.0", program, &["suites/other/b.yaml"]);
    desk.install(&[]).expect(1, &["more than one archive"]);
    let new = desk.path("release").join(new);
    desk.install(&[new.to_str().unwrap()])
        .expect(0, &["agon 2.0.0 is installed"]);
    let home = desk.home();
    assert!(home.contains_key(".local/share/agon/suites/other/b.yaml"));
    assert!(
        !home.contains_key(".local/share/agon/suites/demo/"),
        "{home:?}"
    );
    desk.install(&["--uninstall"]).expect(0, &[]);
    assert_eq!(desk.home(), BTreeMap::new());
    assert!(desk.path("release").join(old).exists());
}

#[test]
fn files_of_others_are_not_touched_unless_told_so() {
    let desk = Desk::new("strangers");
    desk.good_release();
    desk.write("home/.local/bin/agon", "mine");
    let before = desk.home();
    desk.install(&[])
        .expect(1, &["bin/agon is there already", "--force"]);
    assert_eq!(desk.home(), before);
    desk.install(&["--force"])
        .expect(0, &["agon 1.0.0 is installed"]);
}

#[test]
fn a_link_of_others_is_not_followed() {
    let desk = Desk::new("links");
    desk.good_release();
    fs::create_dir_all(desk.path("home/.local/bin")).unwrap();
    std::os::unix::fs::symlink("/nowhere", desk.path("home/.local/bin/agon")).unwrap();
    desk.install(&[]).expect(1, &["bin/agon is there already"]);
}

#[test]
fn nothing_is_installed_from_a_damaged_archive() {
    let desk = Desk::new("damaged");
    let archive = desk.good_release();
    let path = desk.path("release").join(&archive);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 9]).unwrap();
    desk.install(&[]).expect(1, &["is damaged"]);
    desk.write(&format!("release/{SUMS}"), "00  other.tar.zst\n");
    desk.install(&[]).expect(1, &["does not name agon-1.0.0"]);
    fs::remove_file(desk.path("release").join(SUMS)).unwrap();
    desk.install(&[]).expect(1, &["can't unpack"]);
    assert_eq!(desk.home(), BTreeMap::new());
    fs::write(&path, &whole).unwrap();
    desk.install(&[]).expect(0, &[]);
}

#[test]
fn a_program_that_does_not_start_is_not_installed() {
    let desk = Desk::new("old");
    desk.release(
        "1.0.0",
        "#!/bin/sh\necho GLIBC_2.35 not found >&2\nexit 1\n",
        &[],
    );
    desk.install(&[])
        .expect(1, &["does not start here", "GLIBC_2.35 not found"]);
    assert_eq!(desk.home(), BTreeMap::new());
}

#[test]
fn who_lacks_zstd_is_told_what_to_install() {
    let desk = Desk::new("tools");
    desk.good_release();
    let tools = desk.path("tools");
    fs::create_dir(&tools).unwrap();
    for tool in "sh cat uname dirname basename mkdir mktemp rm rmdir sha256sum tar".split(' ') {
        let program = ["/usr/bin", "/bin"].map(|folder| Path::new(folder).join(tool));
        let program = program.iter().find(|program| program.exists()).unwrap();
        std::os::unix::fs::symlink(program, tools.join(tool)).unwrap();
    }
    let output = desk.command(&[]).env("PATH", &tools).output().unwrap();
    Installed::from(output).expect(1, &["zstd is missing", "apt-get install zstd"]);
    assert_eq!(desk.home(), BTreeMap::new());
}

#[test]
fn a_list_that_somebody_changed_removes_nothing_elsewhere() {
    let desk = Desk::new("list");
    desk.good_release();
    desk.install(&[]).expect(0, &[]);
    let list = desk.path("home/.local/share/agon/installed.txt");
    let names = fs::read_to_string(&list).unwrap();
    let victim = desk.write("victim", "mine");
    for bad in [
        "../../victim\n".to_owned(),
        format!("{}\n", victim.display()),
    ] {
        fs::write(&list, names.clone() + &bad).unwrap();
        desk.install(&["--uninstall"])
            .expect(1, &["it was changed"]);
    }
    assert!(victim.exists() && desk.path("home/.local/bin/agon").exists());
}

#[test]
fn wrong_words_are_refused() {
    let desk = Desk::new("words");
    desk.install(&["--help"])
        .expect(0, &["--uninstall", "--prefix DIR"]);
    desk.install(&["--prefix"]).expect(1, &["needs a folder"]);
    desk.install(&["--unsinstall"])
        .expect(1, &["unknown option --unsinstall"]);
    desk.install(&["a", "b"]).expect(1, &["one archive"]);
    desk.install(&["nothing.tar.zst"])
        .expect(1, &["can't read nothing.tar.zst"]);
    desk.install(&[]).expect(1, &["there is no agon-VERSION"]);
    let output = desk.command(&[]).env_remove("HOME").output().unwrap();
    Installed::from(output).expect(1, &["HOME is not set"]);
}

#[test]
fn packing_twice_gives_the_same_bytes() {
    let first = Desk::new("first");
    let second = Desk::new("second");
    let archives = [&first, &second].map(|desk| {
        let archive = desk.good_release();
        fs::read(desk.path("release").join(archive)).unwrap()
    });
    assert!(archives[0] == archives[1]);
}
