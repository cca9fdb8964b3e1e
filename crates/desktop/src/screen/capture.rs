//! Captures: one request, by which the server writes the pixels into memory that we share, or sends
//! them over the socket where it can't. Knows nothing of what becomes of a frame.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use x11rb::connection::RequestConnection;
use x11rb::cookie::Cookie;
use x11rb::errors::ReplyError;
use x11rb::protocol::ErrorKind;
use x11rb::protocol::shm::{self, ConnectionExt as _};
use x11rb::protocol::xfixes::{self, ConnectionExt as _, GetCursorImageReply};
use x11rb::protocol::xproto::{
    ConnectionExt as _, ImageFormat, MapState, QueryPointerReply, Window,
};
use x11rb::rust_connection::RustConnection;

use super::cursor;
use super::frame::{Frame, PIXEL, Pixels};
use super::segments::Segments;
use crate::error::DesktopError;
use crate::geometry::{Point, Rect, Size};
use crate::monotonic::monotonic;
use crate::x11::{DeadlineStream, XConnection};

/// Every bit of a pixel: a server copies fastest when it needs not choose.
const ALL_PLANES: u32 = !0;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CaptureOptions {
    /// The whole screen unless given. What of it is outside of the screen is left out.
    pub region: Option<Rect>,
    /// With the pointer drawn.
    pub cursor: bool,
    pub way: Way,
}

/// How the pixels come to us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Way {
    /// By shared memory where the server knows it, else over the socket.
    #[default]
    Best,
    /// Over the socket, some thirty times slower.
    Socket,
}

/// Captures over one connection.
#[derive(Debug)]
pub(crate) struct Capturer {
    x: Arc<XConnection>,
    /// `None` where the server knows no shared memory by descriptors.
    segments: Option<Arc<Segments>>,
    /// It knows it, but does not do it.
    refuses: AtomicBool,
    /// Whether the server tells what the pointer looks like.
    pointers: bool,
}

impl Capturer {
    /// Up to `most` frames at a time are in shared memory: those beyond it are copies.
    pub(crate) fn new(x: Arc<XConnection>, most: usize) -> Result<Self, DesktopError> {
        let c = x.x();
        c.prefetch_extension_information(shm::X11_EXTENSION_NAME)?;
        c.prefetch_extension_information(xfixes::X11_EXTENSION_NAME)?;
        let has = |name| Ok::<_, DesktopError>(c.extension_information(name)?.is_some());
        let (shares, pointers) = (
            has(shm::X11_EXTENSION_NAME)?,
            has(xfixes::X11_EXTENSION_NAME)?,
        );
        let shares = shares && {
            let version = c.shm_query_version()?.reply()?;
            (version.major_version, version.minor_version) >= (1, 2)
        };
        if pointers {
            c.xfixes_query_version(4, 0)?.reply()?;
        }
        let segments = shares.then(|| Segments::new(&x, most));
        Ok(Self {
            x,
            segments,
            refuses: AtomicBool::new(false),
            pointers,
        })
    }

    pub(crate) fn x(&self) -> &Arc<XConnection> {
        &self.x
    }

    pub(crate) fn capture(&self, options: &CaptureOptions) -> Result<Frame, DesktopError> {
        let rect = self.clip(options.region)?;
        if let (Way::Best, Some(segments)) = (options.way, &self.segments)
            && !self.refuses.load(Ordering::Relaxed)
        {
            match self.shared(segments, rect, options.cursor) {
                // Something between us and the server may pass no descriptors on.
                Err(DesktopError::Unsupported(_)) => self.refuses.store(true, Ordering::Relaxed),
                done => return done,
            }
        }
        self.plain(rect, options.cursor)
    }

    /// The part of the screen where the window's own area is, as it is seen, with what covers it.
    pub(crate) fn window(&self, id: Window) -> Result<Rect, DesktopError> {
        let gone = |error: ReplyError| match error {
            ReplyError::X11Error(error)
                if matches!(error.error_kind, ErrorKind::Window | ErrorKind::Drawable) =>
            {
                DesktopError::Invalid(format!("there is no window {id:#x} any more"))
            }
            other => other.into(),
        };
        let c = self.x.x();
        let geometry = c.get_geometry(id)?;
        let corner = c.translate_coordinates(id, self.x.root(), 0, 0)?;
        let attributes = c.get_window_attributes(id)?;
        let geometry = geometry.reply().map_err(gone)?;
        let corner = corner.reply().map_err(gone)?;
        if attributes.reply().map_err(gone)?.map_state != MapState::VIEWABLE {
            return Err(DesktopError::Invalid(format!(
                "the window {id:#x} is hidden: make it active first"
            )));
        }
        Ok(Rect {
            x: corner.dst_x.into(),
            y: corner.dst_y.into(),
            width: geometry.width.into(),
            height: geometry.height.into(),
        })
    }

