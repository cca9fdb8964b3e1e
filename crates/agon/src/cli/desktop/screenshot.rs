//! `agon desktop screenshot`.

use std::io::{IsTerminal, Write};
use std::path::Path;

use agon_desktop::screen::{CaptureOptions, PictureFormat};
use agon_desktop::{Desktop, Rect};

use super::args::ScreenshotArgs;
use super::choose;
use crate::cli::exit::Exit;
use crate::cli::failure::Failure;

/// Text stays readable.
const QUALITY: u8 = 90;

pub(super) fn screenshot(args: &ScreenshotArgs) -> Result<Exit, Failure> {
    let to_stdout = args.out == Path::new("-");
    let format = if to_stdout {
        PictureFormat::Png
    } else {
        format_of(&args.out)?
    };
    if to_stdout && std::io::stdout().is_terminal() {
        return Err(Failure::new(
            "a picture is nothing for a terminal: name a file, or use a pipe",
        ));
    }
    let desktop = choose::desktop(&args.choice)?;
    let region = match &args.window {
        Some(title) => Some(visible(&desktop, title)?),
        None => args.region,
    };
    let options = CaptureOptions {
        region,
        cursor: args.cursor,
        ..CaptureOptions::default()
    };
    let frame = desktop.screen().capture_with(&options)?;
    let picture = match args.max {
        Some(max) => frame.scaled_to(max).frame.encode(format)?,
        None => frame.encode(format)?,
    };
    if to_stdout {
        std::io::stdout().lock().write_all(&picture)?;
    } else {
        write(&args.out, &picture)?;
    }
    Ok(Exit::Done)
}

fn visible(desktop: &Desktop, title: &str) -> Result<Rect, Failure> {
    let window = desktop.windows().find(title)?;
    if window.hidden {
        return Err(Failure::new(format_args!(
            "the window `{title}` is hidden: `agon desktop call window.make_active` shows it"
        )));
    }
    Ok(window.rect)
}

fn format_of(path: &Path) -> Result<PictureFormat, Failure> {
    let ending = path.extension().unwrap_or_default().to_ascii_lowercase();
    match ending.to_str() {
        Some("png") => Ok(PictureFormat::Png),
        Some("webp") => Ok(PictureFormat::WebP),
        Some("jpg" | "jpeg") => Ok(PictureFormat::Jpeg { quality: QUALITY }),
        _ => Err(Failure::new(format_args!(
            "`{}` says no format: end it in .png, .webp or .jpg",
            path.display()
        ))),
    }
}

/// Whole or not at all.
fn write(path: &Path, picture: &[u8]) -> Result<(), Failure> {
    let failed = |error: std::io::Error| {
        Failure::new(format_args!("can't write {}: {error}", path.display()))
    };
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    let mut file = tempfile::Builder::new()
        .permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666))
        .tempfile_in(folder)
        .map_err(failed)?;
    file.write_all(picture).map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    Ok(())
}
