//! The screens that games end with, in several sizes and colours.

use std::sync::Arc;
use std::time::Instant;

use agon_core::Region;
use agon_core::sight::NumberForm;
use agon_vision::ocr::Engine;
use agon_vision::{Image, Line, OcrError, Reader, number};

use super::drawing::Canvas;

const WHITE: [u8; 3] = [255; 3];
const NIGHT: [u8; 3] = [20, 10, 45];

/// These tests are about the models: they fail where there are none.
pub(crate) fn reader() -> Arc<Reader> {
    match Engine::find() {
        Ok(Engine::Models(_)) => Reader::shared().unwrap(),
        other => panic!("run `cargo xtask test`, or `agon ocr install`, first: {other:?}"),
    }
}

pub(crate) fn texts(lines: &[Line]) -> Vec<&str> {
    lines.iter().map(|line| line.text.as_str()).collect()
}

/// Reading may lose or add a space; letters and digits it may not.
fn squeezed(lines: &[Line]) -> Vec<String> {
    texts(lines)
        .iter()
        .map(|text| text.replace(' ', ""))
        .collect()
}

fn game_over(
    width: usize,
    height: usize,
    size: usize,
    score: &str,
    colours: [[u8; 3]; 2],
) -> Image {
    let [paper, ink] = colours;
    let mut canvas = Canvas::new(width, height, paper);
    let mut y = height / 4;
    for text in [
        "GAME OVER",
        &format!("LAST {score}"),
        "PRESS SPACE TO RETRY",
    ] {
        canvas.text((width - text.len() * 6 * size) / 2, y, size, ink, text);
        y += size * 14;
    }
    canvas.image()
}

#[test]
fn the_end_of_a_game_is_read_in_every_size_and_colour() {
    let reader = reader();
    let day = [WHITE, NIGHT];
    let night = [NIGHT, WHITE];
    let purple = [[90, 20, 110], [255, 230, 60]];
    for (width, height, size, colours) in [
        (480, 360, 2, night),
        (480, 360, 3, day),
        (640, 480, 3, purple),
        (1280, 800, 4, day),
    ] {
        let image = game_over(width, height, size, "12:34", colours);
        let lines = reader.read(&image).unwrap();
        let read = squeezed(&lines);
        assert_eq!(read, ["GAMEOVER", "LAST12:34", "PRESSSPACETORETRY"]);
        assert!(lines.iter().all(|line| line.confidence > 0.8), "{lines:?}");
        for line in &lines {
            let region = line.region;
            assert!(region.height as usize >= size * 7, "{line:?}");
            assert!((region.x + region.width) as usize <= width, "{line:?}");
        }
    }
}

#[test]
fn scores_are_read_as_they_are() {
    read_scores(&[7, 5678, 11990]);
}

#[test]
fn long_form_many_scores_are_read_as_they_are() {
    read_scores(&[7, 99, 100, 226, 777, 1234, 1111, 4040, 5678, 9081, 11990]);
}

fn read_scores(all: &[i32]) {
    let reader = reader();
    for &hundredths in all {
        let (seconds, rest) = (hundredths / 100, hundredths % 100);
        let score = format!("{seconds:02}:{rest:02}");
        let image = game_over(480, 360, 2, &score, [NIGHT, WHITE]);
        let lines = reader.read(&image).unwrap();
        let found = number::find(&lines, Some("LAST"), NumberForm::SecondsHundredths)
            .unwrap_or_else(|| panic!("{score} in {:?}", texts(&lines)));
        assert_eq!(found.value, f64::from(hundredths) / 100.0, "{found:?}");
        assert!(found.confidence > 0.5, "{found:?}");
    }
}

#[test]
fn a_region_reads_as_the_whole_does() {
    let image = game_over(480, 360, 2, "12:34", [NIGHT, WHITE]);
    let region = Region {
        x: 150,
        y: 108,
        width: 180,
        height: 35,
    };
    let lines = reader().read(&image.crop(region).unwrap()).unwrap();
    assert_eq!(squeezed(&lines), ["LAST12:34"]);
}

#[test]
fn tiny_text_is_read_in_a_small_region() {
    let mut canvas = Canvas::new(130, 20, NIGHT);
    canvas.text(3, 6, 1, WHITE, "PRESS SPACE TO RETRY");
    let lines = reader().read(&canvas.image()).unwrap();
    assert_eq!(squeezed(&lines), ["PRESSSPACETORETRY"]);
}

#[test]
fn where_nothing_is_written_nothing_is_read() {
    let reader = reader();
    for (width, height) in [(1, 1), (1, 300), (300, 1), (3, 3), (64, 64), (320, 240)] {
        let image = Canvas::new(width, height, NIGHT).image();
        assert_eq!(reader.read(&image).unwrap(), [], "{width}x{height}");
    }
}

#[test]
fn noise_and_huge_pictures_are_survived() {
    let reader = reader();
    let noise: Vec<u8> = (0u32..200 * 150 * 4)
        .map(|at| (at.wrapping_mul(0x9e37_79b9) >> 23) as u8)
        .collect();
    reader
        .read(&Image::from_bgrx(200, 150, &noise).unwrap())
        .unwrap();
    for (width, height) in [(7000, 6000), (8_000_000, 1), (1, 8_193)] {
        let huge = Canvas::new(width, height, NIGHT).image();
        let refused = reader.read(&huge);
        assert!(matches!(refused, Err(OcrError::TooLarge { .. })));
    }
    for (width, height) in [(8192, 1), (1, 8192)] {
        let long = Canvas::new(width, height, NIGHT).image();
        assert_eq!(reader.read(&long).unwrap(), [], "{width}x{height}");
    }
}

#[test]
fn what_is_not_read_in_time_is_not_read_at_all() {
    let reader = reader();
    let over = Instant::now();
    let image = game_over(480, 360, 2, "12:34", [NIGHT, WHITE]);
    let error = reader.read_by(&image, over).unwrap_err();
    assert_eq!(error.to_string(), "too much text to read; name a region");
    // Nothing is read as fast as can be.
    let blank = Canvas::new(480, 360, NIGHT).image();
    assert_eq!(reader.read_by(&blank, over).unwrap(), []);
}
