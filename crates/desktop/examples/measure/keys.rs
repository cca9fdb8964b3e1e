//! From a key to what it does: the event that a program receives, and the picture in which a
//! terminal shows it.

use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use agon_desktop::screen::{CaptureOptions, PictureFormat, Settle};
use agon_desktop::{Desktop, DesktopConfig, DisplayAddress, Key, KeyCombination, Published};
use agon_sandbox::{Activity, OwnedFolder};
use x11rb::protocol::Event;

use crate::client::Client;
use crate::figure::{Failed, Figure};
use crate::scene::Place;
use crate::times::Times;
use crate::tools;

const PRESSES: usize = 500;
const WITHIN: Duration = Duration::from_secs(10);

/// What a terminal shows before keys are typed: an empty one would be encoded sooner.
const FULL_OF_TEXT: &str = "ls -l /usr/bin | head -n 48; exec cat >/dev/null";

/// As trials wait for the effect of a key.
const SETTLE: Settle = Settle {
    first: Duration::from_millis(150),
    quiet: Duration::from_millis(60),
    busy: Duration::from_millis(600),
    timers: Duration::from_millis(350),
    least: Duration::ZERO,
    most: Duration::from_secs(1),
};

pub(crate) fn to_event() -> Result<Vec<Figure>, Failed> {
    let desktop = Desktop::start(&DesktopConfig::default())?;
    let arrivals = listen(desktop.address())?;
    let key = Key::from_char('a').ok_or("`a` is no key")?;
    let keyboard = desktop.keyboard();
    let mut times = Times::default();
    for _ in 0..PRESSES {
        let called = Instant::now();
        keyboard.press(key)?;
        times.add(arrivals.recv_timeout(WITHIN)?.duration_since(called));
        keyboard.release(key)?;
    }
    if arrivals.recv_timeout(Duration::from_millis(100)).is_ok() {
        return Err("more keys arrived than were pressed".into());
    }
    let reference = xdotool(&desktop, &arrivals)?;
    let name = "key_to_event_p50_ms";
    let p50 = reference.as_ref().ok().map(Times::p50);
    let figure = Figure::new(name, times.p50(), p50).noting(times.spread("ours"));
    Ok(vec![figure.noting(match reference {
        Ok(times) => times.spread("xdotool"),
        Err(missing) => missing,
    })])
}

/// When each key arrived at a window that covers the screen, on a connection of its own.
fn listen(address: &DisplayAddress) -> Result<Receiver<Instant>, Failed> {
    let (ready, is_ready) = mpsc::channel();
    let (send, arrivals) = mpsc::channel();
    let address = address.clone();
    std::thread::spawn(move || {
        let listened = (|| -> Result<(), Failed> {
            let client = Client::connect(&address)?;
            let _canvas = client.cover_screen()?;
            ready.send(Ok(()))?;
            // Until the desktop is gone, or there were no more keys.
            while let Some(event) = client.event(Instant::now() + WITHIN)? {
                if matches!(event, Event::KeyPress(_)) {
                    send.send(Instant::now())?;
                }
            }
            Ok(())
        })();
        // Nobody listens any more when it is over.
        let _ = ready.send(listened.map_err(|error| error.to_string()));
    });
    is_ready.recv_timeout(WITHIN)??;
    Ok(arrivals)
}

/// The same key by `xdotool key`, from the start of its process.
fn xdotool(
    desktop: &Desktop,
    arrivals: &Receiver<Instant>,
) -> Result<Result<Times, String>, Failed> {
    let folder = OwnedFolder::new()?;
    let published = Published::new(desktop, &folder.path().join("authority"))?;
    let place = Place::published(&published);
    let mut times = Times::default();
    for _ in 0..50 {
        let called = Instant::now();
        if let Err(missing) = tools::xdotool_key(&place) {
            return Ok(Err(missing));
        }
        times.add(arrivals.recv_timeout(WITHIN)?.duration_since(called));
    }
    Ok(Ok(times))
}

/// A character into a terminal, and the encoded picture that shows it, as trials record it.
pub(crate) fn to_settled_picture() -> Result<Vec<Figure>, Failed> {
    let desktop = Desktop::start(&DesktopConfig::default())?;
    let folder = OwnedFolder::new()?;
    let published = Published::new(&desktop, &folder.path().join("authority"))?;
    let place = Place::published(&published);
    let _terminal = place.terminal(&desktop, "typing", "150x50+20+20", FULL_OF_TEXT)?;
    let (screen, keyboard) = (desktop.screen(), desktop.keyboard());
    desktop.windows().make_active("typing")?;
    if !screen.stable(Duration::from_millis(500), WITHIN)? {
        return Err("the terminal does not come to rest".into());
    }
    let mut times = Times::default();
    let with_pointer = CaptureOptions {
        cursor: true,
        ..CaptureOptions::default()
    };
    let watch = screen.watch()?;
    let mut before = screen.capture_with(&with_pointer)?;
    let mut programs = Activity::of_descendants(rustix::process::getpid());
    for character in ('a'..='z').cycle().take(200) {
        let key = Key::from_char(character).ok_or("a letter is no key")?;
        let called = Instant::now();
        watch.restart()?;
        programs.begin();
        // Beside the time that a key is held.
        keyboard.combination_held(&KeyCombination::from(key), Duration::ZERO)?;
        watch.settle(&SETTLE, Some(&mut programs))?;
        let frame = screen.capture_with(&with_pointer)?;
        let picture = frame.encode(PictureFormat::WebP)?;
        times.add(called.elapsed());
        drop(picture);
        if frame == before {
            return Err("a picture was taken before the terminal showed the key".into());
        }
        before = frame;
    }
    let name = "key_to_settled_picture_ms";
    Ok(vec![
        Figure::new(name, times.p50(), None).noting(times.spread("ours")),
    ])
}
