//! The task's own script that runs over what the agent left, before anybody looks at it: in a fresh
//! sandbox, whose working folder then takes the place of the agent's.

use agon_sandbox::{ExecOutput, WorkArchive};

use super::fresh::{Room, Rooms, Stop};
use crate::furnish::{said, script};

/// Bytes kept of each stream.
const OUTPUT: u64 = 1 << 20;

/// What came of it.
#[derive(Debug)]
pub(super) struct Completed {
    /// What both streams said.
    pub(super) output: Vec<u8>,
    pub(super) work: WorkArchive,
    /// It did not end well: the agent's doing or the script's, which nobody can tell.
    pub(super) complaint: Option<String>,
}

pub(super) async fn complete(
    rooms: &Rooms<'_>,
    text: &str,
    work: &WorkArchive,
) -> Result<Completed, Stop> {
    let mut room = rooms.empty().await?;
    let completed = complete_in(&mut room, text, work).await;
    room.close().await;
    completed
}

async fn complete_in(
    room: &mut Room<'_>,
    text: &str,
    work: &WorkArchive,
) -> Result<Completed, Stop> {
    room.unpack(work).await?;
    let mut exec = script(text, room.limit());
    exec.keep = OUTPUT;
    exec.env.extend(agon_grade::careful_python());
    let output = room.run(&exec).await?;
    Ok(Completed {
        work: room.freeze().await?,
        complaint: (!output.exit.success()).then(|| said(&output)),
        output: joined(output),
    })
}

fn joined(output: ExecOutput) -> Vec<u8> {
    let mut text = output.stdout.bytes;
    if !output.stderr.bytes.is_empty() {
        text.extend_from_slice(b"\n[stderr]\n");
        text.extend(output.stderr.bytes);
    }
    text
}
