//! The window: shown, drawn into, and what its keys and its user say. Nothing here knows the rules.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::fs::FileExt as _;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::MemfdFlags;
use rustix::io::Errno;
use x11rb::connection::{Connection as _, RequestConnection as _};
use x11rb::properties::WmSizeHints;
use x11rb::protocol::Event;
use x11rb::protocol::shm::{self, ConnectionExt as _};
use x11rb::protocol::xkb::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, CreateGCAux, CreateWindowAux, EventMask, Gcontext, ImageFormat,
    ImageOrder, PropMode, Window as WindowId, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use crate::canvas::Canvas;
use crate::error::HexagonError;
use crate::game::Key;

x11rb::atom_manager! {
    Atoms: AtomsCookie {
        UTF8_STRING,
        WM_DELETE_WINDOW,
        WM_PROTOCOLS,
        _NET_WM_NAME,
        _NET_WM_PID,
    }
}

const PIXEL_BITS: u8 = 32;
/// What X servers call the core keyboard.
const CORE_KEYBOARD: u16 = 0x100;
const LEFT: [u32; 2] = [0xff51, 0xff96];
const RIGHT: [u32; 2] = [0xff53, 0xff98];
const SPACE: [u32; 1] = [0x20];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum News {
    Press(Key),
    Release(Key),
    /// The keyboard went elsewhere: releases will not be told.
    FocusLost,
    /// What was drawn is gone.
    Exposed,
    Closed,
}

/// How pictures get to the server.
#[derive(Debug)]
enum Way {
    /// Through memory that the server sees. It is written as a file, which needs no mapping here.
    Shared {
        segment: shm::Seg,
        file: File,
        /// The server has not yet read the picture before.
        busy: bool,
    },
    Plain,
}

#[derive(Debug)]
pub struct Window {
    x: RustConnection,
    id: WindowId,
    context: Gcontext,
    depth: u8,
    atoms: Atoms,
    way: Way,
    /// Symbols of the keyboard: so many for each code, from the first code on.
    symbols: Vec<u32>,
    symbols_per_code: u8,
    first_code: u8,
}

impl Window {
    pub fn open(title: &str, (width, height): (u16, u16)) -> Result<Self, HexagonError> {
        let (x, screen) = x11rb::connect(None)?;
        let setup = x.setup();
        let (first_code, codes) = (setup.min_keycode, setup.max_keycode - setup.min_keycode + 1);
        let screen = &setup.roots[screen];
        let (root, depth) = (screen.root, screen.root_depth);
        let fits = setup
            .pixmap_formats
            .iter()
            .any(|format| format.depth == depth && format.bits_per_pixel == PIXEL_BITS);
        if !fits || setup.image_byte_order != ImageOrder::LSB_FIRST {
            return Err(HexagonError::Colours);
        }
        let atoms = Atoms::new(&x)?.reply()?;
        let keyboard = x.get_keyboard_mapping(first_code, codes)?.reply()?;
        let (id, context) = (x.generate_id()?, x.generate_id()?);
        let events = EventMask::EXPOSURE
            | EventMask::KEY_PRESS
            | EventMask::KEY_RELEASE
            | EventMask::FOCUS_CHANGE;
        x.create_window(
            x11rb::COPY_DEPTH_FROM_PARENT,
            id,
            root,
            0,
            0,
            width,
            height,
            0,
            WindowClass::INPUT_OUTPUT,
            x11rb::COPY_FROM_PARENT,
            &CreateWindowAux::new().event_mask(events),
        )?;
        x.create_gc(context, id, &CreateGCAux::new().graphics_exposures(0))?;
        let way = share(&x, usize::from(width) * usize::from(height) * 4)?;
        let window = Self {
            x,
            id,
            context,
            depth,
            atoms,
            way,
            symbols: keyboard.keysyms,
            symbols_per_code: keyboard.keysyms_per_keycode,
            first_code,
        };
        window.describe(title, (width, height))?;
        window.tell_repeats_apart()?;
        window.x.map_window(id)?.check()?;
        Ok(window)
    }

    /// What window managers want to know.
    fn describe(&self, title: &str, (width, height): (u16, u16)) -> Result<(), HexagonError> {
        let (x, id, atoms) = (&self.x, self.id, &self.atoms);
        let text = |property: u32, kind: u32, text: &[u8]| {
            x.change_property8(PropMode::REPLACE, id, property, kind, text)
        };
        text(
            AtomEnum::WM_NAME.into(),
            AtomEnum::STRING.into(),
            title.as_bytes(),
        )?;
        text(atoms._NET_WM_NAME, atoms.UTF8_STRING, title.as_bytes())?;
        text(
            AtomEnum::WM_CLASS.into(),
            AtomEnum::STRING.into(),
            b"hexagon\0Hexagon\0",
        )?;
        let numbers = |property: u32, kind: AtomEnum, number: u32| {
            x.change_property32(PropMode::REPLACE, id, property, kind, &[number])
        };
        numbers(atoms.WM_PROTOCOLS, AtomEnum::ATOM, atoms.WM_DELETE_WINDOW)?;
        numbers(atoms._NET_WM_PID, AtomEnum::CARDINAL, std::process::id())?;
        let size = Some((i32::from(width), i32::from(height)));
        let hints = WmSizeHints {
            min_size: size,
            max_size: size,
            ..WmSizeHints::new()
        };
        hints.set_normal_hints(x, id)?;
        Ok(())
    }

