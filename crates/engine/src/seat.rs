//! Where a trial is played: a sandbox, and for desktop tasks the screen that its programs draw on.
//! Makes both ready and starts the task's programs; does not know what an agent does there.

use std::sync::Arc;
use std::time::Duration;

use agon_core::{Environment, Fault, FaultClass, Task};
use agon_desktop::{Desktop, DesktopConfig, DesktopError, DisplayAddress};
use agon_sandbox::{DisplayMount, HOST, Request, Sandbox};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout};

use crate::apps::Apps;
use crate::furnish::stays_behind;
use crate::table::Providers;
use crate::trial::{fault_of, late};
use crate::warm::Ready;

/// Where programs in a local sandbox find the cookie of their display.
const AUTHORITY: &str = "/home/agent/.Xauthority";

/// How often it is looked whether they have: there is no event for "a window for each".
const LOOK: Duration = Duration::from_millis(10);
const LONGEST_LOOK: Duration = Duration::from_millis(100);

/// What a set-up leaves in the background may have no window at all.
const LEFT_BEHIND: Duration = Duration::from_secs(5);

/// How much is told of what programs said that opened no window.
const TOLD: usize = 500;

/// Everything that a trial is played in.
#[derive(Debug)]
pub(crate) struct Seat {
    pub(crate) sandbox: Box<dyn Sandbox>,
    pub(crate) desktop: Option<Arc<Desktop>>,
    pub(crate) apps: Apps,
}

impl Seat {
    /// A sandbox without a screen.
    pub(crate) async fn plain(providers: &Providers, request: &Request) -> Result<Self, Fault> {
        let provider = providers
            .of(&request.environment)
            .ok_or_else(|| Fault::new(FaultClass::Start, "there is no such environment here"))?;
        Ok(Self {
            sandbox: start(provider.prepare(request), request.start).await?,
            desktop: None,
            apps: Apps::default(),
        })
    }

    /// A desktop: private with its programs in a local sandbox, or in a container of an image.
    pub(crate) async fn with_desktop(
        providers: &Providers,
        mut request: Request,
    ) -> Result<Self, Fault> {
        let config = config(&request.environment, request.start)?;
        if request.environment.image.is_some() {
            in_container(providers, &request, config).await
        } else {
            beside_sandbox(providers, &mut request, config).await
        }
    }

    /// Starts the task's programs and waits until there is a window for each; without any, for the
    /// first window of what the set-up left in the background, though not for long.
    pub(crate) async fn open(&mut self, task: &Task) -> Result<(), Fault> {
        let Some(desktop) = self.desktop.clone() else {
            return Ok(());
        };
        let apps = &task.environment.apps;
        let began = Instant::now();
        if !apps.is_empty() {
            self.start_apps(&desktop, apps, task.limits.start.duration())
                .await?;
        } else if task.setup.as_deref().is_some_and(stays_behind) {
            let deadline = Instant::now() + LEFT_BEHIND;
            let mut pause = LOOK;
            while windows(&desktop).await? == 0 && Instant::now() < deadline {
                sleep(pause).await;
                pause = (pause * 2).min(LONGEST_LOOK);
            }
        } else {
            return Ok(());
        }
        // What they draw first; one that never comes to rest is no reason to wait for it, nor is one
        // that draws nothing.
        let quiet = quiet_after(began.elapsed());
        blocking(move || desktop.wait_for_content(quiet, FIRST_PICTURE)).await?;
        Ok(())
    }

    async fn start_apps(
        &mut self,
        desktop: &Arc<Desktop>,
        apps: &[String],
        within: Duration,
    ) -> Result<(), Fault> {
        let before = windows(desktop).await?;
        for app in apps {
            let starting = self.apps.start(self.sandbox.as_ref(), app, within);
            let started = timeout(within, starting).await;
            started
                .map_err(|_| late("starting an app", within))?
                .map_err(|error| Fault::new(FaultClass::Setup, error))?;
        }
        let deadline = Instant::now() + within;
        let mut pause = LOOK;
        while windows(desktop).await? < before + apps.len() {
            if let Some((number, status)) = self.apps.failed() {
                let why = format!("it ended with status {status}");
                return Err(self.no_window(&apps[number..=number], number, &why).await);
            }
            if Instant::now() > deadline {
                let why = format!("after {} s", within.as_secs_f64());
                return Err(self.no_window(apps, 0, &why).await);
            }
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_LOOK);
        }
        Ok(())
    }

    /// `first` is the number of the first of these programs.
    async fn no_window(&mut self, apps: &[String], first: usize, why: &str) -> Fault {
        let mut said = String::new();
        for number in first..first + apps.len() {
            said += &self.apps.words(number).await;
            said.push(' ');
        }
        let apps = apps.join("`, `");
        let said: String = said.trim().chars().take(TOLD).collect();
        let message = format_args!("no window of app `{apps}` ({why}): {said}");
        Fault::new(FaultClass::Setup, message)
    }
}

