//! What an agent on a private desktop can't reach: the X server's process, other desktops, and the
//! displays of the host.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use agon::core::InputKind;
use agon::core::verdict::Outcome;
use serde_json::json;

use super::room::{CLIENT, Room, moment};
use crate::probe::{refusal, watched};

/// A display of the host that lets everybody in, gone with the test.
struct HostDisplay {
    server: Child,
    number: String,
}

impl HostDisplay {
    fn start() -> Self {
        let mut server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "64x64x24", "-ac"])
            .args(["-nolisten", "tcp", "-extension", "GLX"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut number = String::new();
        let mut said = BufReader::new(server.stdout.take().unwrap());
        said.read_line(&mut number).unwrap();
        Self {
            server,
            number: number.trim().to_owned(),
        }
    }

    fn answers(&self) -> bool {
        let ask = Command::new("xwininfo")
            .args(["-root", "-display", &format!(":{}", self.number)])
            .stdout(Stdio::null())
            .status();
        ask.unwrap().success()
    }
}

impl Drop for HostDisplay {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

#[test]
fn nothing_but_its_own_display_is_there() {
    let host = HostDisplay::start();
    assert!(host.answers());
    let number = &host.number;
    let programs = "cat /proc/[0-9]*/comm | grep -E 'Xvfb|openbox|bwrap|agon'";
    let here = Command::new("sh").args(["-c", programs]).output().unwrap();
    assert!(here.status.success(), "{here:?}");
    let commands = [
        "ls /tmp/.X11-unix".to_owned(),
        format!("DISPLAY=:{number} xwininfo -root"),
        format!("DISPLAY=unix:{number} xwininfo -root"),
        format!("DISPLAY=127.0.0.1:{number} xwininfo -root"),
        "XAUTHORITY=/dev/null xwininfo -root".to_owned(),
        programs.to_owned(),
        "grep X11-unix /proc/net/unix | grep -v X11-unix/X4242$".to_owned(),
        "touch /tmp/.X11-unix/X1".to_owned(),
        "rm /tmp/.X11-unix/X4242".to_owned(),
        "mv /tmp/.X11-unix /tmp/x".to_owned(),
        "ls /dev/shm".to_owned(),
        "xwininfo -root".to_owned(),
    ];
    let actions: Vec<_> = commands
        .iter()
        .map(|command| watched(command))
        .map(|command| json!({ "action": "run", "command": format!("({command}) 2>&1") }))
        .collect();
    let played = Room::played(&json!(actions), &json!({ "actions": ["run", "finish"] }));
    let steps = played.steps();
    assert_eq!(steps.len(), commands.len());
    let said: Vec<_> = steps
        .iter()
        .map(|step| (step.seen.exit_status.unwrap(), step.seen.text.trim()))
        .collect();
    assert_eq!(said[0], (0, "X4242"));
    for (command, (status, said)) in commands[1..10].iter().zip(&said[1..10]) {
        assert_eq!(refusal(command, Some(*status), said, None), Ok(()));
    }
    assert_eq!(said[10], (0, ""), "no memory is shared with the host");
    assert_eq!(said[11].0, 0, "its own display does answer: {}", said[11].1);
    assert!(host.answers());
}

/// Keeps all that is typed, and tells of other windows.
const KEEPER: &str = "xterm -T TITLE -geometry 40x10+0+0 -e sh -c 'cat > typed.txt'";

#[test]
fn the_input_of_one_desktop_never_reaches_another() {
    let room = Room::new();
    for word in ["aaaa", "bbbb", "cccc"] {
        let mut actions = Vec::new();
        for _ in 0..8 {
            let line = format!("{}\n", word.repeat(20));
            actions.push(json!({ "action": "click", "x": 99, "y": 99 }));
            actions.push(json!({ "action": "type", "text": line }));
        }
        let list = "xwininfo -root -tree | grep -oE '(aaaa|bbbb|cccc)' | sort -u";
        actions.push(json!({ "action": "run", "command": list }));
        actions.push(moment());
        let text = format!("{}\n", word.repeat(20)).repeat(8);
        let changes = json!({
            "environment": { "apps": [KEEPER.replace("TITLE", word)] },
            "actions": ["click", "type", "run", "wait", "finish"],
            "checks": [{ "type": "file", "path": "typed.txt", "equals": text }],
        });
        room.task(word, &json!(actions), &changes);
    }
    room.play(&["--workers", "3"]).expect(0);
    for word in ["aaaa", "bbbb", "cccc"] {
        let played = room.trial(word);
        assert_eq!(played.line.outcome, Outcome::Passed, "{:?}", played.line);
        let steps = played.steps();
        let pressed = steps.iter().flat_map(|step| &step.input);
        let pressed = pressed.filter(|event| event.kind == InputKind::KeyPress);
        let keys: Vec<_> = pressed.map(|event| event.key.as_deref().unwrap()).collect();
        assert_eq!(keys.len(), 8 * 81);
        let own = [&word[..1], "Return"];
        assert!(keys.iter().all(|key| own.contains(key)), "{word}: {keys:?}");
        assert_eq!(steps[16].seen.text.trim(), word);
    }
}

/// Makes pictures on the X server until it refuses, by the protocol itself, and says how many.
const GREEDY: &str = r#"
made = refused = 0
for number in range(64):
    # 64 MiB each.
    x.sendall(struct.pack("<BBHIIHH", 53, 24, 4, base + number, root, 4096, 4096))
    x.sendall(struct.pack("<BBHI", 14, 0, 2, base + number))
    answer = get(32)
    if answer[0] == 0: refused += 1; answer = get(32)
    else: made += 1
print(made, refused)
"#;

#[test]
fn pictures_of_clients_do_not_take_the_machines_memory() {
    let actions = json!([
        { "action": "write", "path": "/tmp/greedy.py", "content": format!("{CLIENT}{GREEDY}") },
        { "action": "run", "command": "python3 /tmp/greedy.py" },
        { "action": "screenshot" },
    ]);
    let allowed = json!({ "actions": ["write", "run", "screenshot", "finish"] });
    let played = Room::played(&actions, &allowed);
    let steps = played.steps();
    let said = &steps[1].seen.text;
    let numbers: Vec<u32> = said
        .split_whitespace()
        .map_while(|word| word.parse().ok())
        .collect();
    let [made, refused] = numbers[..] else {
        panic!("{said}");
    };
    assert!(made > 0 && made <= 16 && refused > 0, "{said}");
    steps[2].done();
}
