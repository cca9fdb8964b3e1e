//! What is typed arrives in real programs, character for character, and nothing stays pressed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agon_desktop::{Desktop, DesktopConfig, DesktopError, Key, KeyCombination, Published, Vk};
use rustix::event::{Timespec, poll};
use tempfile::TempDir;

use super::probe::{Probe, Seen, connect};

fn desktop() -> Desktop {
    let config = DesktopConfig { start: Duration::from_secs(3), ..DesktopConfig::default() };
    let desktop = loop { if let Ok(d) = Desktop::start(&config) { break d; } };
    let probe = Probe::hidden(&desktop, agon_desktop::Rect { x: 0, y: 0, width: 9, height: 9 });
    use x11rb::protocol::xproto::ConnectionExt as _;
    use x11rb::connection::Connection as _;
    use x11rb::wrapper::ConnectionExt as _;
    probe.x.map_window(probe.window).unwrap();
    probe.x.flush().unwrap();
    while desktop.windows().list().unwrap().is_empty() {
        let root = probe.x.setup().roots[0].root;
        let a = probe.atom("NUDGE");
        probe.x.change_property8(x11rb::protocol::xproto::PropMode::REPLACE, root, a, a, b"x").unwrap();
        probe.x.sync().unwrap();
        poll(&mut [], Some(&Timespec::try_from(Duration::from_millis(20)).unwrap())).unwrap();
    }
    probe.x.destroy_window(probe.window).unwrap();
    probe.x.sync().unwrap();
    while !desktop.windows().list().unwrap().is_empty() {
        poll(&mut [], Some(&Timespec::try_from(Duration::from_millis(5)).unwrap())).unwrap();
    }
    desktop
}

/// Real editors take longer than windows of ours: they load half a desktop, on a busy machine.
const EDITOR: Duration = Duration::from_secs(60);

