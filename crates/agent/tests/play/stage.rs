//! A desktop with a window to play in, a record of all keys on it, and players made of closures.

use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use agon_agent::play::{
    Flow, Play, PlayConfig, PlayError, Played, Player, Playing, Stop, StopEvent, Task, start,
};
use agon_core::InputKind;
use agon_desktop::{Desktop, DesktopConfig, DisplayAddress, InputLog};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, CreateGCAux, CreateWindowAux, EventMask, Gcontext, PropMode,
    Rectangle, Window, WindowClass,
};
use x11rb::rust_connection::{DefaultStream, RustConnection};
use x11rb::wrapper::ConnectionExt as _;

/// Far beyond what anything here takes: who waits so long has failed.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

pub(super) const TITLE: &str = "A Game of Tests";

pub(super) struct Stage {
    pub(super) desktop: Desktop,
    pub(super) game: Game,
    log: InputLog,
}

impl Stage {
    pub(super) fn new() -> Self {
        let desktop = Desktop::start(&DesktopConfig::default()).unwrap();
        let game = Game::open(desktop.address());
        desktop.windows().wait_for(TITLE, PATIENCE).unwrap();
        desktop.windows().make_active(TITLE).unwrap();
        let log = desktop.input_log().unwrap();
        Self { desktop, game, log }
    }

    pub(super) fn config(&self) -> PlayConfig {
        PlayConfig::new(self.desktop.address().clone())
    }

    pub(super) fn start(&self, player: impl Player + 'static) -> Playing {
        self.start_with(self.config(), player)
    }

    pub(super) fn start_with(&self, config: PlayConfig, player: impl Player + 'static) -> Playing {
        start(Box::new(player), task(), config, Stop::new()).unwrap()
    }

    /// Keys that went down and up since this was called last.
    pub(super) fn keys(&self) -> Vec<(String, bool)> {
        self.log.sync(PATIENCE).unwrap();
        let key = |event: agon_desktop::InputEvent| match event.kind {
            InputKind::KeyPress => Some((event.key?, true)),
            InputKind::KeyRelease => Some((event.key?, false)),
            _ => None,
        };
        self.log.take().0.into_iter().filter_map(key).collect()
    }

    /// Waits for so many keys to go down or up: which, and when by the clock of the desktop.
    pub(super) fn gather(&self, count: usize) -> Vec<(String, bool, Duration)> {
        let deadline = Instant::now() + PATIENCE;
        let mut all = Vec::new();
        while all.len() < count && Instant::now() < deadline {
            self.log.sync(PATIENCE).unwrap();
            let key = |event: agon_desktop::InputEvent| {
                let down = event.kind == InputKind::KeyPress;
                event.key.map(|key| (key, down, event.t))
            };
            all.extend(self.log.take().0.into_iter().filter_map(key));
        }
        all
    }

    pub(super) fn is_down(&self) -> bool {
        !self.desktop.keyboard().state().unwrap().keys.is_empty()
    }
}

pub(super) fn down(key: &str) -> (String, bool) {
    (key.to_owned(), true)
}

pub(super) fn up(key: &str) -> (String, bool) {
    (key.to_owned(), false)
}

pub(super) fn task() -> Task {
    Task {
        task_id: "t1".to_owned(),
        env_name: "test".to_owned(),
        window_name: TITLE.to_owned(),
        task_description: "play".to_owned(),
        timeout: 60,
        check_env_interval_seconds: 1.0,
        success_criteria: serde_json::Map::new(),
        num_frames: 3,
    }
}

pub(super) fn end(playing: &Playing) -> Played {
    playing.wait(PATIENCE).unwrap()
}

type Init = Box<dyn FnMut(&mut Play) -> Result<(), PlayError> + Send>;
type Step = Box<dyn FnMut(&mut Play) -> Flow + Send>;

/// A player made of closures.
pub(super) struct Script {
    pub(super) init: Init,
    pub(super) step: Step,
    pub(super) finish: Box<dyn FnMut() + Send>,
    pub(super) switch: Option<StopEvent>,
}

