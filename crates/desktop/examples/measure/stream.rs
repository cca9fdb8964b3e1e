//! What a stream of 60 frames per second costs while the whole screen changes all the time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use agon_desktop::screen::StreamConfig;
use agon_desktop::{Desktop, DesktopConfig, DisplayAddress};
use rustix::time::{ClockId, clock_gettime};

use crate::client::Client;
use crate::figure::{Failed, Figure};
use crate::memory::{descendants, name_of};

const FPS: u32 = 60;
const LASTS: Duration = Duration::from_secs(10);
/// A little faster than the stream: there is something new for every frame.
const DRAW_EVERY: Duration = Duration::from_millis(16);
/// Frames that must have come: a machine that has other things to do may delay some.
const ENOUGH: f64 = 0.95;

pub(crate) fn core_share() -> Result<Vec<Figure>, Failed> {
    let desktop = Desktop::start(&DesktopConfig::default())?;
    let server = descendants(desktop.process().ok_or("the desktop has no process")?)
        .into_iter()
        .find(|pid| name_of(*pid).as_deref() == Some("Xvfb"))
        .ok_or("the desktop has no X server")?;
    let painter = Painter::start(desktop.address())?;
    let stream = desktop.screen().stream(StreamConfig {
        fps: FPS,
        cursor: false,
        keep: 8,
    })?;
    stream.next(LASTS)?;
    let own = || spent(ClockId::ProcessCPUTime).saturating_sub(painter.spent());
    let (own_before, server_before) = (own(), spent_by(server)?);
    let started = Instant::now();
    let mut frames = 0;
    while started.elapsed() < LASTS {
        if stream.next(Duration::from_secs(1))?.is_some() {
            frames += 1;
        }
    }
    let lasted = started.elapsed().as_secs_f64();
    let share = own().saturating_sub(own_before).as_secs_f64() / lasted;
    let of_server = spent_by(server)?
        .saturating_sub(server_before)
        .as_secs_f64()
        / lasted;
    let rate = f64::from(frames) / lasted;
    if stream.dropped() > 0 || rate < f64::from(FPS) * ENOUGH {
        return Err(format!(
            "{} frames were dropped, {rate:.1} came per second",
            stream.dropped()
        )
        .into());
    }
    Ok(vec![
        Figure::new("stream_60fps_core_share", share, None).noting(format!(
            "{rate:.1} frames/s, none dropped; the X server took {of_server:.3} cores, the program \
             that drew included"
        )),
    ])
}

/// Draws on a connection and a thread of its own, which are not counted.
struct Painter {
    spent: Arc<AtomicU64>,
    _stop: Sender<()>,
}

impl Painter {
    fn start(address: &DisplayAddress) -> Result<Self, Failed> {
        let spent = Arc::new(AtomicU64::new(0));
        let (stop, stopped) = mpsc::channel();
        let (ready, is_ready) = mpsc::channel();
        let (address, tally) = (address.clone(), Arc::clone(&spent));
        std::thread::spawn(move || {
            let painted = paint(&address, &tally, &stopped, &ready);
            let _ = ready.send(painted.map_err(|error| error.to_string()));
        });
        is_ready.recv()??;
        Ok(Self { spent, _stop: stop })
    }

    fn spent(&self) -> Duration {
        Duration::from_nanos(self.spent.load(Ordering::Relaxed))
    }
}

fn paint(
    address: &DisplayAddress,
    tally: &AtomicU64,
    stopped: &Receiver<()>,
    ready: &Sender<Result<(), String>>,
) -> Result<(), Failed> {
    let client = Client::connect(address)?;
    let canvas = client.cover_screen()?;
    ready.send(Ok(()))?;
    let mut due = Instant::now();
    for number in (0..1000).cycle() {
        canvas.draw(number)?;
        let nanos = spent(ClockId::ThreadCPUTime).as_nanos();
        tally.store(u64::try_from(nanos)?, Ordering::Relaxed);
        due += DRAW_EVERY;
        let left = due.saturating_duration_since(Instant::now());
        if stopped.recv_timeout(left) != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    Ok(())
}

fn spent(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(
        time.tv_sec.unsigned_abs(),
        time.tv_nsec.unsigned_abs() as u32,
    )
}

/// Processor time of all threads of another process.
fn spent_by(pid: u32) -> Result<Duration, Failed> {
    let mut nanos = 0;
    for thread in std::fs::read_dir(format!("/proc/{pid}/task"))? {
        let times = std::fs::read_to_string(thread?.path().join("schedstat"))?;
        nanos += times.split(' ').next().unwrap_or_default().parse::<u64>()?;
    }
    Ok(Duration::from_nanos(nanos))
}
