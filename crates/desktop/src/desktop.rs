//! A desktop: the one value from which screen, keyboard, mouse, windows and listeners are reached.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use agon_sandbox::OwnedFolder;
use rustix::event::PollFlags;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{AtomEnum, ChangeWindowAttributesAux, ConnectionExt as _, EventMask};

use crate::address::DisplayAddress;
use crate::clipboard::{Clipboard, Offer};
use crate::config::DesktopConfig;
use crate::error::DesktopError;
use crate::geometry::Size;
use crate::input::{Keyboard, Mouse, Seat};
use crate::private::{PrivateServer, ServerState};
use crate::screen::{Capturer, Screen};
use crate::windows::{self, Windows};
use crate::x11::{Lines, XConnection, ready};

/// The background of private desktops.
const BACKGROUND: u32 = 0x002e_3440;

/// So many frames may be held in shared memory before new ones are copied.
const FRAMES: usize = 8;

/// Who runs the X server. What is ours ends with the desktop.
#[derive(Debug)]
enum Host {
    Private(PrivateServer),
    /// The folder with the socket; the container itself belongs to somebody else.
    Container(#[expect(dead_code, reason = "held, so that it is removed in time")] OwnedFolder),
    /// A display that was there before us.
    Given,
}

#[derive(Debug)]
pub struct Desktop {
    /// Dropped first: what is held is released while there is a server to release it on.
    seat: Seat,
    x: Arc<XConnection>,
    capturer: Capturer,
    /// For what needs events of its own.
    lines: Lines,
    address: DisplayAddress,
    host: Host,
    offer: Offer,
}

impl Desktop {
    /// What programs find in `DISPLAY` that see the socket of a private desktop.
    pub const PRIVATE_NAME: &str = ":4242";

    /// The number in it.
    pub const PRIVATE_NUMBER: u32 = 4242;

    /// A private desktop: an X server with a window manager, ready to be used.
    pub fn start(config: &DesktopConfig) -> Result<Self, DesktopError> {
        let deadline = Instant::now() + config.start;
        let server = PrivateServer::start(config)?;
        server.start_window_manager()?;
        let mut desktop = Self::connect(&server.address())?;
        desktop.paint_background()?;
        let managed = desktop.wait_for_window_manager(deadline);
        match managed {
            Ok(true) => {}
            Ok(false) => {
                return Err(DesktopError::Timeout {
                    what: format!("starting the window manager ({})", server.complaints()),
                    within: config.start,
                });
            }
            Err(error) => return Err(error),
        }
        desktop.host = Host::Private(server);
        // The first picture is the slowest: its memory is new to us and to the server.
        desktop.screen().capture()?;
        Ok(desktop)
    }

    /// A display that is there already.
    pub fn connect(address: &DisplayAddress) -> Result<Self, DesktopError> {
        let x = Arc::new(XConnection::open(address)?);
        let capturer = Capturer::new(Arc::clone(&x), FRAMES)?;
        Ok(Self {
            seat: Seat::new(Arc::clone(&x)),
            x,
            capturer,
            lines: Lines::default(),
            address: address.clone(),
            host: Host::Given,
            offer: Offer::default(),
        })
    }

    pub fn address(&self) -> &DisplayAddress {
        &self.address
    }

    pub fn size(&self) -> Size {
        self.x.size()
    }

    /// The folder that a sandbox must be shown as `/tmp/.X11-unix`; there the display has the name
    /// [`Desktop::PRIVATE_NAME`].
    pub fn socket_folder(&self) -> Option<PathBuf> {
        self.server().map(PrivateServer::socket_folder)
    }

    fn server(&self) -> Option<&PrivateServer> {
        match &self.host {
            Host::Private(server) => Some(server),
            Host::Container(_) | Host::Given => None,
        }
    }

    pub(crate) fn in_container(mut self, folder: OwnedFolder) -> Self {
        self.host = Host::Container(folder);
        self
    }

    /// Whether programs on the desktop can end its X server.
    pub fn is_within_reach(&self) -> bool {
        matches!(self.host, Host::Container(_))
    }

    /// Whether the X server still answers.
    pub fn answers(&self) -> bool {
        self.x.sync().is_ok()
    }

    /// How a private X server stands that does not answer any more. Blocks for a moment.
    pub fn server_state(&self) -> Option<ServerState> {
        self.server().map(PrivateServer::state)
    }

