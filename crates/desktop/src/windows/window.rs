//! One window as it is told about, and how that is read from the server in one round.

use serde::{Deserialize, Serialize};
use x11rb::cookie::Cookie;
use x11rb::errors::ReplyError;
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ConnectionExt as _, GetGeometryReply, GetPropertyReply,
    TranslateCoordinatesReply,
};
use x11rb::rust_connection::RustConnection;

use super::text;
use crate::error::DesktopError;
use crate::geometry::Rect;
use crate::x11::{DeadlineStream, XConnection};

/// The desktop number of windows that are on all desktops.
const ON_ALL: u32 = u32::MAX;

/// States of a window that are looked at.
const MOST_STATES: u32 = 64;

/// Title, class and process are what the program says, which may be a lie.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowInfo {
    pub id: u32,
    pub title: String,
    pub class: String,
    /// As numbered where the program runs: in a sandbox or container, the number inside.
    pub pid: Option<u32>,
    /// What the program draws on, without the frame, in pixels of the screen.
    pub rect: Rect,
    /// `None` for windows that are on all desktops.
    pub desktop: Option<u32>,
    /// Minimised.
    pub hidden: bool,
}

type Ask<'a, R> = Cookie<'a, RustConnection<DeadlineStream>, R>;

/// What was asked about a window and is not answered yet.
pub(super) struct Question<'a> {
    x: &'a XConnection,
    id: u32,
    geometry: Ask<'a, GetGeometryReply>,
    place: Ask<'a, TranslateCoordinatesReply>,
    net_name: Ask<'a, GetPropertyReply>,
    name: Ask<'a, GetPropertyReply>,
    class: Ask<'a, GetPropertyReply>,
    pid: Ask<'a, GetPropertyReply>,
    desktop: Ask<'a, GetPropertyReply>,
    state: Ask<'a, GetPropertyReply>,
}

impl<'a> Question<'a> {
    pub(super) fn ask(x: &'a XConnection, id: u32) -> Result<Self, DesktopError> {
        let (server, atoms) = (x.x(), x.atoms());
        let property = |name: Atom, kind: AtomEnum, most: u32| {
            server.get_property(false, id, name, kind, 0, most)
        };
        Ok(Self {
            x,
            id,
            geometry: server.get_geometry(id)?,
            place: server.translate_coordinates(id, x.root(), 0, 0)?,
            net_name: property(atoms._NET_WM_NAME, AtomEnum::ANY, text::MOST_UNITS)?,
            name: property(AtomEnum::WM_NAME.into(), AtomEnum::ANY, text::MOST_UNITS)?,
            class: property(
                AtomEnum::WM_CLASS.into(),
                AtomEnum::STRING,
                text::MOST_UNITS,
            )?,
            pid: property(atoms._NET_WM_PID, AtomEnum::CARDINAL, 1)?,
            desktop: property(atoms._NET_WM_DESKTOP, AtomEnum::CARDINAL, 1)?,
            state: property(atoms._NET_WM_STATE, AtomEnum::ATOM, MOST_STATES)?,
        })
    }

    /// `None` for a window that went away in between.
    pub(super) fn answer(self) -> Result<Option<WindowInfo>, DesktopError> {
        let atoms = self.x.atoms();
        let geometry = known(self.geometry.reply())?;
        let place = known(self.place.reply())?;
        let names = [known(self.net_name.reply())?, known(self.name.reply())?];
        let class = known(self.class.reply())?;
        let pid = known(self.pid.reply())?;
        let desktop = known(self.desktop.reply())?;
        let state = known(self.state.reply())?;
        let (Some(geometry), Some(place)) = (geometry, place) else {
            return Ok(None);
        };
        let mut names = names.iter().flatten();
        let title = names.find_map(|name| text::decode(name, atoms));
        let hidden = state.is_some_and(|state| {
            let mut states = state.value32().into_iter().flatten();
            states.any(|state| state == atoms._NET_WM_STATE_HIDDEN)
        });
        Ok(Some(WindowInfo {
            id: self.id,
            title: title.unwrap_or_default(),
            class: class
                .and_then(|class| text::class(&class))
                .unwrap_or_default(),
            pid: pid.and_then(first).filter(|&pid| pid > 0),
            rect: Rect {
                x: place.dst_x.into(),
                y: place.dst_y.into(),
                width: geometry.width.into(),
                height: geometry.height.into(),
            },
            desktop: desktop.and_then(first).filter(|&desktop| desktop != ON_ALL),
            hidden,
        }))
    }
}

fn first(property: GetPropertyReply) -> Option<u32> {
    property.value32()?.next()
}

/// What the server answers about a window that may be gone: `None` when it is.
pub(super) fn known<T>(answer: Result<T, ReplyError>) -> Result<Option<T>, DesktopError> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(ReplyError::X11Error(_)) => Ok(None),
        Err(ReplyError::ConnectionError(error)) => Err(error.into()),
    }
}
