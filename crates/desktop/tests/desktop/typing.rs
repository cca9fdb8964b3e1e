//! What is typed arrives in real programs, character for character.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agon_desktop::{Desktop, DesktopConfig, Key, Published};
use rustix::event::{Timespec, poll};
use tempfile::TempDir;

fn desktop() -> Desktop {
    Desktop::start(&DesktopConfig::default()).unwrap()
}

/// Real editors take longer than windows of ours: they load half a desktop, on a busy machine.
const EDITOR: Duration = Duration::from_secs(60);

/// A text of a thousand characters, with many more than a keyboard has: ASCII, umlauts, Cyrillic, CJK
/// and emoji, close together.
fn mixed() -> String {
    let ascii: Vec<char> = (' '..='~').collect();
    let latin: Vec<char> = "äöüÄÖÜßéèñçåøÆ€£§°¿¡«»".chars().collect();
    let cyrillic: Vec<char> = ('А'..='я').collect();
    let cjk: Vec<char> = ('語'..='豈')
        .step_by(3)
        .chain('あ'..='ん')
        .chain('가'..='걀')
        .collect();
    let emoji: Vec<char> = ('😀'..='😿').chain('🚀'..='🚿').collect();
    let kinds = [
        &ascii, &latin, &ascii, &cyrillic, &cjk, &ascii, &emoji, &cjk,
    ];
    let mut next = [0; 8];
    let mut text = String::new();
    for at in 0..1000 {
        let kind = (at / 3) % kinds.len();
        next[kind] += 7;
        text.push(match at % 50 {
            49 => '\n',
            24 => '\t',
            _ => kinds[kind][next[kind] % kinds[kind].len()],
        });
    }
    let others: BTreeSet<char> = text.chars().filter(|c| !c.is_ascii()).collect();
    assert_eq!(text.chars().count(), 1000);
    assert!(
        others.len() > 240,
        "{} are too few to run out of codes",
        others.len()
    );
    text
}

/// Waits until the file is as it should be, and says how it is in the end.
fn content(file: &Path, wanted: &str) -> String {
    let deadline = Instant::now() + EDITOR;
    loop {
        let read = fs::read(file).unwrap_or_default();
        let read = String::from_utf8_lossy(&read).into_owned();
        if read == wanted || Instant::now() > deadline {
            return read;
        }
        let moment = Timespec::try_from(Duration::from_millis(20)).unwrap();
        poll(&mut [], Some(&moment)).unwrap();
    }
}

/// A program on a desktop, with a number for its display and folders of its own; ended when dropped.
struct Program {
    child: Child,
    _published: Published,
    folder: TempDir,
}

impl Program {
    fn start(desktop: &Desktop, words: impl FnOnce(&Path) -> Vec<String>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let published = Published::new(desktop, &folder.path().join("authority")).unwrap();
        let words = words(folder.path());
        let mut command = Command::new(&words[0]);
        for name in [
            "HOME",
            "XDG_CONFIG_HOME",
            "XDG_CACHE_HOME",
            "XDG_DATA_HOME",
            "XDG_RUNTIME_DIR",
        ] {
            command.env(name, folder.path());
        }
        let child = command
            .args(&words[1..])
            .env("DISPLAY", published.display())
            .env("XAUTHORITY", published.authority())
            .env("DBUS_SESSION_BUS_ADDRESS", "disabled:")
            .env("GSETTINGS_BACKEND", "memory")
            .env("NO_AT_BRIDGE", "1")
            .env("LC_ALL", "C.UTF-8")
            .env_remove("WAYLAND_DISPLAY")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self {
            child,
            _published: published,
            folder,
        }
    }

