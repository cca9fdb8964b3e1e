//! A window that tells every event it receives, and real programs on a desktop: what tests look at.

use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agon_desktop::{Desktop, DisplayAddress, Rect};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tempfile::NamedTempFile;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, CreateWindowAux, EventMask, PropMode, Window, WindowClass,
};
use x11rb::rust_connection::{DefaultStream, RustConnection};
use x11rb::wrapper::ConnectionExt as _;

/// Far beyond what anything here takes: who waits so long has failed.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// A connection as any other program has one.
pub(super) fn connect(desktop: &Desktop) -> RustConnection {
    let DisplayAddress::Socket { path, cookie } = desktop.address() else {
        panic!("a private desktop has a socket");
    };
    let socket = UnixStream::connect(path).unwrap();
    let (stream, _) = DefaultStream::from_unix_stream(socket).unwrap();
    let file = cookie.authority_file();
    let data = file[file.len() - 16..].to_vec();
    let name = b"MIT-MAGIC-COOKIE-1".to_vec();
    RustConnection::connect_to_stream_with_auth_info(stream, 0, name, data).unwrap()
}

/// What a probe received; coordinates are those of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Seen {
    Press {
        button: u8,
        x: i16,
        y: i16,
        state: u16,
        time: u32,
    },
    Release {
        button: u8,
        x: i16,
        y: i16,
        state: u16,
        time: u32,
    },
    Motion {
        x: i16,
        y: i16,
        state: u16,
    },
    KeyPress {
        code: u8,
        state: u16,
    },
    KeyRelease {
        code: u8,
        state: u16,
    },
    FocusIn,
    FocusOut,
    Enter,
    Leave,
    Shown,
    /// Changes of the window itself, and all else.
    Other,
}

pub(super) struct Probe {
    pub(super) x: RustConnection,
    pub(super) window: Window,
}

impl Probe {
    /// Covers the whole screen, above all else and without a frame; has the keyboard too.
    pub(super) fn cover(desktop: &Desktop) -> Self {
        let probe = Self::new(desktop, desktop.size().rect(), true);
        probe.show();
        let parent = x11rb::protocol::xproto::InputFocus::PARENT;
        probe
            .x
            .set_input_focus(parent, probe.window, x11rb::CURRENT_TIME)
            .unwrap();
        probe.until(|seen| seen == Seen::FocusIn);
        probe
    }

    /// A window like any other, with a title.
    pub(super) fn titled(desktop: &Desktop, title: &str, rect: Rect) -> Self {
        let probe = Self::hidden(desktop, rect);
        probe.title(AtomEnum::STRING.into(), title.as_bytes());
        probe.show();
        probe
    }

    /// Not shown yet, so that properties can be set before.
    pub(super) fn hidden(desktop: &Desktop, rect: Rect) -> Self {
        Self::new(desktop, rect, false)
    }

    fn new(desktop: &Desktop, rect: Rect, above_all: bool) -> Self {
        let x = connect(desktop);
        let screen = &x.setup().roots[0];
        let window = x.generate_id().unwrap();
        let events = EventMask::BUTTON_PRESS
            | EventMask::BUTTON_RELEASE
            | EventMask::POINTER_MOTION
            | EventMask::KEY_PRESS
            | EventMask::KEY_RELEASE
            | EventMask::FOCUS_CHANGE
            | EventMask::ENTER_WINDOW
            | EventMask::LEAVE_WINDOW
            | EventMask::EXPOSURE
            | EventMask::PROPERTY_CHANGE
            | EventMask::STRUCTURE_NOTIFY;
        let attributes = CreateWindowAux::new()
            .override_redirect(u32::from(above_all))
            .background_pixel(screen.white_pixel)
            .event_mask(events);
        x.create_window(
            0,
            window,
            screen.root,
            i16::try_from(rect.x).unwrap(),
            i16::try_from(rect.y).unwrap(),
            u16::try_from(rect.width).unwrap(),
            u16::try_from(rect.height).unwrap(),
            0,
            WindowClass::INPUT_OUTPUT,
            0,
            &attributes,
        )
        .unwrap()
        .check()
        .unwrap();
        Self { x, window }
    }

    pub(super) fn atom(&self, name: &str) -> u32 {
        self.x
            .intern_atom(false, name.as_bytes())
            .unwrap()
            .reply()
            .unwrap()
            .atom
    }

    /// Sets `WM_NAME` to any bytes.
    pub(super) fn title(&self, kind: u32, bytes: &[u8]) {
        self.property(AtomEnum::WM_NAME.into(), kind, bytes);
    }

