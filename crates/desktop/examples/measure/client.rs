//! A plain X client of our own, apart from the connection that is measured: it probes, draws and
//! receives as any program on the desktop would.

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use agon_desktop::DisplayAddress;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, CreateGCAux,
    CreateWindowAux, EventMask, Gcontext, InputFocus, Rectangle, Window, WindowClass,
};
use x11rb::rust_connection::{DefaultStream, RustConnection};

use crate::figure::Failed;

const WITHIN: Duration = Duration::from_secs(30);
/// An early question may be lost.
const ASK_AGAIN: Duration = Duration::from_millis(1);

pub(crate) struct Client {
    x: RustConnection,
    screen: usize,
}

impl Client {
    pub(crate) fn connect(address: &DisplayAddress) -> Result<Self, Failed> {
        match address {
            DisplayAddress::Named(name) => {
                let (x, screen) = RustConnection::connect(Some(name))?;
                Ok(Self { x, screen })
            }
            DisplayAddress::Socket { path, cookie } => {
                let (stream, _) = DefaultStream::from_unix_stream(UnixStream::connect(path)?)?;
                // An authority file ends with the cookie itself.
                let file = cookie.authority_file();
                let secret = file
                    .last_chunk::<16>()
                    .ok_or("there is no cookie")?
                    .to_vec();
                let name = b"MIT-MAGIC-COOKIE-1".to_vec();
                let x = RustConnection::connect_to_stream_with_auth_info(stream, 0, name, secret)?;
                Ok(Self { x, screen: 0 })
            }
        }
    }

    fn root(&self) -> Window {
        self.x.setup().roots[self.screen].root
    }

    /// The next event, or `None` when none came until `deadline`.
    pub(crate) fn event(&self, deadline: Instant) -> Result<Option<Event>, Failed> {
        loop {
            if let Some(event) = self.x.poll_for_event()? {
                return Ok(Some(event));
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let mut fds = [PollFd::from_borrowed_fd(
                self.x.stream().as_fd(),
                PollFlags::IN,
            )];
            if poll(&mut fds, Some(&Timespec::try_from(left)?))? == 0 {
                return Ok(None);
            }
        }
    }

    /// Waits until a window manager names itself.
    pub(crate) fn wait_for_window_manager(&self) -> Result<(), Failed> {
        let mask = ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        self.x.change_window_attributes(self.root(), &mask)?;
        let atom = self
            .x
            .intern_atom(false, b"_NET_SUPPORTING_WM_CHECK")?
            .reply()?
            .atom;
        let named = |window| -> Result<Option<Window>, Failed> {
            let asked = self
                .x
                .get_property(false, window, atom, AtomEnum::WINDOW, 0, 1)?;
            Ok(asked.reply().ok().and_then(|found| found.value32()?.next()))
        };
        let deadline = Instant::now() + WITHIN;
        loop {
            if let Some(window) = named(self.root())?
                && named(window)? == Some(window)
            {
                return Ok(());
            }
            if self.event(deadline)?.is_none() {
                return Err("no window manager came".into());
            }
        }
    }

    /// Waits until the window manager answers a question, as a desktop of ours does before it is
    /// ready: openbox names itself long before it handles what programs ask for.
    pub(crate) fn wait_for_answer(&self) -> Result<(), Failed> {
        let x = &self.x;
        let atom =
            |name: &[u8]| -> Result<u32, Failed> { Ok(x.intern_atom(false, name)?.reply()?.atom) };
        let question = atom(b"_NET_REQUEST_FRAME_EXTENTS")?;
        let answer = atom(b"_NET_FRAME_EXTENTS")?;
        let (window, root) = (x.generate_id()?, self.root());
        let look = CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        let class = WindowClass::INPUT_OUTPUT;
        x.create_window(0, window, root, 0, 0, 1, 1, 0, class, 0, &look)?;
        let deadline = Instant::now() + WITHIN;
        while Instant::now() < deadline {
            let event = ClientMessageEvent::new(32, window, question, [0; 5]);
            let to = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_REDIRECT;
            x.send_event(false, root, to, event)?;
            let again = Instant::now() + ASK_AGAIN;
            loop {
                let asked = x.get_property(false, window, answer, AtomEnum::CARDINAL, 0, 4)?;
                if asked.reply()?.value32().is_some() {
                    x.destroy_window(window)?;
                    return Ok(());
                }
                if self.event(again)?.is_none() {
                    break;
                }
            }
        }
        Err("the window manager does not answer".into())
    }

    /// A window over the whole screen that nobody manages; it has the keyboard when this returns.
    pub(crate) fn cover_screen(&self) -> Result<Canvas<'_>, Failed> {
        let screen = &self.x.setup().roots[self.screen];
        let (window, pen) = (self.x.generate_id()?, self.x.generate_id()?);
        let mask = EventMask::KEY_PRESS | EventMask::EXPOSURE | EventMask::FOCUS_CHANGE;
        let look = CreateWindowAux::new()
            .event_mask(mask)
            .override_redirect(1)
            .background_pixel(screen.white_pixel);
        let (width, height) = (screen.width_in_pixels, screen.height_in_pixels);
        let class = WindowClass::INPUT_OUTPUT;
        let root = screen.root;
        self.x
            .create_window(0, window, root, 0, 0, width, height, 0, class, 0, &look)?;
        self.x.create_gc(
            pen,
            window,
            &CreateGCAux::new().foreground(screen.black_pixel),
        )?;
        self.x.map_window(window)?;
        self.x.flush()?;
        self.until(|event| matches!(event, Event::Expose(_)))?;
        self.x
            .set_input_focus(InputFocus::PARENT, window, x11rb::CURRENT_TIME)?;
        self.x.flush()?;
        self.until(|event| matches!(event, Event::FocusIn(_)))?;
        Ok(Canvas {
            client: self,
            window,
            pen,
            size: (width, height),
        })
    }

    fn until(&self, wanted: impl Fn(&Event) -> bool) -> Result<(), Failed> {
        let deadline = Instant::now() + WITHIN;
        while let Some(event) = self.event(deadline)? {
            if wanted(&event) {
                return Ok(());
            }
        }
        Err("the window did not come up".into())
    }
}

pub(crate) struct Canvas<'c> {
    client: &'c Client,
    window: Window,
    pen: Gcontext,
    size: (u16, u16),
}

impl Canvas<'_> {
    /// Draws the whole screen anew, different from the time before.
    pub(crate) fn draw(&self, number: u16) -> Result<(), Failed> {
        let (width, height) = self.size;
        let x = &self.client.x;
        x.clear_area(false, self.window, 0, 0, 0, 0)?;
        let bars: Vec<Rectangle> = (0..8)
            .map(|bar| Rectangle {
                x: ((number * 7 + bar * (width / 8)) % width).cast_signed(),
                y: 0,
                width: width / 16,
                height,
            })
            .collect();
        x.poly_fill_rectangle(self.window, self.pen, &bars)?;
        x.flush()?;
        Ok(())
    }
}