    /// Runs to its end.
    fn run(desktop: &Desktop, words: &[&str]) {
        let words = words.iter().map(|word| (*word).to_owned()).collect();
        let mut program = Self::start(desktop, |_| words);
        assert!(program.child.wait().unwrap().success());
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// mousepad, with a file.
struct Editor {
    program: Program,
    file: PathBuf,
}

impl Editor {
    fn start(desktop: &Desktop) -> Self {
        let program = Program::start(desktop, |folder| {
            let file = folder.join("typed.txt");
            fs::write(&file, "").unwrap();
            vec!["mousepad".to_owned(), file.to_str().unwrap().to_owned()]
        });
        desktop.windows().wait_for("typed.txt", EDITOR).unwrap();
        desktop.windows().make_active("typed.txt").unwrap();
        let file = program.folder.path().join("typed.txt");
        Self { program, file }
    }

    /// What the file says when it was saved.
    fn saved(&self, desktop: &Desktop, wanted: &str) -> String {
        desktop
            .keyboard()
            .combination(&"ctrl+s".parse().unwrap())
            .unwrap();
        content(&self.file, wanted)
    }
}

/// `cat` in a terminal, writing to a file.
struct Terminal(Program);

impl Terminal {
    fn start(desktop: &Desktop) -> Self {
        let program = Program::start(desktop, |folder| {
            let script = "stty -echo; echo > \"$0/ready\"; exec cat > \"$0/typed\"";
            let words = ["xterm", "-u8", "-T", "terminal", "-e", "sh", "-c", script];
            let words = words.map(ToOwned::to_owned).into_iter();
            words.chain([folder.to_str().unwrap().to_owned()]).collect()
        });
        desktop.windows().wait_for("terminal", EDITOR).unwrap();
        desktop.windows().make_active("terminal").unwrap();
        assert_eq!(content(&program.folder.path().join("ready"), "\n"), "\n");
        Self(program)
    }

    /// What has arrived, when it is all that is expected.
    fn so_far(&self, wanted: &str) -> String {
        content(&self.0.folder.path().join("typed"), wanted)
    }

    /// Ends the text, and reads it.
    fn typed(mut self, desktop: &Desktop) -> String {
        desktop
            .keyboard()
            .combination(&"ctrl+d".parse().unwrap())
            .unwrap();
        self.0.child.wait().unwrap();
        fs::read_to_string(self.0.folder.path().join("typed")).unwrap()
    }
}

#[test]
fn mixed_text_arrives_in_an_editor() {
    let desktop = desktop();
    let editor = Editor::start(&desktop);
    let text = mixed();
    desktop.keyboard().type_text(&text).unwrap();
    assert_eq!(editor.saved(&desktop, &text), text);
}

#[test]
fn mixed_text_arrives_in_a_terminal() {
    let desktop = desktop();
    let terminal = Terminal::start(&desktop);
    let text = mixed();
    desktop.keyboard().type_text(&text).unwrap();
    assert_eq!(terminal.typed(&desktop), text);
}

/// On a display of somebody else only the codes without any meaning are ours: a dozen and a half, which
/// change theirs again and again.
#[test]
fn mixed_text_arrives_with_few_codes_to_spare() {
    let desktop = desktop();
    let user = Desktop::connect(desktop.address()).unwrap();
    let text: String = mixed().chars().take(400).collect();
    let editor = Editor::start(&desktop);
    user.keyboard().type_text(&text).unwrap();
    assert_eq!(editor.saved(&user, &text), text);
    drop(editor);
    let terminal = Terminal::start(&desktop);
    user.keyboard().type_text(&text).unwrap();
    assert_eq!(terminal.typed(&user), text);
}

#[test]
fn many_texts_in_a_row_arrive_in_an_editor() {
    let desktop = desktop();
    let editor = Editor::start(&desktop);
    let text: String = mixed().chars().take(300).collect();
    let mut parts = text.as_str();
    // Single characters, as an agent may send them: every one asks for another code.
    while let Some(character) = parts.chars().next() {
        let (part, rest) = parts.split_at(character.len_utf8());
        desktop.keyboard().type_text(part).unwrap();
        parts = rest;
    }
    assert_eq!(editor.saved(&desktop, &text), text);
}

#[test]
fn ten_thousand_characters_arrive_without_losing_one() {
    let desktop = desktop();
    let editor = Editor::start(&desktop);
    let letter = |at: usize| match at % 80 {
        79 => '\n',
        _ => char::from(b' ' + u8::try_from((at * 31 + at / 80) % 95).unwrap()),
    };
    let text: String = (0..10_000).map(letter).collect();
    desktop.keyboard().type_text(&text).unwrap();
    assert_eq!(editor.saved(&desktop, &text), text);
}

#[test]
fn locks_and_held_keys_do_not_change_a_text_and_are_as_before() {
    let desktop = desktop();
    let terminal = Terminal::start(&desktop);
    let keyboard = desktop.keyboard();
    keyboard.tap(Key::CapsLock).unwrap();
    keyboard.press(Key::Shift).unwrap();
    keyboard.press(Key::Control).unwrap();
    let text = "aB1!äÖжЖ漢😀\n";
    keyboard.type_text(text).unwrap();
    let down = keyboard.state().unwrap();
    assert_eq!(down.keys, [Key::Control, Key::Shift]);
    keyboard.release_all().unwrap();
    assert_eq!(keyboard.state().unwrap().keys, []);
    // The lock is on again: a letter is a capital one.
    keyboard.tap(Key::from_char('q').unwrap()).unwrap();
    keyboard.tap(Key::Return).unwrap();
    keyboard.tap(Key::CapsLock).unwrap();
    assert_eq!(terminal.typed(&desktop), format!("{text}Q\n"));
}

#[test]
fn another_layout_is_noticed() {
    let desktop = desktop();
    let terminal = Terminal::start(&desktop);
    let mut all = String::new();
    for (layout, line) in [
        ("us", "yz-äé漢\n"),
        ("de", "yz-äé漢@\n"),
        ("ru", "yz-äé漢@жЖ\n"),
    ] {
        Program::run(&desktop, &["setxkbmap", layout]);
        desktop.keyboard().type_text(line).unwrap();
        all.push_str(line);
        // What is still on its way when a layout changes is lost on any keyboard.
        assert_eq!(terminal.so_far(&all), all);
    }
}

#[test]
fn a_long_text_to_nobody_is_typed_all_the_same() {
    let desktop = desktop();
    let text = "0123456789abcdefghijklmnopqrstuvwxyz漢😀\n".repeat(2_600);
    assert!(text.chars().count() > 100_000);
    desktop.keyboard().type_text(&text).unwrap();
    assert_eq!(desktop.keyboard().state().unwrap().keys, []);
}

#[test]
fn a_program_that_hangs_is_an_answer_for_the_agent() {
    let desktop = desktop();
    let editor = Editor::start(&desktop);
    let id = rustix::process::Pid::from_raw(editor.program.child.id().cast_signed()).unwrap();
    rustix::process::kill_process(id, rustix::process::Signal::STOP).unwrap();
    let error = desktop
        .keyboard()
        .type_text(&"x".repeat(2_000))
        .unwrap_err();
    assert!(error.is_callers(), "{error}");
    assert!(error.to_string().contains("hangs"), "{error}");
    assert_eq!(desktop.keyboard().state().unwrap().keys, []);
}