    pub(super) fn property(&self, name: u32, kind: u32, bytes: &[u8]) {
        let changed = self
            .x
            .change_property8(PropMode::REPLACE, self.window, name, kind, bytes);
        changed.unwrap().check().unwrap();
    }

    /// Maps the window, and waits until it can be seen.
    pub(super) fn show(&self) {
        self.x.map_window(self.window).unwrap();
        self.until(|seen| seen == Seen::Shown);
    }

    /// All that has come so far: what was caused before this call is in it.
    pub(super) fn events(&self) -> Vec<Seen> {
        self.x.get_input_focus().unwrap().reply().unwrap();
        std::iter::from_fn(|| self.x.poll_for_event().unwrap())
            .map(seen)
            .collect()
    }

    /// All that comes until the wanted one, which is the last.
    pub(super) fn until(&self, wanted: impl Fn(Seen) -> bool) -> Vec<Seen> {
        self.x.flush().unwrap();
        let deadline = Instant::now() + PATIENCE;
        let mut all = Vec::new();
        loop {
            if let Some(event) = self.x.poll_for_event().unwrap() {
                let event = seen(event);
                all.push(event);
                if wanted(event) {
                    return all;
                }
                continue;
            }
            assert!(
                self.readable(deadline),
                "it did not come, but these did: {all:?}"
            );
        }
    }

    fn readable(&self, deadline: Instant) -> bool {
        let left = deadline.saturating_duration_since(Instant::now());
        let mut fds = [PollFd::from_borrowed_fd(
            self.x.stream().as_fd(),
            PollFlags::IN,
        )];
        poll(&mut fds, Some(&Timespec::try_from(left).unwrap())).unwrap() > 0
    }
}

fn seen(event: Event) -> Seen {
    match event {
        Event::ButtonPress(e) => Seen::Press {
            button: e.detail,
            x: e.root_x,
            y: e.root_y,
            state: e.state.into(),
            time: e.time,
        },
        Event::ButtonRelease(e) => Seen::Release {
            button: e.detail,
            x: e.root_x,
            y: e.root_y,
            state: e.state.into(),
            time: e.time,
        },
        Event::MotionNotify(e) => Seen::Motion {
            x: e.root_x,
            y: e.root_y,
            state: e.state.into(),
        },
        Event::KeyPress(e) => Seen::KeyPress {
            code: e.detail,
            state: e.state.into(),
        },
        Event::KeyRelease(e) => Seen::KeyRelease {
            code: e.detail,
            state: e.state.into(),
        },
        Event::FocusIn(_) => Seen::FocusIn,
        Event::FocusOut(_) => Seen::FocusOut,
        Event::EnterNotify(_) => Seen::Enter,
        Event::LeaveNotify(_) => Seen::Leave,
        Event::Expose(_) => Seen::Shown,
        _ => Seen::Other,
    }
}

/// A real program on a desktop; ended when dropped.
pub(super) struct Program {
    child: Child,
    _authority: NamedTempFile,
}

impl Program {
    /// Programs know displays by number only, so this one sees the socket where number 0 is. They
    /// look for one without a path first, which belongs to the network: it has none, or it would
    /// reach a display of the machine.
    pub(super) fn start(desktop: &Desktop, program: &str, words: &[&str]) -> Self {
        let DisplayAddress::Socket { path, cookie } = desktop.address() else {
            panic!("a private desktop has a socket");
        };
        let mut authority = NamedTempFile::new().unwrap();
        authority.write_all(&cookie.authority_file()).unwrap();
        let child = Command::new("bwrap")
            .args([
                "--dev-bind",
                "/",
                "/",
                "--tmpfs",
                "/tmp",
                "--die-with-parent",
                "--unshare-net",
            ])
            .arg("--bind")
            .arg(path.parent().unwrap())
            .arg("/tmp/.X11-unix")
            .arg("--ro-bind")
            .arg(authority.path())
            .arg("/tmp/authority")
            .args(["--", program])
            .args(words)
            .env("DISPLAY", Desktop::PRIVATE_NAME)
            .env("XAUTHORITY", "/tmp/authority")
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self {
            child,
            _authority: authority,
        }
    }

    /// A terminal that stays until it is closed.
    pub(super) fn xterm(desktop: &Desktop, title: &str) -> Self {
        Self::start(desktop, "xterm", &["-T", title, "-e", "cat"])
    }

    /// Waits for its end.
    pub(super) fn wait(&mut self) {
        self.child.wait().unwrap();
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