    fn clip(&self, region: Option<Rect>) -> Result<Rect, DesktopError> {
        let screen = self.x.size();
        let Some(region) = region else {
            return Ok(screen.rect());
        };
        if region.width == 0 || region.height == 0 {
            return Err(DesktopError::Invalid(format!(
                "a region of {} has no pixels",
                region.size()
            )));
        }
        region
            .intersect(screen.rect())
            .ok_or(DesktopError::Outside {
                x: region.x,
                y: region.y,
                size: screen,
            })
    }

    fn shared(
        &self,
        segments: &Arc<Segments>,
        rect: Rect,
        draw: bool,
    ) -> Result<Frame, DesktopError> {
        let (len, room) = (rect.size().pixels() * PIXEL, self.x.size().pixels() * PIXEL);
        let lease = segments.take(room)?;
        let at = monotonic();
        let (x, y, width, height) = in_words(rect);
        let c = self.x.x();
        let z = u8::from(ImageFormat::Z_PIXMAP);
        let root = self.x.root();
        let image = c.shm_get_image(root, x, y, width, height, ALL_PLANES, z, lease.id(), 0)?;
        let pointer = self.pointer(draw)?;
        let image = image.reply().map_err(|error| self.refused(error))?;
        if image.depth != 24 || image.size as usize != len {
            return Err(odd(image.depth));
        }
        let pointer = pointer.reply()?;
        let mut pixels = Pixels::Shared(lease);
        // A small part must not hold a large segment, nor many frames many of them.
        if len < room / 2 || segments.are_scarce() {
            pixels = Pixels::Own(pixels.bytes()[..len].to_vec());
        }
        Ok(pointer.finish(rect, pixels, at))
    }

    fn plain(&self, rect: Rect, draw: bool) -> Result<Frame, DesktopError> {
        let at = monotonic();
        let (x, y, width, height) = in_words(rect);
        let c = self.x.x();
        let z = ImageFormat::Z_PIXMAP;
        let image = c.get_image(z, self.x.root(), x, y, width, height, ALL_PLANES)?;
        let pointer = self.pointer(draw)?;
        let image = image.reply().map_err(|error| self.refused(error))?;
        if image.depth != 24 || image.data.len() < rect.size().pixels() * PIXEL {
            return Err(odd(image.depth));
        }
        Ok(pointer.reply()?.finish(rect, Pixels::Own(image.data), at))
    }

    fn pointer(&self, draw: bool) -> Result<PointerCookie<'_>, DesktopError> {
        let c = self.x.x();
        Ok(if draw && self.pointers {
            PointerCookie::Picture(c.xfixes_get_cursor_image()?)
        } else {
            PointerCookie::Place(c.query_pointer(self.x.root())?)
        })
    }

    /// Says why, when the screen is not what it was: a server refuses what reaches out of it.
    fn refused(&self, error: ReplyError) -> DesktopError {
        if let (ReplyError::X11Error(_), Ok(now)) = (&error, self.size_now()) {
            let before = self.x.size();
            if now != before {
                let why = format!("its screen of {before} became one of {now}");
                return DesktopError::Gone(why);
            }
        }
        error.into()
    }

    fn size_now(&self) -> Result<Size, DesktopError> {
        let root = self.x.x().get_geometry(self.x.root())?.reply()?;
        Ok(Size::new(root.width.into(), root.height.into()))
    }
}

type Reply<'c, R> = Cookie<'c, RustConnection<DeadlineStream>, R>;

/// What was asked about the pointer.
enum PointerCookie<'c> {
    Place(Reply<'c, QueryPointerReply>),
    Picture(Reply<'c, GetCursorImageReply>),
}

enum Pointer {
    Place(Option<Point>),
    Picture(GetCursorImageReply),
}

impl PointerCookie<'_> {
    fn reply(self) -> Result<Pointer, DesktopError> {
        let at = |x: i16, y: i16| Point {
            x: x.into(),
            y: y.into(),
        };
        Ok(match self {
            Self::Picture(asked) => Pointer::Picture(asked.reply()?),
            Self::Place(asked) => {
                let told = asked.reply()?;
                Pointer::Place(told.same_screen.then(|| at(told.root_x, told.root_y)))
            }
        })
    }
}

impl Pointer {
    fn finish(self, rect: Rect, mut pixels: Pixels, at: Duration) -> Frame {
        let place = match self {
            Self::Place(place) => place,
            Self::Picture(picture) => {
                cursor::draw(&picture, rect, pixels.bytes_mut());
                Some(Point {
                    x: picture.x.into(),
                    y: picture.y.into(),
                })
            }
        };
        Frame::new(rect, pixels, at, place)
    }
}

/// A rectangle within a screen, as X counts.
fn in_words(rect: Rect) -> (i16, i16, u16, u16) {
    (
        rect.x as i16,
        rect.y as i16,
        rect.width as u16,
        rect.height as u16,
    )
}

fn odd(depth: u8) -> DesktopError {
    DesktopError::Gone(format!(
        "it sent a picture of depth {depth} that makes no sense"
    ))
}
