//! What one line of a record tells about a trial that is being played. Looks at a few fields and passes over
//! the rest: a record may hold anything, also kinds of events of a later version.

use std::borrow::Cow;

use serde::Deserialize;

/// A digest in hexadecimal.
const DIGEST: usize = 64;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// The agent acts, or says something that is no action: a step like any other.
    Action,
    /// Another phase begins.
    Phase(String),
    /// The blob of a screen.
    Shot(String),
    /// What came of the last action, in words alone.
    Output,
    /// What keyboard and mouse did.
    Input,
    /// Steps so far of a player that plays by itself.
    Reacted(u64),
    Nothing,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow, default)]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    source: Cow<'a, str>,
    #[serde(borrow, default)]
    phase: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    observation: Option<Seen<'a>>,
    #[serde(borrow, default)]
    screen: Option<Seen<'a>>,
    #[serde(default)]
    reacted: Option<Reacted>,
}

#[derive(Deserialize)]
struct Reacted {
    #[serde(default)]
    steps: u64,
}

#[derive(Deserialize)]
struct Seen<'a> {
    #[serde(borrow, default)]
    screen: Option<Screen<'a>>,
}

#[derive(Deserialize)]
struct Screen<'a> {
    #[serde(borrow, default)]
    picture: Option<Picture<'a>>,
}

#[derive(Deserialize)]
struct Picture<'a> {
    #[serde(borrow, default)]
    blob: Cow<'a, str>,
}

pub(super) fn peek(line: &[u8]) -> Told {
    let Ok(line) = serde_json::from_slice::<Line<'_>>(line) else {
        return Told::Nothing;
    };
    match &*line.kind {
        "action" | "refused" if line.source == "agent" => Told::Action,
        "phase" => line.phase.map_or(Told::Nothing, |phase| {
            Told::Phase(phase.chars().take(16).collect())
        }),
        "observation" => match shot(line.observation) {
            Told::Nothing => Told::Output,
            shot => shot,
        },
        "screen" => shot(line.screen),
        "input" => Told::Input,
        "reacted" => line
            .reacted
            .map_or(Told::Nothing, |reacted| Told::Reacted(reacted.steps)),
        _ => Told::Nothing,
    }
}

fn shot(seen: Option<Seen<'_>>) -> Told {
    let blob = seen
        .and_then(|seen| seen.screen?.picture)
        .map(|picture| picture.blob);
    match blob {
        Some(blob) if is_digest(&blob) => Told::Shot(blob.into_owned()),
        _ => Told::Nothing,
    }
}

fn is_digest(text: &str) -> bool {
    text.len() == DIGEST && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