    /// A key that is held is repeated as presses alone, not as releases and presses.
    fn tell_repeats_apart(&self) -> Result<(), HexagonError> {
        let x = &self.x;
        if x.extension_information(xkb::X11_EXTENSION_NAME)?.is_none() {
            return Ok(());
        }
        x.xkb_use_extension(1, 0)?.reply()?;
        let flag = xkb::PerClientFlag::DETECTABLE_AUTO_REPEAT;
        let none = xkb::BoolCtrl::default();
        x.xkb_per_client_flags(CORE_KEYBOARD, flag, flag, none, none, none)?
            .reply()?;
        Ok(())
    }

    /// Waits until something came or it is time.
    pub fn wait(&self, until: Instant) -> Result<(), HexagonError> {
        let left = until.saturating_duration_since(Instant::now());
        let mut fds = [PollFd::from_borrowed_fd(
            self.x.stream().as_fd(),
            PollFlags::IN,
        )];
        match poll(&mut fds, Some(&timespec(left))) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(HexagonError::Wait(error.into())),
        }
    }

    /// What came, if anything did. Never waits.
    pub fn next_news(&mut self) -> Result<Option<News>, HexagonError> {
        while let Some(event) = self.x.poll_for_event()? {
            if let Some(news) = self.news_of(&event)? {
                return Ok(Some(news));
            }
        }
        Ok(None)
    }

    fn news_of(&mut self, event: &Event) -> Result<Option<News>, HexagonError> {
        let news = match event {
            Event::KeyPress(event) => self.key(event.detail).map(News::Press),
            Event::KeyRelease(event) => self.key(event.detail).map(News::Release),
            Event::FocusOut(_) => Some(News::FocusLost),
            Event::Expose(event) if event.count == 0 => Some(News::Exposed),
            Event::ClientMessage(event)
                if event.type_ == self.atoms.WM_PROTOCOLS
                    && event.data.as_data32()[0] == self.atoms.WM_DELETE_WINDOW =>
            {
                Some(News::Closed)
            }
            Event::MappingNotify(_) => {
                self.read_keyboard()?;
                None
            }
            Event::ShmCompletion(_) => {
                if let Way::Shared { busy, .. } = &mut self.way {
                    *busy = false;
                }
                None
            }
            _ => None,
        };
        Ok(news)
    }

    fn read_keyboard(&mut self) -> Result<(), HexagonError> {
        let setup = self.x.setup();
        let codes = setup.max_keycode - setup.min_keycode + 1;
        let keyboard = self
            .x
            .get_keyboard_mapping(self.first_code, codes)?
            .reply()?;
        self.symbols = keyboard.keysyms;
        self.symbols_per_code = keyboard.keysyms_per_keycode;
        Ok(())
    }

    fn key(&self, code: u8) -> Option<Key> {
        let index = usize::from(code.checked_sub(self.first_code)?);
        let first = self
            .symbols
            .chunks(usize::from(self.symbols_per_code).max(1))
            .nth(index)?
            .first()?;
        [
            (Key::Left, LEFT.as_slice()),
            (Key::Right, RIGHT.as_slice()),
            (Key::Space, SPACE.as_slice()),
        ]
        .into_iter()
        .find(|(_, symbols)| symbols.contains(first))
        .map(|(key, _)| key)
    }

    /// Whether a picture can be shown now; not while the server has not read the one before.
    pub const fn is_ready(&self) -> bool {
        !matches!(self.way, Way::Shared { busy: true, .. })
    }

    /// Shows a picture, all of it at once: nobody sees a half of it.
    pub fn show(&mut self, canvas: &Canvas) -> Result<(), HexagonError> {
        let (width, height) = (canvas.width() as u16, canvas.height() as u16);
        match &mut self.way {
            Way::Shared {
                segment,
                file,
                busy,
            } => {
                file.write_all_at(canvas.bytes(), 0)
                    .map_err(HexagonError::Wait)?;
                let format = ImageFormat::Z_PIXMAP.into();
                self.x.shm_put_image(
                    self.id,
                    self.context,
                    width,
                    height,
                    0,
                    0,
                    width,
                    height,
                    0,
                    0,
                    self.depth,
                    format,
                    true,
                    *segment,
                    0,
                )?;
                *busy = true;
            }
            Way::Plain => {
                self.x.put_image(
                    ImageFormat::Z_PIXMAP,
                    self.id,
                    self.context,
                    width,
                    height,
                    0,
                    0,
                    0,
                    self.depth,
                    canvas.bytes(),
                )?;
            }
        }
        self.x.flush()?;
        Ok(())
    }
}

/// Memory that the server sees too; where it can't, pictures go through the connection.
fn share(x: &RustConnection, size: usize) -> Result<Way, HexagonError> {
    if x.extension_information(shm::X11_EXTENSION_NAME)?.is_none() {
        return Ok(Way::Plain);
    }
    let version = x.shm_query_version()?.reply()?;
    if (version.major_version, version.minor_version) < (1, 2) {
        return Ok(Way::Plain);
    }
    let made = rustix::fs::memfd_create("hexagon", MemfdFlags::CLOEXEC)
        .map_err(io::Error::from)
        .and_then(|memory| {
            let file = File::from(memory);
            file.set_len(size as u64)?;
            let theirs = file.try_clone()?;
            Ok((file, theirs))
        });
    let (file, theirs) = made.map_err(HexagonError::Wait)?;
    let segment = x.generate_id()?;
    // A server on another machine has the extension as well, and refuses.
    if x.shm_attach_fd(segment, theirs, true)?.check().is_err() {
        return Ok(Way::Plain);
    }
    Ok(Way::Shared {
        segment,
        file,
        busy: false,
    })
}

fn timespec(duration: Duration) -> Timespec {
    Timespec {
        tv_sec: duration.as_secs().min(3600) as i64,
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}
