//! A window like that of a game: it draws numbered frames at a steady rate and notes when each key
//! arrives. Knows nothing of agents.

use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use agon_desktop::{Desktop, DisplayAddress, Key};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    ChangeGCAux, ConnectionExt as _, CreateGCAux, CreateWindowAux, EventMask, Gcontext, PropMode,
    Rectangle, Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

use crate::figure::Failed;

pub(crate) const TITLE: &str = "numbered frames";
const SIZE: u16 = 480;
const RATE: Duration = Duration::from_nanos(16_666_667);

/// Frames are told apart by their colour, one of so many.
pub(crate) const COLOURS: u32 = 8;

/// The key of each colour: 1 to 8.
pub(crate) fn key_of(colour: u32) -> Result<Key, Failed> {
    let digit = char::from_digit(colour + 1, 10).ok_or("no such colour")?;
    Ok(Key::from_char(digit).ok_or("a digit is no key")?)
}

/// The colour of a key code: on every usual keyboard the digits begin with 10.
pub(crate) fn colour_of_key(code: u8) -> Option<u32> {
    let colour = u32::from(code.checked_sub(10)?);
    (colour < COLOURS).then_some(colour)
}

/// What the window saw.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Seen {
    /// A frame with this number is on the screen from now on.
    Drawn(u32, Instant),
    /// The key code, and whether it went down.
    Key(u8, bool, Instant),
}

/// Draws until it is dropped.
pub(crate) struct NumberedFrames {
    pub(crate) seen: Receiver<Seen>,
    _stop: Sender<()>,
}

impl NumberedFrames {
    /// Shows the window and makes it the active one. Without `moving` it draws one frame only.
    pub(crate) fn show(desktop: &Desktop, moving: bool) -> Result<Self, Failed> {
        let (tell, seen) = mpsc::channel();
        let (stop, stopped) = mpsc::channel();
        let address = desktop.address().clone();
        let mut pane = Pane::open(&address)?;
        std::thread::spawn(move || {
            // Ends when nobody looks any more, or the desktop is gone.
            let _ = pane.run(moving, &tell, &stopped);
        });
        desktop.windows().wait_for(TITLE, Duration::from_secs(10))?;
        desktop.windows().make_active(TITLE)?;
        Ok(Self { seen, _stop: stop })
    }
}

struct Pane {
    x: RustConnection,
    window: Window,
    gc: Gcontext,
}

impl Pane {
    fn open(address: &DisplayAddress) -> Result<Self, Failed> {
        let (x, screen) = connect(address)?;
        let root = &x.setup().roots[screen];
        let (window, gc) = (x.generate_id()?, x.generate_id()?);
        let events = EventMask::KEY_PRESS | EventMask::KEY_RELEASE;
        let look = CreateWindowAux::new()
            .event_mask(events)
            .background_pixel(0);
        x.create_window(
            x11rb::COPY_DEPTH_FROM_PARENT,
            window,
            root.root,
            0,
            0,
            SIZE,
            SIZE,
            0,
            WindowClass::INPUT_OUTPUT,
            x11rb::COPY_FROM_PARENT,
            &look,
        )?;
        x.change_property8(
            PropMode::REPLACE,
            window,
            u32::from(x11rb::protocol::xproto::AtomEnum::WM_NAME),
            u32::from(x11rb::protocol::xproto::AtomEnum::STRING),
            TITLE.as_bytes(),
        )?;
        x.create_gc(gc, window, &CreateGCAux::new())?;
        x.map_window(window)?;
        x.flush()?;
        Ok(Self { x, window, gc })
    }

    fn run(
        &mut self,
        moving: bool,
        tell: &Sender<Seen>,
        stopped: &Receiver<()>,
    ) -> Result<(), Failed> {
        let mut next = Instant::now();
        for number in 0.. {
            if moving || number == 0 {
                self.draw(number)?;
                tell.send(Seen::Drawn(number, Instant::now()))?;
            }
            next += RATE;
            // Keys are noted the moment they come, between two frames.
            while Instant::now() < next {
                match self.x.poll_for_event()? {
                    Some(Event::KeyPress(key)) => {
                        tell.send(Seen::Key(key.detail, true, Instant::now()))?;
                    }
                    Some(Event::KeyRelease(key)) => {
                        tell.send(Seen::Key(key.detail, false, Instant::now()))?;
                    }
                    Some(_) => {}
                    None => self.wait(next)?,
                }
            }
            if stopped.try_recv() == Err(mpsc::TryRecvError::Disconnected) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// In the middle half of the window; a frame is there when the server has answered.
    fn draw(&self, number: u32) -> Result<(), Failed> {
        let colour = ChangeGCAux::new().foreground(colour_of(number));
        self.x.change_gc(self.gc, &colour)?;
        let place = Rectangle {
            x: 0,
            y: 0,
            width: SIZE,
            height: SIZE,
        };
        self.x
            .poly_fill_rectangle(self.window, self.gc, &[place])?
            .check()?;
        Ok(())
    }

    fn wait(&self, until: Instant) -> Result<(), Failed> {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        let left = until.saturating_duration_since(Instant::now());
        let left = Timespec {
            tv_sec: 0,
            tv_nsec: i64::from(left.subsec_nanos()),
        };
        let mut watched = [PollFd::new(self.x.stream(), PollFlags::IN)];
        poll(&mut watched, Some(&left))?;
        Ok(())
    }
}

/// The colour of a frame: its number in the uppermost bits of green.
fn colour_of(number: u32) -> u32 {
    0x0040_0040 | ((number % COLOURS) * 32) << 8
}

/// The number of a frame's colour, if this is one.
pub(crate) fn number_of(pixel: u32) -> Option<u32> {
    let green = (pixel >> 8) & 0xff;
    (pixel & 0x00ff_00ff == 0x0040_0040 && green.is_multiple_of(32)).then_some(green / 32)
}

fn connect(address: &DisplayAddress) -> Result<(RustConnection, usize), Failed> {
    let DisplayAddress::Socket { path, cookie } = address else {
        return Err("a private desktop has a socket".into());
    };
    let stream = std::os::unix::net::UnixStream::connect(path)?;
    let (stream, _) = x11rb::rust_connection::DefaultStream::from_unix_stream(stream)?;
    // An authority file ends with the cookie itself.
    let file = cookie.authority_file();
    let secret = file
        .last_chunk::<16>()
        .ok_or("there is no cookie")?
        .to_vec();
    let name = b"MIT-MAGIC-COOKIE-1".to_vec();
    let x = RustConnection::connect_to_stream_with_auth_info(stream, 0, name, secret)?;
    Ok((x, 0))
}
