//! How a task is played in real time.

use agon_core::digest::Hasher;
use agon_core::files::FileTree;
use agon_core::{EnvironmentKind, HostOnly, Limits, Realtime, Seconds, SightTest};

use super::check::Setting;
use super::sight;
use crate::format::RealtimeFile;
use crate::source::{Node, NodeError};

/// Looking takes its time, and the game needs the processor as well.
const SHORTEST_INTERVAL: Seconds = Seconds::millis(50);
const INTERVAL: Seconds = Seconds::millis(500);
const FRAMES: u32 = 3;
/// 260 MB of frames of 1280x800.
const MOST_FRAMES: u32 = 64;

/// The limits of a real-time task where nothing is said. A step is one look at the screen, and there
/// may be hundreds in a second: what ends a play is time.
pub(super) fn limits() -> Limits {
    Limits {
        steps: 1_000_000,
        seconds: Seconds::whole(120),
        ..Limits::default()
    }
}

/// `node` is that of `realtime`.
pub(super) fn realtime(
    file: RealtimeFile,
    node: &Node,
    setting: &Setting<'_>,
    errors: &mut Vec<NodeError>,
) -> Option<Realtime> {
    let before = errors.len();
    let kind = setting.environment.kind;
    if kind != EnvironmentKind::Desktop {
        errors.push(
            NodeError::new(format!("a {kind} environment has no real time"))
                .help("`realtime` is for environment: {kind: desktop}")
                .at(node.head()),
        );
        return None;
    }
    for (key, text) in [("window", &file.window), ("begin", &file.begin)] {
        if let Some(text) = text
            && (text.trim().is_empty() || text.contains(char::is_control))
        {
            errors.push(wrong(node, key, &format!("`{key}` is no line of text")));
        }
    }
    let interval = file.interval.map_or(INTERVAL, |interval| interval.0);
    if interval < SHORTEST_INTERVAL {
        let message = format!("an interval is at least {SHORTEST_INTERVAL}");
        errors.push(wrong(node, "interval", &message));
    }
    let frames = file.frames.unwrap_or(FRAMES);
    if !(1..=MOST_FRAMES).contains(&frames) {
        let message = format!("`frames` is a number from 1 to {MOST_FRAMES}");
        errors.push(wrong(node, "frames", &message));
    }
    let list = node.get("ends").map_or(&[][..], Node::items);
    let ends: Vec<SightTest> = list
        .iter()
        .filter_map(|node| sight::end(node, setting, errors))
        .collect();
    (errors.len() == before).then(|| Realtime {
        window: file.window,
        clock: file.clock.map_or_else(Default::default, |clock| clock.0),
        begin: file.begin,
        templates: HostOnly::new(templates(&ends, setting.verify)),
        ends: HostOnly::new(ends),
        interval,
        frames,
    })
}

/// What is looked for while the task is played must be at hand before the grader's files are.
fn templates(ends: &[SightTest], verify: &FileTree) -> FileTree {
    let mut found = FileTree::default();
    for entry in verify.entries() {
        let wanted = |end: &SightTest| matches!(end, SightTest::Template { path, .. } if *entry.path == **path);
        if ends.iter().any(wanted) {
            // It was accepted into a tree before.
            let _ = found.push(entry.clone());
        }
    }
    found
}

/// Feeds what changes the play into a digest. `ends` are taken as they are written.
pub(super) fn feed(realtime: &Realtime, node: &Node, hasher: &mut Hasher) {
    hasher.part(b"realtime");
    for part in [&realtime.window, &realtime.begin] {
        hasher.part(part.as_deref().unwrap_or_default().as_bytes());
    }
    hasher.part(realtime.clock.to_string().as_bytes());
    hasher.part(&realtime.interval.get().to_le_bytes());
    hasher.part(&realtime.frames.to_le_bytes());
    if let Some(ends) = node.get("ends") {
        ends.feed(hasher);
    }
    hasher.part(realtime.templates.on_host().digest().bytes());
}

fn wrong(node: &Node, key: &str, message: &str) -> NodeError {
    NodeError::new(message).at(node.key_span(key).unwrap_or_else(|| node.head()))
}