/// A text of a thousand characters, with many more than a keyboard has: ASCII, umlauts, Cyrillic, CJK
/// and emoji, close together.
fn mixed() -> String {
    let ascii: Vec<char> = (' '..='~').collect();
    let latin: Vec<char> = "äöüÄÖÜßéèñçåøÆ€£§°¿¡«»".chars().collect();
    let cyrillic: Vec<char> = ('А'..='я').collect();
    let cjk: Vec<char> = ('語'..='豈').step_by(3).chain('あ'..='ん').chain('가'..='걀').collect();
    let emoji: Vec<char> = ('😀'..='😿').chain('🚀'..='🚿').collect();
    let kinds = [&ascii, &latin, &ascii, &cyrillic, &cjk, &ascii, &emoji, &cjk];
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
    assert!(others.len() > 240, "{} are too few to run out of codes", others.len());
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
        for name in ["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"] {
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
        desktop.keyboard().combination(&"ctrl+s".parse().unwrap()).unwrap();
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
        desktop.keyboard().combination(&"ctrl+d".parse().unwrap()).unwrap();
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
    let text = mixed();
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
    for (layout, line) in [("us", "yz-äé漢\n"), ("de", "yz-äé漢@\n"), ("ru", "yz-äé漢@жЖ\n")] {
        Program::run(&desktop, &["setxkbmap", layout]);
        desktop.keyboard().type_text(line).unwrap();
        all.push_str(line);
        // What is still on its way when a layout changes is lost on any keyboard.
        assert_eq!(terminal.so_far(&all), all);
    }
}

/// Key events of a probe: code, whether it went down, and modifiers before it.
fn keys(seen: Vec<Seen>) -> Vec<(u8, bool, u16)> {
    let key = |seen| match seen {
        Seen::KeyPress { code, state } => Some((code, true, state)),
        Seen::KeyRelease { code, state } => Some((code, false, state)),
        _ => None,
    };
    seen.into_iter().filter_map(key).collect()
}

/// Codes on the layout that Xvfb starts with.
const SHIFT: u8 = 50;
const CONTROL: u8 = 37;
const LETTER_A: u8 = 38;
const EQUALS: u8 = 21;
const RIGHT: u8 = 114;
const KEYPAD_1: u8 = 87;
const NUM_LOCK: u8 = 77;

#[test]
fn keys_go_down_and_up_in_order() {
    let desktop = desktop();
    let probe = Probe::cover(&desktop);
    let keyboard = desktop.keyboard();
    let seen = |act: &dyn Fn()| {
        act();
        keyboard.state().unwrap();
        keys(probe.events())
    };
    let press = |key: Key| keyboard.press(key).unwrap();
    assert_eq!(seen(&|| press(Key::Right)), [(RIGHT, true, 0)]);
    assert_eq!(seen(&|| keyboard.release(Key::Right).unwrap()), [(RIGHT, false, 0)]);

    let combination = |text: &str| {
        let combination: KeyCombination = text.parse().unwrap();
        keyboard.combination(&combination).unwrap();
    };
    let all = seen(&|| combination("ctrl+shift+a"));
    let expected = [
        (CONTROL, true, 0),
        (SHIFT, true, 4),
        (LETTER_A, true, 5),
        (LETTER_A, false, 5),
        (SHIFT, false, 5),
        (CONTROL, false, 4),
    ];
    assert_eq!(all, expected);

    // Shift comes by itself where a key needs it, and goes with it.
    let all = seen(&|| combination("ctrl++"));
    let expected = [
        (CONTROL, true, 0),
        (SHIFT, true, 4),
        (EQUALS, true, 5),
        (EQUALS, false, 5),
        (SHIFT, false, 5),
        (CONTROL, false, 4),
    ];
    assert_eq!(all, expected);
    // But a Shift that somebody holds stays.
    let all = seen(&|| {
        press(Key::Shift);
        keyboard.tap("A".parse().unwrap()).unwrap();
    });
    assert_eq!(all, [(SHIFT, true, 0), (LETTER_A, true, 1), (LETTER_A, false, 1)]);
    assert_eq!(seen(&|| keyboard.release_all().unwrap()), [(SHIFT, false, 1)]);
}

#[test]
fn digits_of_the_keypad_are_digits_whatever_num_lock_says() {
    let desktop = desktop();
    let probe = Probe::cover(&desktop);
    let keyboard = desktop.keyboard();
    let one = Key::from_vk(Vk::NUMPAD1).unwrap();
    let tapped = || {
        keyboard.tap(one).unwrap();
        keyboard.state().unwrap();
        keys(probe.events())
    };
    let with_shift = [
        (SHIFT, true, 0),
        (KEYPAD_1, true, 1),
        (KEYPAD_1, false, 1),
        (SHIFT, false, 1),
    ];
    assert_eq!(tapped(), with_shift);
    keyboard.tap(Key::NumLock).unwrap();
    keyboard.state().unwrap();
    assert_eq!(keys(probe.events())[0].0, NUM_LOCK);
    assert_eq!(tapped(), [(KEYPAD_1, true, 16), (KEYPAD_1, false, 16)]);
    keyboard.press(one).unwrap();
    assert_eq!(keyboard.state().unwrap().buttons, BTreeSet::from([Vk::NUMPAD1]));
}

#[test]
fn the_state_tells_keys_and_buttons() {
    let desktop = desktop();
    let _probe = Probe::cover(&desktop);
    let keyboard = desktop.keyboard();
    assert!(keyboard.state().unwrap().buttons.is_empty());
    for vk in [Vk::LSHIFT, Vk::RIGHT, Vk::A, Vk::VOLUME_UP] {
        keyboard.press(Key::from_vk(vk).unwrap()).unwrap();
    }
    desktop.mouse().press(agon_core::action::Button::Right).unwrap();
    let expected = [Vk::SHIFT, Vk::LSHIFT, Vk::RIGHT, Vk::A, Vk::VOLUME_UP, Vk::RBUTTON];
    assert_eq!(keyboard.state().unwrap().buttons, BTreeSet::from(expected));
    keyboard.release(Key::Right).unwrap();
    keyboard.release("漢".parse().unwrap()).unwrap();
    assert_eq!(keyboard.state().unwrap().buttons.len(), 5);
    keyboard.release_all().unwrap();
    assert!(keyboard.state().unwrap().keys.is_empty());
}

#[test]
fn what_is_held_is_released_when_its_user_goes() {
    let desktop = desktop();
    let _probe = Probe::cover(&desktop);
    // Another user of the same display, as one of a display that is not ours.
    let user = Desktop::connect(desktop.address()).unwrap();
    let before = mapping(&desktop);
    for key in ["shift", "a", "Right", "漢", "!"] {
        user.keyboard().press(key.parse().unwrap()).unwrap();
    }
    // Up and down again: text is typed without what is held.
    user.keyboard().type_text("xЖ").unwrap();
    assert_eq!(desktop.keyboard().state().unwrap().keys.len(), 5);
    assert_ne!(mapping(&desktop), before);
    drop(user);
    assert_eq!(desktop.keyboard().state().unwrap().keys, []);
    assert_eq!(mapping(&desktop), before, "codes are given back on a display of somebody else");
}

fn mapping(desktop: &Desktop) -> Vec<u32> {
    use x11rb::protocol::xproto::ConnectionExt as _;
    let x = connect(desktop);
    let map = x.get_keyboard_mapping(8, 248).unwrap().reply().unwrap();
    // How many columns there are depends on who asks when.
    let per = usize::from(map.keysyms_per_keycode);
    map.keysyms.chunks(per).flat_map(|row| [row[0], row[1]]).collect()
}

#[test]
fn two_desktops_do_not_see_each_other() {
    let (one, other) = (desktop(), desktop());
    let (first, second) = (Probe::cover(&one), Probe::cover(&other));
    one.keyboard().press(Key::Control).unwrap();
    one.keyboard().type_text("only here: 漢字\n").unwrap();
    assert!(!keys(first.events()).is_empty());
    assert_eq!(keys(second.events()), []);
    assert_eq!(other.keyboard().state().unwrap().keys, []);
    other.keyboard().type_text("und nur da: äöü\n").unwrap();
    assert!(!keys(second.events()).is_empty());
    assert_eq!(keys(first.events()), []);
    assert_eq!(one.keyboard().state().unwrap().keys, [Key::Control]);
}

#[test]
fn a_held_key_repeats_and_the_times_are_as_before() {
    let desktop = desktop();
    let probe = Probe::cover(&desktop);
    let keyboard = desktop.keyboard();
    let before = repetition(&desktop);
    let ms = Duration::from_millis;
    keyboard.hold(Key::Right, ms(700), ms(100), ms(20)).unwrap();
    keyboard.state().unwrap();
    let all = keys(probe.events());
    let presses = all.iter().filter(|(_, down, _)| *down).count();
    assert!(all.iter().all(|(code, _, _)| *code == RIGHT));
    // With the times of the server there would be two at most.
    assert!(presses > 3, "{presses}");
    assert_eq!(all.last(), Some(&(RIGHT, false, 0)));
    assert_eq!(repetition(&desktop), before);
    let too_long = keyboard.hold(Key::Right, ms(601_000), ms(1), ms(1)).unwrap_err();
    assert!(too_long.is_callers());
}

/// Milliseconds before the first repetition, and between two.
fn repetition(desktop: &Desktop) -> (u16, u16) {
    use x11rb::protocol::xkb::ConnectionExt as _;
    let x = connect(desktop);
    x.xkb_use_extension(1, 0).unwrap().reply().unwrap();
    let controls = x.xkb_get_controls(0x0100).unwrap().reply().unwrap();
    (controls.repeat_delay, controls.repeat_interval)
}

#[test]
fn what_cannot_be_typed_is_refused_before_anything_is_sent() {
    let desktop = desktop();
    let probe = Probe::cover(&desktop);
    probe.events();
    for bad in ["abc\x07", "\x1b", "\u{fffe}"] {
        let error = desktop.keyboard().type_text(bad).unwrap_err();
        assert!(matches!(error, DesktopError::Invalid(_)), "{error}");
    }
    let long = "a".repeat(1_000_001);
    assert!(desktop.keyboard().type_text(&long).unwrap_err().is_callers());
    assert_eq!(keys(probe.events()), []);
    desktop.keyboard().type_text("").unwrap();
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
    let error = desktop.keyboard().type_text(&"x".repeat(2_000)).unwrap_err();
    assert!(error.is_callers(), "{error}");
    assert!(error.to_string().contains("hangs"), "{error}");
    assert_eq!(desktop.keyboard().state().unwrap().keys, []);
}
