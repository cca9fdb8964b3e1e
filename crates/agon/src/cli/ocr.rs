//! `agon ocr`: fetches what reads text in pictures, and shows what it reads.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use agon_core::Region;
use agon_vision::ocr::Engine;
use agon_vision::{Image, OcrError, Reader, models};
use clap::{Args, Subcommand};
use serde::Serialize;

use super::exit::Exit;
use super::failure::Failure;
use super::output;

/// The largest file that is taken for a picture.
const MOST_BYTES: u64 = 256 << 20;

#[derive(Debug, Subcommand)]
pub(super) enum OcrCommand {
    /// Fetch the models that read text, unless they are there.
    Install(InstallArgs),
    /// Read the text of a picture.
    Read(ReadArgs),
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agon ocr install
  agon ocr install --wheel rapidocr-3.10.0-py3-none-any.whl     where there is no network

The models (PP-OCRv6 small, Apache-2.0) come out of the Python package rapidocr, fetched with
`python3 -m pip`. They are pinned by their digests and kept in the user's cache: agon/ocr below
$XDG_CACHE_HOME or ~/.cache.")]
pub(super) struct InstallArgs {
    /// The package, brought here by other means.
    #[arg(long, value_name = "FILE")]
    wheel: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  agon desktop screenshot --output screen.png && agon ocr read screen.png
  agon ocr read screen.png --region 0,0,400,100 --json")]
pub(super) struct ReadArgs {
    /// A PNG file.
    #[arg(value_name = "PICTURE")]
    picture: PathBuf,
    /// Only this part: from the upper left corner, in pixels.
    #[arg(long, value_name = "X,Y,W,H", value_parser = region)]
    region: Option<Region>,
    /// One JSON object per line of text, with its place and its confidence.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct ReadLine<'a> {
    text: &'a str,
    region: Region,
    confidence: f64,
}

pub(super) fn ocr(command: &OcrCommand) -> Result<Exit, Failure> {
    match command {
        OcrCommand::Install(args) => install(args),
        OcrCommand::Read(args) => read(args),
    }
}

fn install(args: &InstallArgs) -> Result<Exit, Failure> {
    let models = models::install(args.wheel.as_deref()).map_err(Failure::new)?;
    let folder = models.detection.parent().unwrap_or(Path::new("/"));
    output::say(&format!("the models are in {}", folder.display()));
    Ok(Exit::Done)
}

fn read(args: &ReadArgs) -> Result<Exit, Failure> {
    let mut picture = load(&args.picture)?;
    let (mut x, mut y) = (0, 0);
    if let Some(region) = args.region {
        let (width, height) = (picture.width(), picture.height());
        picture = picture.crop(region).ok_or_else(|| {
            Failure::new(format_args!(
                "the region lies outside of the picture, which is {width}x{height}"
            ))
        })?;
        (x, y) = (region.x, region.y);
    }
    let reader = Reader::shared().map_err(Failure::new)?;
    let started = Instant::now();
    let lines = reader.read(&picture).map_err(Failure::new)?;
    let took = started.elapsed().as_millis();
    for line in &lines {
        let text = output::plain(&line.text);
        if !args.json {
            output::data(&text)?;
            continue;
        }
        let region = Region {
            x: line.region.x + x,
            y: line.region.y + y,
            ..line.region
        };
        output::json(&ReadLine {
            text: &text,
            region,
            confidence: (line.confidence * 1000.0).round() / 1000.0,
        })?;
    }
    let count = output::count(lines.len() as u64, "line");
    output::say(&format!("{count} in {took} ms"));
    Ok(Exit::Done)
}

fn load(path: &Path) -> Result<Image, Failure> {
    let failed = |error: &dyn std::fmt::Display| {
        Failure::new(format_args!("can't read {}: {error}", path.display()))
    };
    let file = std::fs::File::open(path).map_err(|error| failed(&error))?;
    let mut bytes = Vec::new();
    file.take(MOST_BYTES)
        .read_to_end(&mut bytes)
        .map_err(|error| failed(&error))?;
    Image::from_png(&bytes).map_err(|error| failed(&error))
}

/// What there is to read text with, for `agon doctor`.
pub(super) fn describe() -> Result<String, OcrError> {
    Ok(match Engine::find()? {
        Engine::Models(models) => {
            let folder = models.detection.parent().unwrap_or(Path::new("/"));
            format!("models in {}", folder.display())
        }
        Engine::Tesseract(version) => {
            format!("tesseract {version}; `agon ocr install` fetches models that read better")
        }
    })
}

fn region(text: &str) -> Result<Region, String> {
    let numbers: Vec<u32> = text
        .split(',')
        .map(|number| number.trim().parse().ok())
        .collect::<Option<_>>()
        .unwrap_or_default();
    match numbers[..] {
        [x, y, width, height] if width > 0 && height > 0 => Ok(Region {
            x,
            y,
            width,
            height,
        }),
        _ => Err("use X,Y,WIDTH,HEIGHT in pixels, such as 0,0,400,100".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_four_numbers() {
        let read = region("1, 2,30,40").unwrap();
        assert_eq!((read.x, read.y, read.width, read.height), (1, 2, 30, 40));
        for bad in ["", "1,2,3", "1,2,3,0", "1,2,3,4,5", "-1,2,3,4", "a,b,c,d"] {
            assert!(region(bad).is_err(), "{bad}");
        }
    }
}