    /// Ends a private X server now, whoever else still holds the desktop.
    pub fn end(&self) {
        self.hang_up();
        if let Some(server) = self.server() {
            server.end();
        }
    }

    /// Cuts all connections that act on the desktop: whoever waits for an answer of the X server gets
    /// an error now, and so does whoever asks for something later.
    pub fn hang_up(&self) {
        self.x.scissors().cut();
        self.lines.cut();
    }

    /// A further connection, which ends no later than this one.
    pub(crate) fn line(&self) -> Result<XConnection, DesktopError> {
        self.lines.open(&self.address)
    }

    /// Releases what is held through us and hangs up. Nobody who still has this desktop can press
    /// anything any more, whatever he is doing.
    pub fn let_go(&self) {
        self.seat.close();
        self.hang_up();
    }

    /// The process of a private desktop's jail.
    pub fn process(&self) -> Option<u32> {
        self.server().map(PrivateServer::process)
    }

    pub fn keyboard(&self) -> Keyboard<'_> {
        let nobody_sits_there = !matches!(self.host, Host::Given);
        Keyboard::new(&self.seat, &self.address, nobody_sits_there)
    }

    /// What keyboard and mouse share.
    pub(crate) fn seat(&self) -> &Seat {
        &self.seat
    }

    pub fn mouse(&self) -> Mouse<'_> {
        Mouse::new(self)
    }

    pub fn windows(&self) -> Windows<'_> {
        Windows::new(self)
    }

    pub fn clipboard(&self) -> Clipboard<'_> {
        Clipboard::new(self)
    }

    pub(crate) fn offer(&self) -> &Offer {
        &self.offer
    }

    pub fn screen(&self) -> Screen<'_> {
        // A connection that is broken shows by the next request.
        let _ = self.x.forget_news();
        Screen::new(&self.capturer, &self.address)
    }

    pub(crate) fn x(&self) -> &Arc<XConnection> {
        &self.x
    }

    fn paint_background(&self) -> Result<(), DesktopError> {
        let attributes = ChangeWindowAttributesAux::new().background_pixel(BACKGROUND);
        let (x, root) = (self.x.x(), self.x.root());
        x.change_window_attributes(root, &attributes)?;
        x.clear_area(false, root, 0, 0, 0, 0)?;
        self.x.sync()
    }

    /// Waits until a window manager says that it manages this screen, and has begun to: one that
    /// still reads its fonts loses the windows that are opened. Says whether one does.
    pub(crate) fn wait_for_window_manager(&self, deadline: Instant) -> Result<bool, DesktopError> {
        // A connection of its own: its events are nobody else's.
        let watch = XConnection::open(&self.address)?;
        let (x, root) = (watch.x(), watch.root());
        let attributes = ChangeWindowAttributesAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        x.change_window_attributes(root, &attributes)?.check()?;
        loop {
            if is_managed(&watch)? && lists_windows(&watch)? {
                return windows::answers(&self.address, deadline);
            }
            // News that came with the answers are read already: the socket does not tell of them.
            if x.poll_for_event()?.is_some() {
                while x.poll_for_event()?.is_some() {}
                continue;
            }
            let stream = std::os::fd::AsFd::as_fd(x.stream());
            let readable = ready(stream, PollFlags::IN, deadline);
            if !readable.map_err(DesktopError::io("can't wait for the X server"))? {
                return Ok(false);
            }
        }
    }
}

/// A window manager names a window of its own on the root, and the same on that window.
pub(crate) fn is_managed(watch: &XConnection) -> Result<bool, DesktopError> {
    let atom = watch.atoms()._NET_SUPPORTING_WM_CHECK;
    let named = |window| -> Result<Option<u32>, DesktopError> {
        let property = watch
            .x()
            .get_property(false, window, atom, AtomEnum::WINDOW, 0, 1)?
            .reply();
        // A window that is gone names nothing.
        Ok(property.ok().and_then(|found| found.value32()?.next()))
    };
    match named(watch.root())? {
        Some(window) => Ok(named(window)? == Some(window)),
        None => Ok(false),
    }
}

/// A window manager that has begun says which windows there are, be they none.
fn lists_windows(watch: &XConnection) -> Result<bool, DesktopError> {
    let (atom, root) = (watch.atoms()._NET_CLIENT_LIST, watch.root());
    let list = watch
        .x()
        .get_property(false, root, atom, AtomEnum::WINDOW, 0, 0)?;
    Ok(list.reply()?.type_ != x11rb::NONE)
}
