//! Steps of an attempt as they are shown: rows of the list, and one step whole with the screens around it.

use agon_core::{Picture, ScreenPoint};
use serde_json::Value;

use super::bounded::Room;
use super::outline::{Outline, Spot, number};
use super::record::Record;
use crate::error::ViewerError;
use crate::shape::{Shot, Step, StepRow, Steps};

/// Rows that are given at once.
const MOST_ROWS: u32 = 500;

/// Events of one step that are given at once, and their bytes.
const MOST_EVENTS: usize = 500;
const MOST_BYTES: usize = 8 << 20;

/// What is longer is cut.
const LONGEST_STRING: usize = 64 << 10;

/// An event as far as its screen is in it, and the title of a window.
const MOST_OF_A_SHOT: usize = 1 << 20;
const LONGEST_TITLE: usize = 4 << 10;

pub(super) fn rows(outline: &Outline, from: u32, count: u32) -> Steps {
    let total = total(outline);
    let from = from.min(total);
    let end = from.saturating_add(count.min(MOST_ROWS)).min(total);
    Steps {
        total,
        from,
        rows: (from..end).map(|n| row(outline, n)).collect(),
    }
}

/// Of a trial without a record.
pub(super) fn none() -> Steps {
    Steps {
        total: 0,
        from: 0,
        rows: Vec::new(),
    }
}

fn total(outline: &Outline) -> u32 {
    outline.acted().saturating_add(2)
}

fn row(outline: &Outline, n: u32) -> StepRow {
    let blob = |sight: Option<u32>| Some(outline.sights.get(sight? as usize)?.blob);
    let (before, after) = around(outline, n);
    let (before, after) = (blob(before), blob(after));
    let shot = after.or(before).map(|blob| blob.to_hex());
    let changed = after.is_some() && after != before;
    match outline.marks.get(n as usize) {
        Some(mark) => StepRow {
            n,
            t: mark.t,
            kind: mark.kind.as_ref().to_owned(),
            brief: mark.brief.as_ref().to_owned(),
            shot,
            changed,
            failed: mark.failed,
        },
        None => StepRow {
            n,
            t: began(outline, n),
            kind: "end".to_owned(),
            brief: ended(outline),
            shot,
            changed,
            // Of an end that is: faulted (`wrong` of timeline.js).
            failed: outline.fault.is_some(),
        },
    }
}

/// The last row in a few words.
fn ended(outline: &Outline) -> String {
    match (&outline.end, outline.is_closed()) {
        (Some(end), _) => format!(
            "after the turn: {}",
            super::brief::words(&end.replace('_', " "))
        ),
        (None, true) if outline.only_set_up => "ended before the turn".to_owned(),
        (None, true) => "after the turn".to_owned(),
        (None, false) => "not ended".to_owned(),
    }
}

/// The screens before and after a step, by their numbers.
fn around(outline: &Outline, n: u32) -> (Option<u32>, Option<u32>) {
    if let Some(mark) = outline.marks.get(n as usize) {
        return (mark.before, mark.after);
    }
    let rest = outline.rest();
    let behind = outline.sights.partition_point(|sight| sight.event < rest);
    let last = outline.sights.len();
    let after = (last > behind).then(|| number(last - 1));
    (behind.checked_sub(1).map(number), after)
}

/// When a step is shown: the time of its action.
fn began(outline: &Outline, n: u32) -> f64 {
    if let Some(mark) = outline.marks.get(n as usize) {
        return mark.t;
    }
    let first = outline.events.get(outline.rest() as usize);
    first.map_or(outline.duration, |spot| spot.t)
}

/// One step, whole.
pub(super) fn whole(record: &Record, n: u32) -> Result<Step, ViewerError> {
    let (row, until, before, after, chosen, more) = {
        let kept = record.kept();
        let outline = &kept.outline;
        let total = total(outline);
        if n >= total {
            return Err(ViewerError::NotFound(format!(
                "there is no step {n}: the last one is {}",
                total - 1
            )));
        }
        let row = row(outline, n);
        let until = match n + 1 < total {
            true => began(outline, n + 1).max(row.t),
            false => outline.duration.max(row.t),
        };
        let (before, after) = around(outline, n);
        let spot = |sight: Option<u32>| {
            let sight = outline.sights.get(sight? as usize)?;
            outline.events.get(sight.event as usize).copied()
        };
        let (chosen, more) = chosen(events(outline, n));
        (row, until, spot(before), spot(after), chosen, more)
    };
    let shot = |spot: Option<Spot>| {
        let spot = spot?;
        let mut room = Room {
            left: MOST_OF_A_SHOT,
            longest: LONGEST_TITLE,
            cut: false,
        };
        shot(&record.event(spot, &mut room).ok()?, spot.t)
    };
    let mut events = Vec::with_capacity(chosen.len());
    let mut more = more;
    let mut room = Room {
        left: MOST_BYTES,
        longest: LONGEST_STRING,
        cut: false,
    };
    for spot in chosen {
        if room.left == 0 {
            more += 1;
            continue;
        }
        room.cut = false;
        let mut event = record.event(spot, &mut room)?;
        if let (true, Some(fields)) = (room.cut, event.as_object_mut()) {
            fields.insert("cut".to_owned(), Value::Bool(true));
            // By which the whole of it is asked for.
            fields.insert("seq".to_owned(), spot.seq.into());
        }
        events.push(event);
    }
    Ok(Step {
        row,
        until,
        before: shot(before),
        after: shot(after),
        events,
        more,
    })
}

fn events(outline: &Outline, n: u32) -> &[Spot] {
    let first = |n: u32| {
        let mark = outline.marks.get(n as usize);
        mark.map_or_else(|| outline.rest(), |mark| mark.first) as usize
    };
    let end = match (n as usize) < outline.marks.len() {
        true => first(n + 1),
        false => outline.events.len(),
    };
    outline.events.get(first(n)..end).unwrap_or_default()
}

/// Those of a stream are left out before any other.
fn chosen(events: &[Spot]) -> (Vec<Spot>, u32) {
    if events.len() <= MOST_EVENTS {
        return (events.to_vec(), 0);
    }
    let single = events.iter().filter(|spot| !spot.streamed).count();
    let mut room_single = single.min(MOST_EVENTS);
    let mut room_streamed = MOST_EVENTS - room_single;
    let mut fits = |spot: &&Spot| {
        let room = match spot.streamed {
            true => &mut room_streamed,
            false => &mut room_single,
        };
        let fits = *room > 0;
        *room = room.saturating_sub(1);
        fits
    };
    let chosen: Vec<Spot> = events.iter().filter(|spot| fits(spot)).copied().collect();
    let more = number(events.len() - chosen.len());
    (chosen, more)
}

/// The screen that an event shows. What is not as expected in it is left out.
fn shot(event: &Value, t: f64) -> Option<Shot> {
    let screen = event
        .pointer("/observation/screen")
        .or_else(|| event.pointer("/screen/screen"))?;
    let side = |name: &str| {
        let side = screen.get(name)?.as_u64()?;
        u32::try_from(side).ok()
    };
    let picture: Picture = serde_json::from_value(screen.get("picture")?.clone()).ok()?;
    let cursor = screen.get("cursor").cloned();
    let cursor = cursor.and_then(|cursor| serde_json::from_value::<ScreenPoint>(cursor).ok());
    let title = screen.pointer("/window/title").and_then(Value::as_str);
    Some(Shot {
        picture,
        width: side("width")?,
        height: side("height")?,
        cursor,
        window: title.map(str::to_owned),
        t,
    })
}
