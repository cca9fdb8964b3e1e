//! Captures of a private desktop of 1920x1080 with windows and text. The other tools take the same
//! windows on a bare X server: that of a private desktop shares no memory by the old way, which is
//! the one they know, and they would be slower for it.

use agon_desktop::screen::PictureFormat;
use agon_desktop::{Desktop, DesktopConfig, Published, Size};
use agon_sandbox::OwnedFolder;

use crate::bare::BareDisplay;
use crate::figure::{Failed, Figure};
use crate::scene::{Place, Scene};
use crate::times::Times;
use crate::tools;

const SIZE: Size = Size::new(1920, 1080);
const ROUNDS: usize = 500;

pub(crate) fn raw() -> Result<Vec<Figure>, Failed> {
    let ours = ours(|desktop| Ok(desktop.screen().capture()?))?;
    let reference = on_bare_display(tools::mss_raw)?;
    let name = "capture_1080p_raw_p50_ms";
    let figure =
        Figure::new(name, ours.p50(), reference.as_ref().ok().copied()).noting(ours.spread("ours"));
    Ok(vec![match reference {
        Ok(_) => figure,
        Err(missing) => figure.noting(missing),
    }])
}

pub(crate) fn png() -> Result<Vec<Figure>, Failed> {
    let ours = ours(|desktop| Ok(desktop.screen().capture()?.encode(PictureFormat::Png)?))?;
    let (mss, scrot) = on_bare_display(|place| (tools::mss_png(place), tools::scrot(place)))?;
    let name = "capture_1080p_png_p50_ms";
    let nearest = mss.as_ref().or(scrot.as_ref()).ok().copied();
    let mut figure = Figure::new(name, ours.p50(), nearest).noting(ours.spread("ours"));
    for (tool, time) in [("mss with PIL", mss), ("scrot", scrot)] {
        figure = figure.noting(match time {
            Ok(time) => format!("{tool}: p50 {time:.1} ms"),
            Err(missing) => missing,
        });
    }
    Ok(vec![figure])
}

fn ours<T>(mut capture: impl FnMut(&Desktop) -> Result<T, Failed>) -> Result<Times, Failed> {
    let config = DesktopConfig {
        size: SIZE,
        ..DesktopConfig::default()
    };
    let desktop = Desktop::start(&config)?;
    let folder = OwnedFolder::new()?;
    let published = Published::new(&desktop, &folder.path().join("authority"))?;
    let _scene = Scene::show(&desktop, &Place::published(&published))?;
    Times::of(ROUNDS, || capture(&desktop))
}

fn on_bare_display<T>(measure: impl FnOnce(&Place) -> T) -> Result<T, Failed> {
    let display = BareDisplay::start(SIZE)?;
    let desktop = Desktop::connect(&display.address())?;
    let place = Place::bare(&display);
    let _scene = Scene::show(&desktop, &place)?;
    Ok(measure(&place))
}
