//! A program on a desktop that draws what it is told, and ways to disturb the X server.

use std::fs;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use agon_desktop::{Desktop, DisplayAddress, Rect};
use rustix::process::{Pid, Signal, kill_process};
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    ChangeGCAux, ConnectionExt as _, CreateGCAux, CreateWindowAux, EventMask, Gcontext,
    MOTION_NOTIFY_EVENT, Rectangle, Window, WindowClass,
};
use x11rb::protocol::xtest::ConnectionExt as _;
use x11rb::rust_connection::{DefaultStream, RustConnection};

pub(super) struct Client {
    pub(super) x: Arc<RustConnection>,
    root: Window,
    pen: Gcontext,
}

impl Client {
    pub(super) fn connect(desktop: &Desktop) -> Self {
        let DisplayAddress::Socket { path, cookie } = desktop.address() else {
            panic!("a private desktop has a socket");
        };
        let socket = UnixStream::connect(path).unwrap();
        let (stream, _) = DefaultStream::from_unix_stream(socket).unwrap();
        let file = cookie.authority_file();
        let x = RustConnection::connect_to_stream_with_auth_info(
            stream,
            0,
            b"MIT-MAGIC-COOKIE-1".to_vec(),
            file[file.len() - 16..].to_vec(),
        )
        .unwrap();
        let root = x.setup().roots[0].root;
        let pen = x.generate_id().unwrap();
        x.create_gc(pen, root, &CreateGCAux::new()).unwrap();
        Self {
            x: Arc::new(x),
            root,
            pen,
        }
    }

    /// Comes back when the server has done what was asked.
    pub(super) fn sync(&self) {
        self.x.get_input_focus().unwrap().reply().unwrap();
    }

    /// A window without a frame, exactly there and of one colour.
    pub(super) fn window(&self, rect: Rect, colour: u32) -> Window {
        let window = self.x.generate_id().unwrap();
        let attributes = CreateWindowAux::new()
            .background_pixel(colour)
            .override_redirect(1)
            .event_mask(EventMask::EXPOSURE);
        self.x
            .create_window(
                x11rb::COPY_DEPTH_FROM_PARENT,
                window,
                self.root,
                rect.x as i16,
                rect.y as i16,
                rect.width as u16,
                rect.height as u16,
                0,
                WindowClass::INPUT_OUTPUT,
                x11rb::COPY_FROM_PARENT,
                &attributes,
            )
            .unwrap();
        self.x.map_window(window).unwrap();
        self.x.flush().unwrap();
        while !matches!(self.x.wait_for_event().unwrap(), Event::Expose(_)) {}
        window
    }

    pub(super) fn fill(&self, window: Window, rect: Rect, colour: u32) {
        fill(&self.x, self.pen, window, rect, colour);
        self.sync();
    }

    pub(super) fn move_pointer(&self, x: i16, y: i16) {
        self.x
            .xtest_fake_input(MOTION_NOTIFY_EVENT, 0, 0, self.root, x, y, 0)
            .unwrap();
        self.sync();
    }

    /// One colour after the other, each a new one.
    pub(super) fn draws_all_the_time(&self, window: Window) -> Drawing {
        self.draws(window, Duration::from_millis(1), |step| step)
    }

    pub(super) fn fills_all_the_time(&self, window: Window, colour: u32) -> Drawing {
        self.draws(window, Duration::from_millis(1), move |_| colour)
    }

    pub(super) fn blinks(&self, window: Window, colours: [u32; 2]) -> Drawing {
        let pause = Duration::from_millis(40);
        self.draws(window, pause, move |step| colours[step as usize % 2])
    }

    fn draws(
        &self,
        window: Window,
        pause: Duration,
        colour: impl Fn(u32) -> u32 + Send + 'static,
    ) -> Drawing {
        let end = Arc::new(AtomicBool::new(false));
        let (x, pen, ended) = (Arc::clone(&self.x), self.pen, Arc::clone(&end));
        let whole = Rect {
            x: 0,
            y: 0,
            width: 50,
            height: 50,
        };
        let thread = std::thread::spawn(move || {
            let mut step = 0;
            while !ended.load(Ordering::Relaxed) {
                fill(&x, pen, window, whole, colour(step));
                step += 1;
                std::thread::park_timeout(pause);
            }
        });
        Drawing {
            end,
            thread: Some(thread),
        }
    }
}

fn fill(x: &RustConnection, pen: Gcontext, window: Window, rect: Rect, colour: u32) {
    x.change_gc(pen, &ChangeGCAux::new().foreground(colour))
        .unwrap();
    let area = Rectangle {
        x: rect.x as i16,
        y: rect.y as i16,
        width: rect.width as u16,
        height: rect.height as u16,
    };
    x.poly_fill_rectangle(window, pen, &[area]).unwrap();
    x.flush().unwrap();
}

/// Draws until it is dropped.
pub(super) struct Drawing {
    end: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Drawing {
    fn drop(&mut self) {
        self.end.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            thread.join().unwrap();
        }
    }
}

fn server(desktop: &Desktop) -> Pid {
    fn find(of: u32) -> Option<u32> {
        let children = fs::read_to_string(format!("/proc/{of}/task/{of}/children")).ok()?;
        let mut children = children.split_whitespace().map(|pid| pid.parse().unwrap());
        children.find_map(|pid| {
            let name = fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
            if name.trim() == "Xvfb" {
                Some(pid)
            } else {
                find(pid)
            }
        })
    }
    let pid = find(desktop.process().unwrap()).unwrap();
    Pid::from_raw(pid.cast_signed()).unwrap()
}

pub(super) fn end_server(desktop: &Desktop) {
    kill_process(server(desktop), Signal::KILL).unwrap();
}

/// The server does nothing until this is dropped.
pub(super) struct Stopped(Pid);

impl Stopped {
    pub(super) fn new(desktop: &Desktop) -> Self {
        let server = server(desktop);
        kill_process(server, Signal::STOP).unwrap();
        Self(server)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        kill_process(self.0, Signal::CONT).unwrap();
    }
}
