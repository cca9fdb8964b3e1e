//! The clipboard, with other programs on the other side.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use agon_desktop::{Desktop, DesktopConfig, DesktopError};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask, PropMode, Property,
    SelectionNotifyEvent, Window,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use super::probe::{PATIENCE, connect};

fn desktop() -> Desktop {
    Desktop::start(&DesktopConfig::default()).unwrap()
}

/// 1 MB or more with characters of one to four bytes.
fn long_text() -> String {
    "Grüße, мир, 世界, 🦀! \n".repeat(40_000)
}

/// Another program with a clipboard.
struct Client {
    x: RustConnection,
    window: Window,
}

impl Client {
    fn new(desktop: &Desktop) -> Self {
        let x = connect(desktop);
        let window = x.generate_id().unwrap();
        let root = x.setup().roots[0].root;
        let attributes =
            x11rb::protocol::xproto::CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        let class = x11rb::protocol::xproto::WindowClass::INPUT_OUTPUT;
        x.create_window(0, window, root, 0, 0, 1, 1, 0, class, 0, &attributes)
            .unwrap();
        Self { x, window }
    }

    fn atom(&self, name: &str) -> u32 {
        self.x
            .intern_atom(false, name.as_bytes())
            .unwrap()
            .reply()
            .unwrap()
            .atom
    }

    /// The next event, however long it takes.
    fn next(&self, wanted: impl Fn(&Event) -> bool) -> Event {
        loop {
            let event = self.x.wait_for_event().unwrap();
            if wanted(&event) {
                return event;
            }
        }
    }

    /// What a pasting program gets: type, bytes and in how many parts.
    fn paste(&self, target: &str) -> Option<(u32, Vec<u8>, usize)> {
        let (clipboard, target) = (self.atom("CLIPBOARD"), self.atom(target));
        let property = self.atom("PASTED");
        let time = x11rb::CURRENT_TIME;
        self.x
            .convert_selection(self.window, clipboard, target, property, time)
            .unwrap();
        self.x.flush().unwrap();
        let Event::SelectionNotify(told) = self.next(|e| matches!(e, Event::SelectionNotify(_)))
        else {
            panic!("another event was asked for");
        };
        if told.property == x11rb::NONE {
            return None;
        }
        let take = || {
            let kind = AtomEnum::ANY;
            let asked = self
                .x
                .get_property(true, self.window, property, kind, 0, u32::MAX / 4);
            asked.unwrap().reply().unwrap()
        };
        let first = take();
        if first.type_ != self.atom("INCR") {
            return Some((first.type_, first.value, 1));
        }
        let (mut bytes, mut parts) = (Vec::new(), 0);
        loop {
            self.next(|event| {
                matches!(event, Event::PropertyNotify(e)
                    if e.atom == property && e.state == Property::NEW_VALUE)
            });
            let part = take();
            if part.value.is_empty() {
                return Some((part.type_, bytes, parts));
            }
            parts += 1;
            bytes.extend(part.value);
        }
    }

    fn copy(&self) {
        let (clipboard, time) = (self.atom("CLIPBOARD"), x11rb::CURRENT_TIME);
        self.x
            .set_selection_owner(self.window, clipboard, time)
            .unwrap();
        self.x.get_input_focus().unwrap().reply().unwrap();
    }
}

