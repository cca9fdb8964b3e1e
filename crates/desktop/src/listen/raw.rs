//! Raw events of keyboards and mice (XInput 2), wherever the focus is and whoever has grabbed them.
//!
//! Masters tell of nothing while a program has frozen them by a synchronous grab; the devices below
//! them do. So these are listened to, and each thing that happens is told once. Repetitions of a key
//! that is held are made by the master and are no raw events.

use std::time::Duration;

use agon_core::InputKind;
use x11rb::connection::RequestConnection as _;
use x11rb::protocol::Event as XEvent;
use x11rb::protocol::xinput::{
    self, ConnectionExt as _, Device, EventMask, Fp3232, RawButtonPressEvent, RawKeyPressEvent,
    XIEventMask,
};
use x11rb::protocol::xproto::{
    ConnectionExt as _, Keycode, Mapping, MappingNotifyEvent, QueryPointerReply,
};

use super::event::{Event, InputEvent};
use super::keymap::Keymap;
use super::listener::ListenConfig;
use super::pointer::{Step, Track};
use super::watch::{Arrived, Inbox};
use crate::error::DesktopError;
use crate::geometry::Point;
use crate::key::Key;
use crate::x11::XConnection;

/// How often the server is asked again because more came in while it was asked.
const ROUNDS: usize = 4;

/// From this version on raw events are told despite grabs.
const VERSION: (u16, u16) = (2, 1);

/// What is listened to, and what is needed to understand it.
#[derive(Debug)]
pub(super) struct RawInput {
    keyboard: bool,
    keymap: Option<Keymap>,
    /// The Shift keys that are held.
    shifts: Vec<Keycode>,
    track: Option<Track>,
}

/// What an event says, without what the server has to be asked for.
enum Raw {
    Key {
        kind: InputKind,
        code: Keycode,
    },
    Button {
        kind: InputKind,
        number: u8,
    },
    Motion {
        x: Option<f64>,
        y: Option<f64>,
    },
    /// The keys from `first` on mean something else now.
    Mapping {
        first: Keycode,
        count: u8,
    },
}

impl RawInput {
    pub(super) fn select(x: &XConnection, config: &ListenConfig) -> Result<Self, DesktopError> {
        let mut mask = XIEventMask::default();
        if config.keyboard {
            mask = mask | XIEventMask::RAW_KEY_PRESS | XIEventMask::RAW_KEY_RELEASE;
        }
        if config.mouse {
            let buttons = XIEventMask::RAW_BUTTON_PRESS | XIEventMask::RAW_BUTTON_RELEASE;
            mask = mask | buttons | XIEventMask::RAW_MOTION;
        }
        if config.keyboard || config.mouse || config.mouse_state.is_some() {
            let known = x.x().extension_information(xinput::X11_EXTENSION_NAME)?;
            let version = match known {
                Some(_) => x
                    .x()
                    .xinput_xi_query_version(VERSION.0, VERSION.1)?
                    .reply()?,
                None => xinput::XIQueryVersionReply::default(),
            };
            if (version.major_version, version.minor_version) < VERSION {
                return Err(DesktopError::Unsupported(
                    "the X server lacks XInput 2.1, which listening needs".to_owned(),
                ));
            }
        }
        if config.keyboard || config.mouse {
            let of_all = EventMask {
                deviceid: Device::ALL.into(),
                mask: vec![mask],
            };
            x.x()
                .xinput_xi_select_events(x.root(), &[of_all])?
                .check()?;
        }
        let keys = config.keyboard || config.keyboard_state.is_some();
        let track = || -> Result<Track, DesktopError> {
            let there = x.x().query_pointer(x.root())?.reply()?;
            Ok(Track::new(x.size(), point(&there)))
        };
        Ok(Self {
            keyboard: config.keyboard,
            keymap: keys
                .then(|| Keymap::read(x))
                .transpose()?
                .map(|(keymap, _)| keymap),
            shifts: Vec::new(),
            track: config.mouse.then(track).transpose()?,
        })
    }

    pub(super) const fn keymap(&self) -> Option<&Keymap> {
        self.keymap.as_ref()
    }

