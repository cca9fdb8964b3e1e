//! A desktop as people leave it: windows with text, and an editor where one is installed.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use agon_desktop::Desktop;

use crate::bare::{BareDisplay, Process};
use crate::figure::Failed;

const WITHIN: Duration = Duration::from_secs(30);

/// How programs find a display.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) display: String,
    pub(crate) authority: Option<PathBuf>,
}

impl Place {
    pub(crate) fn bare(display: &BareDisplay) -> Self {
        Self {
            display: display.name().to_owned(),
            authority: None,
        }
    }

    pub(crate) fn published(published: &agon_desktop::Published) -> Self {
        Self {
            display: published.display(),
            authority: Some(published.authority().to_owned()),
        }
    }

    pub(crate) fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("DISPLAY", &self.display).stdout(Stdio::null());
        if let Some(authority) = &self.authority {
            command.env("XAUTHORITY", authority);
        }
        command
    }

    /// A terminal that is there and drawn when this returns. The title must be new.
    pub(crate) fn terminal(
        &self,
        desktop: &Desktop,
        title: &str,
        geometry: &str,
        script: &str,
    ) -> Result<Process, Failed> {
        let mut command = self.command("xterm");
        command.args(["-T", title, "-geometry", geometry, "-e", "sh", "-c", script]);
        let terminal = Process::start(&mut command)?;
        desktop.windows().wait_for(title, WITHIN)?;
        Ok(terminal)
    }
}

/// Its programs end when it is dropped.
#[derive(Debug)]
pub(crate) struct Scene {
    _programs: Vec<Process>,
}

impl Scene {
    /// For a screen of 1920x1080. Everything is drawn when this returns.
    pub(crate) fn show(desktop: &Desktop, place: &Place) -> Result<Self, Failed> {
        let mut programs = Vec::new();
        for (title, geometry, folder) in [
            ("one", "100x40+30+40", "/usr/bin"),
            ("two", "110x30+700+60", "/etc"),
            ("three", "90x30+400+520", "/usr/lib"),
        ] {
            let script = format!("ls -l {folder} | tail -n 60; read end </dev/tty");
            programs.push(place.terminal(desktop, title, geometry, &script)?);
        }
        if let Ok(editor) = Process::start(place.command("mousepad").arg("/etc/services")) {
            programs.push(editor);
            desktop.windows().wait_for("services", WITHIN)?;
        }
        if !desktop
            .screen()
            .stable(Duration::from_millis(500), WITHIN)?
        {
            return Err("the windows do not come to rest".into());
        }
        Ok(Self {
            _programs: programs,
        })
    }
}
