//! An X server and a window manager started as anybody would by hand: no jail, no cookie, no care.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use agon_desktop::{DisplayAddress, Size};

use crate::client::Client;
use crate::figure::Failed;

/// Ended when dropped.
#[derive(Debug)]
pub(crate) struct BareDisplay {
    name: String,
    named_after: Duration,
    server: Process,
    _manager: Process,
}

impl BareDisplay {
    /// Both answer when this returns. The server's options are those of a private desktop.
    pub(crate) fn start(size: Size) -> Result<Self, Failed> {
        let called = Instant::now();
        let screen = format!("{size}x24");
        let options = "-noreset -nolisten tcp -s 0 -dpms -br -extension GLX";
        let mut server = Process::start(
            Command::new("Xvfb")
                .args(["-displayfd", "1", "-screen", "0", &screen])
                .args(options.split(' '))
                .stdout(Stdio::piped()),
        )?;
        let mut number = String::new();
        let said = server.0.stdout.as_mut().ok_or("Xvfb has no output")?;
        BufReader::new(said).read_line(&mut number)?;
        let name = format!(":{}", number.trim().parse::<u32>()?);
        let mut manager = Command::new("openbox");
        manager
            .arg("--sm-disable")
            .env("DISPLAY", &name)
            .stdout(Stdio::null());
        let manager = Process::start(&mut manager)?;
        let mut display = Self {
            name,
            named_after: Duration::ZERO,
            server,
            _manager: manager,
        };
        let client = Client::connect(&display.address())?;
        client.wait_for_window_manager()?;
        display.named_after = called.elapsed();
        client.wait_for_answer()?;
        Ok(display)
    }

    /// How long it took until the window manager named itself, which is before it answers.
    pub(crate) fn named_after(&self) -> Duration {
        self.named_after
    }

    pub(crate) fn address(&self) -> DisplayAddress {
        DisplayAddress::Named(self.name.clone())
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for BareDisplay {
    fn drop(&mut self) {
        // Asked, and not killed: it removes its lock and its socket. The window manager goes by itself.
        let _ = rustix::process::kill_process(
            rustix::process::Pid::from_child(&self.server.0),
            rustix::process::Signal::TERM,
        );
        let _ = self.server.0.wait();
    }
}

/// Killed when dropped.
#[derive(Debug)]
pub(crate) struct Process(Child);

impl Process {
    pub(crate) fn start(command: &mut Command) -> Result<Self, Failed> {
        let name = command.get_program().to_string_lossy().into_owned();
        let child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn();
        Ok(Self(
            child.map_err(|error| format!("can't start {name}: {error}"))?,
        ))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
