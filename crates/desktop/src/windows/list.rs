//! Which windows there are, which one is active, and how one is found by its title.

use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, MapState, WindowClass};

use super::window::{Question, WindowInfo, known};
use crate::desktop::{Desktop, is_managed};
use crate::error::DesktopError;
use crate::x11::XConnection;

/// A program may make any number of windows; these are looked at, from the top.
const MOST_WINDOWS: usize = 1000;

/// How many windows lie between a top-level one and a part of it that has the focus, at most.
const DEEPEST: usize = 64;

/// How much an error tells of the titles that exist.
const MOST_TITLES: usize = 40;
const TITLE_CHARS: usize = 100;

/// The windows of one desktop.
#[derive(Debug, Clone, Copy)]
pub struct Windows<'a> {
    pub(super) desktop: &'a Desktop,
}

impl<'a> Windows<'a> {
    pub(crate) fn new(desktop: &'a Desktop) -> Self {
        Self { desktop }
    }

    /// All windows, the topmost first.
    pub fn list(&self) -> Result<Vec<WindowInfo>, DesktopError> {
        list(self.desktop.x())
    }

    /// The same, and how many there are beyond those that are looked at.
    pub fn list_with_rest(&self) -> Result<(Vec<WindowInfo>, u64), DesktopError> {
        let x = self.desktop.x();
        let Stack { ids, left_out } = stack(x)?;
        Ok((describe(x, &ids)?, left_out))
    }

    /// The window that gets what is typed.
    pub fn active(&self) -> Result<Option<WindowInfo>, DesktopError> {
        let x = self.desktop.x();
        match active(x)? {
            Some(id) => Question::ask(x, id)?.answer(),
            None => Ok(None),
        }
    }

    /// The window with this title; else the topmost one that has it in its title.
    pub fn find(&self, title: &str) -> Result<WindowInfo, DesktopError> {
        find(self.desktop.x(), title)
    }

    /// Whether the active window has this in its title.
    pub fn is_active(&self, title: &str) -> Result<bool, DesktopError> {
        let active = self.active()?;
        Ok(active.is_some_and(|window| window.title.contains(title)))
    }

    /// The process of the window with this title, as its program says.
    pub fn pid(&self, title: &str) -> Result<Option<u32>, DesktopError> {
        Ok(self.find(title)?.pid)
    }
}

pub(super) fn list(x: &XConnection) -> Result<Vec<WindowInfo>, DesktopError> {
    describe(x, &stacked(x)?)
}

/// All are asked about before the first answer is waited for.
pub(crate) fn describe(x: &XConnection, ids: &[u32]) -> Result<Vec<WindowInfo>, DesktopError> {
    let questions = ids.iter().map(|&id| Question::ask(x, id));
    let questions: Vec<_> = questions.collect::<Result<_, _>>()?;
    let answers = questions.into_iter().map(Question::answer);
    answers.filter_map(Result::transpose).collect()
}

pub(super) fn find(x: &XConnection, title: &str) -> Result<WindowInfo, DesktopError> {
    let windows = list(x)?;
    pick(&windows, title)?
        .cloned()
        .ok_or_else(|| no_such(&windows, title))
}

/// The one that is meant by a title, of windows in their order from the top.
pub(super) fn pick<'w>(
    windows: &'w [WindowInfo],
    title: &str,
) -> Result<Option<&'w WindowInfo>, DesktopError> {
    if title.is_empty() {
        return Err(DesktopError::Invalid(
            "the title is empty: give a part of the window's title".to_owned(),
        ));
    }
    let exact = windows.iter().find(|window| window.title == title);
    let part = || windows.iter().find(|window| window.title.contains(title));
    Ok(exact.or_else(part))
}

pub(super) fn no_such(windows: &[WindowInfo], title: &str) -> DesktopError {
    let shown = |window: &WindowInfo| {
        let mut shown: String = window.title.chars().take(TITLE_CHARS).collect();
        if shown.len() < window.title.len() {
            shown.push('…');
        }
        shown
    };
    DesktopError::NoSuchWindow {
        wanted: title.chars().take(TITLE_CHARS).collect(),
        titles: windows.iter().take(MOST_TITLES).map(shown).collect(),
    }
}

/// Windows from the top, as many as are looked at.
#[derive(Debug, Default)]
struct Stack {
    ids: Vec<u32>,
    left_out: u64,
}

/// The windows from the top: those that the window manager manages, or all that are shown where
/// there is none.
pub(crate) fn stacked(x: &XConnection) -> Result<Vec<u32>, DesktopError> {
    Ok(stack(x)?.ids)
}

fn stack(x: &XConnection) -> Result<Stack, DesktopError> {
    let atoms = x.atoms();
    // What a window manager wrote outlives it.
    if is_managed(x)? {
        for property in [atoms._NET_CLIENT_LIST_STACKING, atoms._NET_CLIENT_LIST] {
            let most = u32::try_from(MOST_WINDOWS).unwrap_or(u32::MAX);
            let asked = x
                .x()
                .get_property(false, x.root(), property, AtomEnum::WINDOW, 0, most)?;
            let answer = asked.reply()?;
            if let Some(ids) = answer.value32() {
                let mut ids: Vec<u32> = ids.collect();
                ids.reverse();
                let left_out = u64::from(answer.bytes_after).div_ceil(4);
                return Ok(Stack { ids, left_out });
            }
        }
        // It has just begun: there are no windows yet.
        return Ok(Stack::default());
    }
    shown(x)
}

/// The windows right below the root that can be seen, from the top.
fn shown(x: &XConnection) -> Result<Stack, DesktopError> {
    let tree = x.x().query_tree(x.root())?.reply()?;
    let left_out = tree.children.len().saturating_sub(MOST_WINDOWS) as u64;
    let ids = tree.children.into_iter().rev().take(MOST_WINDOWS);
    let asked = ids.map(|id| Ok((id, x.x().get_window_attributes(id)?)));
    let asked: Vec<_> = asked.collect::<Result<_, DesktopError>>()?;
    let mut ids = Vec::new();
    for (id, asked) in asked {
        let seen = known(asked.reply())?.is_some_and(|window| {
            window.map_state == MapState::VIEWABLE && window.class == WindowClass::INPUT_OUTPUT
        });
        if seen {
            ids.push(id);
        }
    }
    Ok(Stack { ids, left_out })
}

pub(crate) fn active(x: &XConnection) -> Result<Option<u32>, DesktopError> {
    if is_managed(x)? {
        let property = x.atoms()._NET_ACTIVE_WINDOW;
        let asked = x
            .x()
            .get_property(false, x.root(), property, AtomEnum::WINDOW, 0, 1)?;
        let answer = asked.reply()?;
        return Ok(answer
            .value32()
            .and_then(|mut ids| ids.next())
            .filter(|&id| id != 0));
    }
    // The part of a window that has the focus; the top-level one is what is asked for.
    let mut id = x.x().get_input_focus()?.reply()?.focus;
    for _ in 0..DEEPEST {
        match known(x.x().query_tree(id)?.reply())? {
            Some(tree) if tree.parent == x.root() => return Ok(Some(id)),
            Some(tree) if tree.parent != 0 => id = tree.parent,
            // Nothing, the root, or a window that is gone.
            _ => break,
        }
    }
    Ok(None)
}
