//! One connection to an X server: made with a deadline, with what is asked of every server once.

use std::os::unix::net::UnixStream;

use x11rb::connection::Connection;
use x11rb::errors::{ConnectError, ConnectionError, ReplyError, ReplyOrIdError};
use x11rb::protocol::xproto::{
    ConnectionExt as _, CreateWindowAux, EventMask, ImageOrder, Screen, Window, WindowClass,
};
use x11rb::rust_connection::RustConnection;

use super::atoms::Atoms;
use super::stream::{DeadlineStream, Scissors};
use crate::address::{self, DisplayAddress};
use crate::authority::Cookie;
use crate::error::DesktopError;
use crate::geometry::Size;

/// What is forgotten at a time: whoever makes news faster than that must not hold us up.
const MOST_NEWS: usize = 10_000;

pub(crate) struct XConnection {
    x: RustConnection<DeadlineStream>,
    screen: usize,
    atoms: Atoms,
}

impl std::fmt::Debug for XConnection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("XConnection")
    }
}

impl XConnection {
    pub(crate) fn open(address: &DisplayAddress) -> Result<Self, DesktopError> {
        match address {
            DisplayAddress::Socket { path, cookie } => {
                let socket = address::connect(path).map_err(DesktopError::io(format!(
                    "can't reach the display at {}",
                    path.display()
                )))?;
                Self::over(socket, 0, Cookie::name(), cookie.data())
            }
            DisplayAddress::Named(name) => Self::named(name),
        }
    }

    fn named(name: &str) -> Result<Self, DesktopError> {
        use x11rb::reexports::x11rb_protocol::parse_display::{ConnectAddress, parse_display};
        use x11rb::reexports::x11rb_protocol::xauth::{Family, get_auth};
        let parsed = parse_display(Some(name)).map_err(|_| {
            DesktopError::Invalid(format!("`{name}` is no display: expected one such as :0"))
        })?;
        let paths = parsed
            .connect_instruction()
            .filter_map(|address| match address {
                ConnectAddress::Socket(path) => Some(path),
                _ => None,
            });
        let mut why = "it is no display of this machine".to_owned();
        for path in paths {
            match address::connect_in_time(path.as_bytes()) {
                Ok(socket) => {
                    let host = rustix::system::uname();
                    let host = host.nodename().to_bytes();
                    let auth = get_auth(Family::LOCAL, host, parsed.display);
                    let (auth_name, data) = auth.ok().flatten().unwrap_or_default();
                    return Self::over(socket, parsed.screen.into(), auth_name, data);
                }
                Err(error) => why = error.to_string(),
            }
        }
        Err(DesktopError::Missing(format!(
            "can't reach the display {name}: {why}; `agon desktop list` shows those of Agon"
        )))
    }

    fn over(
        socket: UnixStream,
        screen: usize,
        auth_name: Vec<u8>,
        auth: Vec<u8>,
    ) -> Result<Self, DesktopError> {
        let stream = DeadlineStream::new(socket).map_err(DesktopError::io("can't use a socket"))?;
        let x = RustConnection::connect_to_stream_with_auth_info(stream, screen, auth_name, auth)?;
        let setup = x.setup();
        let plain = setup.image_byte_order == ImageOrder::LSB_FIRST
            && setup
                .roots
                .get(screen)
                .is_some_and(|root| root.root_depth == 24)
            && setup
                .pixmap_formats
                .iter()
                .any(|format| format.depth == 24 && format.bits_per_pixel == 32);
        if !plain {
            return Err(DesktopError::Unsupported(
                "the display is not of depth 24 with 32 bits per pixel, little endian".to_owned(),
            ));
        }
        let atoms = Atoms::new(&x)?.reply()?;
        Ok(Self { x, screen, atoms })
    }

    pub(crate) fn x(&self) -> &RustConnection<DeadlineStream> {
        &self.x
    }

    pub(crate) fn atoms(&self) -> &Atoms {
        &self.atoms
    }

    fn screen(&self) -> &Screen {
        // Looked at in `over`.
        &self.x.setup().roots[self.screen]
    }

    pub(crate) fn root(&self) -> Window {
        self.screen().root
    }

    /// The size that the screen had when we connected.
    pub(crate) fn size(&self) -> Size {
        let screen = self.screen();
        Size::new(
            screen.width_in_pixels.into(),
            screen.height_in_pixels.into(),
        )
    }

    /// Comes back when the server has handled everything sent before.
    pub(crate) fn sync(&self) -> Result<(), DesktopError> {
        self.x.get_input_focus()?.reply()?;
        Ok(())
    }

    /// A window that is never shown: to be told of changes of its properties. Ends with the connection.
    pub(crate) fn unseen_window(&self) -> Result<Window, DesktopError> {
        let window = self.x.generate_id()?;
        let attributes = CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE);
        let class = WindowClass::INPUT_OUTPUT;
        self.x
            .create_window(0, window, self.root(), 0, 0, 1, 1, 0, class, 0, &attributes)?
            .check()?;
        Ok(window)
    }

    /// Reads and forgets what the server tells everybody, such as changes of the keyboard, on a
    /// connection that asked for nothing: else it would be kept for ever.
    pub(crate) fn forget_news(&self) -> Result<(), DesktopError> {
        for _ in 0..MOST_NEWS {
            if self.x.poll_for_event()?.is_none() {
                break;
            }
        }
        Ok(())
    }

    pub(crate) fn flush(&self) -> Result<(), DesktopError> {
        Ok(self.x.flush()?)
    }

    pub(crate) fn scissors(&self) -> Scissors {
        self.x.stream().scissors()
    }
}

impl From<ConnectError> for DesktopError {
    fn from(error: ConnectError) -> Self {
        Self::Gone(format!("no connection to the X server: {error}"))
    }
}

impl From<ConnectionError> for DesktopError {
    fn from(error: ConnectionError) -> Self {
        Self::Gone(error.to_string())
    }
}

impl From<ReplyError> for DesktopError {
    fn from(error: ReplyError) -> Self {
        match error {
            ReplyError::ConnectionError(error) => error.into(),
            ReplyError::X11Error(error) => Self::Unsupported(format!(
                "the X server refuses {}: {:?}",
                error.request_name.unwrap_or("a request"),
                error.error_kind
            )),
        }
    }
}

impl From<ReplyOrIdError> for DesktopError {
    fn from(error: ReplyOrIdError) -> Self {
        match error {
            ReplyOrIdError::ConnectionError(error) => error.into(),
            ReplyOrIdError::X11Error(error) => ReplyError::X11Error(error).into(),
            ReplyOrIdError::IdsExhausted => Self::Gone("the X server has no more ids".to_owned()),
        }
    }
}