/// Nothing drawn for this long: the first picture is complete. Programs that were slow to open a
/// window, large ones or on a slow machine, pause longer while they fill it.
fn quiet_after(opening: Duration) -> Duration {
    (opening / 8).clamp(DRAWN, LONGEST_DRAWN)
}

const DRAWN: Duration = Duration::from_millis(50);
const LONGEST_DRAWN: Duration = Duration::from_millis(500);
const FIRST_PICTURE: Duration = Duration::from_secs(2);

pub(crate) fn config(environment: &Environment, start: Duration) -> Result<DesktopConfig, Fault> {
    let size = match &environment.screen {
        Some(size) => size.parse().map_err(|error| fault(&error))?,
        None => DesktopConfig::DEFAULT_SIZE,
    };
    Ok(DesktopConfig {
        size,
        gl: environment.gl,
        start,
    })
}

async fn beside_sandbox(
    providers: &Providers,
    request: &mut Request,
    config: DesktopConfig,
) -> Result<Seat, Fault> {
    let desktops = Arc::clone(&providers.desktops);
    let desktop = Arc::new(blocking(move || desktops.take(&config)).await?);
    let (Some(folder), DisplayAddress::Socket { cookie, .. }) =
        (desktop.socket_folder(), desktop.address())
    else {
        return Err(Fault::new(
            FaultClass::Internal,
            "a private desktop without a socket",
        ));
    };
    request.display = Some(DisplayMount {
        folder,
        start: String::new(),
    });
    let env = &mut request.environment.env;
    env.insert("DISPLAY".to_owned(), Desktop::PRIVATE_NAME.to_owned());
    env.insert("XAUTHORITY".to_owned(), AUTHORITY.to_owned());
    let sandbox = start(providers.local.prepare(request), request.start).await?;
    let authority = cookie.authority_file_on(HOST, Desktop::PRIVATE_NUMBER);
    let written = sandbox.write(AUTHORITY, &authority).await;
    written.map_err(|error| fault_of(&error))?;
    Ok(Seat {
        sandbox,
        desktop: Some(desktop),
        apps: Apps::default(),
    })
}

async fn in_container(
    providers: &Providers,
    request: &Request,
    config: DesktopConfig,
) -> Result<Seat, Fault> {
    let warm = providers.desktops.in_containers();
    let Ready { sandbox, desktop } = warm.take(&providers.container, request, config).await?;
    Ok(Seat {
        sandbox,
        desktop: Some(Arc::new(desktop)),
        apps: Apps::default(),
    })
}

pub(crate) async fn start(
    preparing: impl Future<Output = Result<Box<dyn Sandbox>, agon_sandbox::SandboxError>>,
    within: Duration,
) -> Result<Box<dyn Sandbox>, Fault> {
    timeout(within, preparing)
        .await
        .map_err(|_| late("starting the environment", within))?
        .map_err(|error| fault_of(&error))
}

async fn windows(desktop: &Arc<Desktop>) -> Result<usize, Fault> {
    let desktop = Arc::clone(desktop);
    Ok(blocking(move || desktop.windows().list()).await?.len())
}

/// Everything that a desktop is asked for has its own deadline; a hostile X server may stretch it.
const LONGEST_CALL: Duration = Duration::from_secs(180);

/// Runs something of a desktop where it may block.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, DesktopError> + Send + 'static,
) -> Result<T, Fault> {
    timeout(LONGEST_CALL, spawn_blocking(work))
        .await
        .map_err(|_| late("a call of the desktop", LONGEST_CALL))?
        .map_err(|error| Fault::new(FaultClass::Internal, error))?
        .map_err(|error| fault(&error))
}

pub(crate) fn fault(error: &DesktopError) -> Fault {
    Fault::new(error.fault_class(), error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_slow_to_open_a_window_may_be_slow_to_fill_it() {
        let ms = Duration::from_millis;
        // A terminal and an editor are not held up.
        assert_eq!(quiet_after(ms(60)), ms(50));
        assert_eq!(quiet_after(ms(400)), ms(50));
        assert_eq!(quiet_after(ms(1600)), ms(200));
        assert_eq!(quiet_after(ms(60_000)), ms(500));
    }
}
