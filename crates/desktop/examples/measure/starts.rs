//! Starts of private desktops: cold, in turns with a bare X server and window manager, and warm.

use std::time::Instant;

use agon_desktop::{Desktop, DesktopConfig, WarmPool};

use crate::bare::BareDisplay;
use crate::figure::{Failed, Figure};
use crate::times::Times;

const ROUNDS: usize = 25;
/// Each of them starts another desktop meanwhile.
const WARM: usize = 2;

/// Ours to its first frame; the bare ones until the window manager answers, which is asked the same
/// question by both.
pub(crate) fn cold() -> Result<Vec<Figure>, Failed> {
    let config = DesktopConfig::default();
    let (mut ours, mut bare) = (Times::default(), Times::default());
    let mut named = Times::default();
    for round in 0..=ROUNDS {
        let called = Instant::now();
        let desktop = Desktop::start(&config)?;
        desktop.screen().capture()?;
        let our_time = called.elapsed();
        drop(desktop);
        let called = Instant::now();
        let display = BareDisplay::start(config.size)?;
        let bare_time = called.elapsed();
        let named_after = display.named_after();
        drop(display);
        // The first ones read their programs from the disk.
        if round > 0 {
            ours.add(our_time);
            bare.add(bare_time);
            named.add(named_after);
        }
    }
    Ok(vec![
        Figure::new("cold_start_local_ms", ours.p50(), Some(bare.p50()))
            .noting(ours.spread("ours"))
            .noting(bare.spread("bare Xvfb and openbox"))
            .noting(named.spread("the same until openbox names itself and can't be used yet")),
        Figure::new("cold_start_local_ratio", ours.p50() / bare.p50(), Some(1.0)).noting(format!(
            "{:.2} of the time until openbox names itself",
            ours.p50() / named.p50()
        )),
    ])
}

/// From the asking to the first frame.
pub(crate) fn warm() -> Result<Vec<Figure>, Failed> {
    let pool = WarmPool::new(DesktopConfig::default(), WARM)?;
    let (mut taken, mut times) = (Times::default(), Times::default());
    for _ in 0..ROUNDS {
        pool.wait_until_full();
        if pool.ready() < WARM {
            return Err("the pool could not be filled".into());
        }
        let called = Instant::now();
        let desktop = pool.take()?;
        taken.add(called.elapsed());
        let frame = desktop.screen().capture()?;
        times.add(called.elapsed());
        drop((frame, desktop));
    }
    Ok(vec![
        Figure::new("warm_take_ms", times.p50(), None)
            .noting(taken.spread("taken"))
            .noting(times.spread("with the first frame")),
    ])
}