    /// Tells what keyboard and mouse did. What comes in while the server is asked where the pointer
    /// is, or what keys mean, is added to the batch.
    pub(super) fn read(
        &mut self,
        inbox: &mut Inbox,
        batch: &mut Vec<Arrived>,
        events: &mut Vec<Event>,
    ) -> Result<(), DesktopError> {
        let (mut end, mut keymap) = (None, None);
        let (mut placed, mut named) = (0, 0);
        for _ in 0..ROUNDS {
            let (x, root) = (inbox.x().x(), inbox.x().root());
            let any = |from: usize, is: fn(&Raw) -> bool| {
                let mut rest = batch.iter().skip(from).filter_map(|one| raw(&one.event));
                rest.any(|raw| is(&raw))
            };
            let place = self.track.is_some() && any(placed, Raw::is_pointer);
            let name = self.keymap.is_some() && any(named, Raw::is_mapping);
            if !place && !name {
                break;
            }
            let mut asked = None;
            if place {
                let question = x.query_pointer(root)?;
                asked = Some(question.sequence_number());
                end = Some(point(&question.reply()?));
            }
            if name {
                let (read, sequence) = Keymap::read(inbox.x())?;
                asked = asked.or(Some(sequence));
                keymap = Some(read);
            }
            inbox.gather(asked, batch)?;
            placed = if place { batch.len() } else { placed };
            named = if name { batch.len() } else { named };
        }
        let came: Vec<(Duration, Raw)> = batch
            .iter()
            .filter_map(|one| Some((one.t, raw(&one.event)?)))
            .collect();
        self.tell_keys(&came, keymap.as_ref(), events);
        if let (Some(track), Some(end)) = (&mut self.track, end) {
            tell_pointer(track, &came, end, events);
        }
        if keymap.is_some() {
            self.keymap = keymap;
        }
        Ok(())
    }

    fn tell_keys(
        &mut self,
        came: &[(Duration, Raw)],
        new: Option<&Keymap>,
        events: &mut Vec<Event>,
    ) {
        if !self.keyboard {
            return;
        }
        for (at, (t, raw)) in came.iter().enumerate() {
            let Raw::Key { kind, code } = *raw else {
                continue;
            };
            let changes = |part: &[(Duration, Raw)]| part.iter().any(|(_, raw)| raw.changes(code));
            let meaning = if self.shifts.is_empty() {
                Keymap::key
            } else {
                Keymap::shifted
            };
            let before = self
                .keymap
                .as_ref()
                .and_then(|keymap| meaning(keymap, code));
            let after = new.and_then(|keymap| meaning(keymap, code));
            let key = match (changes(&came[..at]), changes(&came[at..])) {
                (false, _) => before,
                (true, false) => after,
                // What it meant in between nobody knows.
                (true, true) => before.filter(|_| before == after),
            };
            self.shifts.retain(|held| *held != code);
            if kind == InputKind::KeyPress && matches!(key, Some(Key::Shift | Key::ShiftRight)) {
                self.shifts.push(code);
            }
            events.push(Event::Input(InputEvent {
                key: key.map(|key| key.name().into_owned()),
                vk: key.and_then(Key::vk),
                keycode: Some(code),
                ..InputEvent::new(*t, kind)
            }));
        }
    }
}

impl Raw {
    const fn is_pointer(&self) -> bool {
        matches!(self, Self::Button { .. } | Self::Motion { .. })
    }

    const fn is_mapping(&self) -> bool {
        matches!(self, Self::Mapping { .. })
    }

    const fn changes(&self, code: Keycode) -> bool {
        match *self {
            Self::Mapping { first, count } => code >= first && code - first < count,
            _ => false,
        }
    }
}

fn point(reply: &QueryPointerReply) -> Point {
    Point {
        x: reply.root_x.into(),
        y: reply.root_y.into(),
    }
}

fn tell_pointer(track: &mut Track, came: &[(Duration, Raw)], end: Point, events: &mut Vec<Event>) {
    let steps: Vec<(Duration, &Raw, Step)> = came
        .iter()
        .filter_map(|(t, raw)| {
            let step = match *raw {
                Raw::Motion { x, y } => Step::Motion { x, y },
                Raw::Button { .. } => Step::Rest,
                _ => return None,
            };
            Some((*t, raw, step))
        })
        .collect();
    let only: Vec<Step> = steps.iter().map(|(_, _, step)| *step).collect();
    let places = track.follow(&only, end);
    for ((t, raw, _), place) in steps.into_iter().zip(places) {
        let event = |kind| InputEvent {
            x: Some(place.x),
            y: Some(place.y),
            ..InputEvent::new(t, kind)
        };
        let event = match *raw {
            Raw::Button { kind, number } => match (notch(number), kind) {
                (None, kind) => InputEvent {
                    button: Some(number),
                    ..event(kind)
                },
                (Some((dx, dy)), InputKind::ButtonPress) => InputEvent {
                    dx: Some(dx),
                    dy: Some(dy),
                    ..event(InputKind::Scroll)
                },
                // A notch has no end.
                (Some(_), _) => continue,
            },
            _ => event(InputKind::Motion),
        };
        events.push(Event::Input(event));
    }
}