impl Script {
    pub(super) fn step(
        mut step: impl FnMut(&mut Play) -> Result<Flow, PlayError> + Send + 'static,
    ) -> Self {
        Self {
            init: Box::new(|_| Ok(())),
            step: Box::new(move |play| Flow::of(|| step(play))),
            finish: Box::new(|| {}),
            switch: None,
        }
    }
}

impl Player for Script {
    fn init_task(&mut self, _: &Task, play: &mut Play) -> Result<(), PlayError> {
        (self.init)(play)
    }

    fn play_env(&mut self, _: &Task, play: &mut Play) -> Flow {
        (self.step)(play)
    }

    fn finish_task(&mut self, _: &Task) {
        (self.finish)();
    }

    fn stop_event(&self) -> Option<StopEvent> {
        self.switch.clone()
    }
}

/// A player that says when its first step is under way, and then does something.
pub(super) fn telling(
    mut then: impl FnMut(&mut Play) -> Result<Flow, PlayError> + Send + 'static,
    mut before: impl FnMut(&mut Play) -> Result<(), PlayError> + Send + 'static,
) -> (Script, Receiver<()>) {
    let (tell, told) = mpsc::channel();
    let script = Script::step(move |play| {
        before(play)?;
        let _ = tell.send(());
        then(play)
    });
    (script, told)
}

pub(super) fn await_telling(told: &Receiver<()>) {
    told.recv_timeout(PATIENCE).unwrap();
}

/// A window as any program has one.
pub(super) struct Game {
    x: RustConnection,
    window: Window,
    brush: Gcontext,
}

impl Game {
    fn open(address: &DisplayAddress) -> Self {
        let DisplayAddress::Socket { path, cookie } = address else {
            panic!("a private desktop has a socket");
        };
        let socket = UnixStream::connect(path).unwrap();
        let (stream, _) = DefaultStream::from_unix_stream(socket).unwrap();
        let file = cookie.authority_file();
        let data = file[file.len() - 16..].to_vec();
        let name = b"MIT-MAGIC-COOKIE-1".to_vec();
        let x = RustConnection::connect_to_stream_with_auth_info(stream, 0, name, data).unwrap();
        let screen = &x.setup().roots[0];
        let (window, brush) = (x.generate_id().unwrap(), x.generate_id().unwrap());
        let attributes = CreateWindowAux::new()
            .background_pixel(screen.black_pixel)
            .event_mask(EventMask::KEY_PRESS | EventMask::KEY_RELEASE);
        let class = WindowClass::INPUT_OUTPUT;
        x.create_window(
            0,
            window,
            screen.root,
            0,
            0,
            400,
            300,
            0,
            class,
            0,
            &attributes,
        )
        .unwrap();
        x.create_gc(brush, window, &CreateGCAux::new()).unwrap();
        let (name, kind) = (AtomEnum::WM_NAME, AtomEnum::STRING);
        x.change_property8(PropMode::REPLACE, window, name, kind, TITLE.as_bytes())
            .unwrap();
        x.map_window(window).unwrap();
        x.get_input_focus().unwrap().reply().unwrap();
        Self { x, window, brush }
    }

    /// Nobody else is served as long as this is held.
    pub(super) fn grab_server(&self) -> Grab<'_> {
        self.x.grab_server().unwrap();
        self.x.get_input_focus().unwrap().reply().unwrap();
        Grab(self)
    }

    /// Fills the window with a colour; the server has done so when this comes back.
    pub(super) fn paint(&self, colour: u32) {
        let brush = x11rb::protocol::xproto::ChangeGCAux::new().foreground(colour);
        self.x.change_gc(self.brush, &brush).unwrap();
        let all = Rectangle {
            x: 0,
            y: 0,
            width: 400,
            height: 300,
        };
        self.x
            .poly_fill_rectangle(self.window, self.brush, &[all])
            .unwrap();
        self.x.get_input_focus().unwrap().reply().unwrap();
    }
}

pub(super) struct Grab<'a>(&'a Game);

impl Drop for Grab<'_> {
    fn drop(&mut self) {
        self.0.x.ungrab_server().unwrap();
        self.0.x.flush().unwrap();
    }
}