/// How an owner of the clipboard behaves.
#[derive(Clone)]
enum Manner {
    /// Refuses all but this kind.
    Only(&'static str, Vec<u8>),
    /// In parts of so many bytes.
    Parts(Vec<u8>, usize),
    /// In parts, without an end.
    Flood,
    Silent,
}

/// Runs `with` while another program owns the clipboard.
fn while_owned<T>(desktop: &Desktop, manner: Manner, with: impl FnOnce() -> T) -> T {
    let client = Client::new(desktop);
    client.copy();
    let stop = client.atom("STOP");
    let (window, ender) = (client.window, connect(desktop));
    let (ended, end) = mpsc::channel();
    let thread = thread::spawn(move || {
        own(&client, &manner, stop);
        ended.send(()).unwrap();
    });
    let result = with();
    ender
        .change_property8(PropMode::REPLACE, window, stop, stop, &[1])
        .unwrap();
    ender.flush().unwrap();
    end.recv_timeout(PATIENCE).unwrap();
    thread.join().unwrap();
    result
}

fn own(client: &Client, manner: &Manner, stop: u32) {
    let x = &client.x;
    let incr = client.atom("INCR");
    let mut rest: Option<(Window, u32, u32, Vec<u8>)> = None;
    loop {
        match x.wait_for_event().unwrap() {
            Event::PropertyNotify(e) if e.atom == stop => return,
            Event::PropertyNotify(e) if e.state == Property::DELETE => {
                if let Some((to, property, kind, bytes)) = &mut rest
                    && (*to, *property) == (e.window, e.atom)
                {
                    let size = match manner {
                        Manner::Parts(_, size) => *size,
                        _ => bytes.len(),
                    };
                    let part: Vec<u8> = match manner {
                        Manner::Flood => bytes.clone(),
                        _ => bytes.drain(..size.min(bytes.len())).collect(),
                    };
                    let mode = PropMode::REPLACE;
                    x.change_property8(mode, *to, *property, *kind, &part)
                        .unwrap();
                    x.flush().unwrap();
                }
            }
            Event::SelectionRequest(request) => {
                let (to, property, target) = (request.requestor, request.property, request.target);
                let mode = PropMode::REPLACE;
                let given = match manner {
                    Manner::Silent => continue,
                    Manner::Only(kind, bytes) if client.atom(kind) == target => {
                        x.change_property8(mode, to, property, target, bytes)
                            .unwrap();
                        true
                    }
                    Manner::Only(..) => false,
                    Manner::Parts(..) | Manner::Flood => {
                        let bytes = match manner {
                            Manner::Parts(bytes, _) => bytes.clone(),
                            _ => vec![b'x'; 256 << 10],
                        };
                        let watched = EventMask::PROPERTY_CHANGE;
                        let watched = ChangeWindowAttributesAux::new().event_mask(watched);
                        x.change_window_attributes(to, &watched).unwrap();
                        x.change_property32(mode, to, property, incr, &[1]).unwrap();
                        rest = Some((to, property, target, bytes));
                        true
                    }
                };
                let told = SelectionNotifyEvent {
                    response_type: x11rb::protocol::xproto::SELECTION_NOTIFY_EVENT,
                    sequence: 0,
                    time: request.time,
                    requestor: to,
                    selection: request.selection,
                    target,
                    property: if given { property } else { x11rb::NONE },
                };
                x.send_event(false, to, EventMask::NO_EVENT, told).unwrap();
                x.flush().unwrap();
            }
            _ => {}
        }
    }
}

#[test]
fn a_text_is_what_was_set_short_long_and_empty() {
    let desktop = desktop();
    let clipboard = desktop.clipboard();
    assert_eq!(clipboard.get().unwrap(), "");
    let long = long_text();
    assert!(long.len() > 1 << 20);
    for text in ["plain", "Grüße 🦀\n\tend", "", &long, "short again"] {
        clipboard.set(text).unwrap();
        assert!(clipboard.get().unwrap() == text);
    }
    let too_long = "x".repeat((16 << 20) + 1);
    assert!(clipboard.set(&too_long).unwrap_err().is_callers());
    assert_eq!(clipboard.get().unwrap(), "short again");
    let longest = &too_long[1..];
    clipboard.set(longest).unwrap();
    assert!(clipboard.get().unwrap() == longest);
}

#[test]
fn another_program_pastes_what_we_set() {
    let desktop = desktop();
    let client = Client::new(&desktop);
    desktop.clipboard().set("Grüße 🦀").unwrap();
    for target in ["UTF8_STRING", "text/plain;charset=utf-8"] {
        let (kind, bytes, _) = client.paste(target).unwrap();
        assert_eq!(kind, client.atom(target));
        assert_eq!(bytes, "Grüße 🦀".as_bytes());
    }
    assert_eq!(client.paste("STRING").unwrap().1, b"Gr\xfc\xdfe ?");
    let (kind, targets, _) = client.paste("TARGETS").unwrap();
    assert_eq!(kind, client.atom("ATOM"));
    let targets: Vec<u32> = targets
        .chunks(4)
        .map(|four| u32::from_le_bytes(four.try_into().unwrap()))
        .collect();
    for target in [
        "TARGETS",
        "TIMESTAMP",
        "UTF8_STRING",
        "STRING",
        "text/plain;charset=utf-8",
    ] {
        assert!(targets.contains(&client.atom(target)), "{target}");
    }
    let since = client.paste("TIMESTAMP").unwrap().1;
    assert_ne!(u32::from_le_bytes(since.try_into().unwrap()), 0);
    assert_eq!(client.paste("image/png"), None);
    let long = long_text();
    desktop.clipboard().set(&long).unwrap();
    let (_, bytes, parts) = client.paste("UTF8_STRING").unwrap();
    assert!(bytes == long.as_bytes());
    assert!(parts > 1);
}

#[test]
fn we_get_what_another_program_copied() {
    let desktop = desktop();
    let get = || desktop.clipboard().get();
    let utf8 = Manner::Only("UTF8_STRING", "мир 🦀".into());
    assert_eq!(while_owned(&desktop, utf8, get).unwrap(), "мир 🦀");
    let mime = Manner::Only("text/plain;charset=utf-8", "世界".into());
    assert_eq!(while_owned(&desktop, mime, get).unwrap(), "世界");
    let latin1 = Manner::Only("STRING", b"\xfcber".to_vec());
    assert_eq!(while_owned(&desktop, latin1, get).unwrap(), "über");
    let invalid = Manner::Only("UTF8_STRING", b"a\xff\xfeb".to_vec());
    assert_eq!(
        while_owned(&desktop, invalid, get).unwrap(),
        "a\u{fffd}\u{fffd}b"
    );
    let long = long_text();
    let parts = Manner::Parts(long.clone().into_bytes(), 100_000);
    assert!(while_owned(&desktop, parts, get).unwrap() == long);
    // The owner is gone, and with it what it copied.
    assert_eq!(get().unwrap(), "");
}

#[test]
fn hostile_owners_are_errors_in_time() {
    let desktop = desktop();
    let get = || desktop.clipboard().get();
    let picture = Manner::Only("image/png", vec![0; 10]);
    assert!(
        while_owned(&desktop, picture, get)
            .unwrap_err()
            .is_callers()
    );
    let began = Instant::now();
    let error = while_owned(&desktop, Manner::Silent, get).unwrap_err();
    assert!(matches!(error, DesktopError::Timeout { .. }), "{error}");
    assert!(began.elapsed() >= Duration::from_secs(2));
    let error = while_owned(&desktop, Manner::Flood, get).unwrap_err();
    assert!(
        error.is_callers() || matches!(error, DesktopError::Timeout { .. }),
        "{error}"
    );
}

#[test]
fn another_owner_takes_over_and_we_take_it_back() {
    let desktop = desktop();
    desktop.clipboard().set("ours").unwrap();
    let theirs = Manner::Only("UTF8_STRING", "theirs".into());
    while_owned(&desktop, theirs, || {
        assert_eq!(desktop.clipboard().get().unwrap(), "theirs");
        desktop.clipboard().set("ours again").unwrap();
        assert_eq!(desktop.clipboard().get().unwrap(), "ours again");
    });
    assert_eq!(desktop.clipboard().get().unwrap(), "ours again");
}

#[test]
fn the_offer_ends_with_its_desktop() {
    let desktop = desktop();
    let user = Desktop::connect(desktop.address()).unwrap();
    user.clipboard().set("for now").unwrap();
    assert_eq!(desktop.clipboard().get().unwrap(), "for now");
    drop(user);
    assert_eq!(desktop.clipboard().get().unwrap(), "");
}