/// The buttons that are a wheel: by how much to the right and down.
const fn notch(button: u8) -> Option<(i32, i32)> {
    match button {
        4 => Some((0, -1)),
        5 => Some((0, 1)),
        6 => Some((-1, 0)),
        7 => Some((1, 0)),
        _ => None,
    }
}

fn raw(event: &XEvent) -> Option<Raw> {
    let key = |event: &RawKeyPressEvent, kind| {
        let code = Keycode::try_from(event.detail).ok()?;
        (event.deviceid == event.sourceid).then_some(Raw::Key { kind, code })
    };
    let button = |event: &RawButtonPressEvent, kind| {
        let number = u8::try_from(event.detail).ok()?;
        (event.deviceid == event.sourceid).then_some(Raw::Button { kind, number })
    };
    match event {
        XEvent::XinputRawKeyPress(event) => key(event, InputKind::KeyPress),
        XEvent::XinputRawKeyRelease(event) => key(event, InputKind::KeyRelease),
        XEvent::XinputRawButtonPress(event) => button(event, InputKind::ButtonPress),
        XEvent::XinputRawButtonRelease(event) => button(event, InputKind::ButtonRelease),
        XEvent::XinputRawMotion(event) => motion(event),
        XEvent::MappingNotify(event) => mapping(event),
        _ => None,
    }
}

/// The first two axes are the place; others are wheels, which are told as buttons too.
fn motion(event: &RawButtonPressEvent) -> Option<Raw> {
    let first = event.valuator_mask.first().copied().unwrap_or_default();
    let mut values = event.axisvalues.iter().map(number);
    let x = if first & 1 == 0 { None } else { values.next() };
    let y = if first & 2 == 0 { None } else { values.next() };
    let moves = event.deviceid == event.sourceid && (x.is_some() || y.is_some());
    moves.then_some(Raw::Motion { x, y })
}

fn mapping(event: &MappingNotifyEvent) -> Option<Raw> {
    (event.request == Mapping::KEYBOARD).then_some(Raw::Mapping {
        first: event.first_keycode,
        count: event.count,
    })
}

fn number(value: &Fp3232) -> f64 {
    f64::from(value.integral) + f64::from(value.frac) / 4_294_967_296.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn motion_event(mask: u32, values: &[i32]) -> RawButtonPressEvent {
        let value = |&integral: &i32| Fp3232 {
            integral,
            frac: 1 << 31,
        };
        RawButtonPressEvent {
            deviceid: 4,
            sourceid: 4,
            valuator_mask: vec![mask],
            axisvalues: values.iter().map(value).collect(),
            ..Default::default()
        }
    }

    #[test]
    fn axes_that_are_left_out_are_not_taken_for_others() {
        let read = |mask, values: &[i32]| match motion(&motion_event(mask, values)) {
            Some(Raw::Motion { x, y }) => Some((x, y)),
            _ => None,
        };
        assert_eq!(read(0b11, &[3, -4]), Some((Some(3.5), Some(-3.5))));
        assert_eq!(read(0b10, &[7]), Some((None, Some(7.5))));
        assert_eq!(read(0b1100, &[7, 8]), None, "wheels");
        assert_eq!(read(0b11, &[]), None, "a server that lies");
        let mut twice = motion_event(0b11, &[1, 2]);
        twice.deviceid = 2;
        assert!(motion(&twice).is_none(), "the master tells of it again");
    }

    #[test]
    fn a_key_whose_meaning_changed_around_it_has_no_name() {
        let key = |code| Raw::Key {
            kind: InputKind::KeyPress,
            code,
        };
        let mapping = || Raw::Mapping { first: 8, count: 2 };
        let came = [
            key(8),
            mapping(),
            key(8),
            key(9),
            mapping(),
            key(8),
            key(10),
        ];
        let came = came.map(|raw| (Duration::ZERO, raw));
        let keymap = |keysyms: &[u32]| Keymap::with(8, keysyms);
        let mut input = RawInput {
            keyboard: true,
            keymap: Some(keymap(&[0x61, 0x62, 0x63])),
            shifts: Vec::new(),
            track: None,
        };
        let mut events = Vec::new();
        input.tell_keys(&came, Some(&keymap(&[0x78, 0x62, 0x63])), &mut events);
        let names: Vec<Option<&str>> = events
            .iter()
            .map(|event| match event {
                Event::Input(event) => event.key.as_deref(),
                _ => None,
            })
            .collect();
        assert_eq!(names, [Some("a"), None, Some("b"), Some("x"), Some("c")]);
    }
}
