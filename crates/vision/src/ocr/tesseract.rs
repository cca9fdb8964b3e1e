//! The program `tesseract`, for machines that lack the models. It wants large dark letters on white,
//! so it gets them.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::{Duration, Instant};

use agon_core::Region;

use super::error::OcrError;
use super::line::Line;
use crate::image::Image;
use crate::program::{self, ProgramError};

const PROGRAM: &str = "tesseract";
/// Letters of screens are too small for it.
const GROWTH: u32 = 3;
/// Larger pictures stay as they are: it would take too long.
const MOST_GROWN: u64 = 2_000_000;
/// White around everything: it does not see what touches an edge.
const MARGIN: u32 = 20;
const ASKING: Duration = Duration::from_secs(5);
const READING: Duration = Duration::from_secs(20);

#[derive(Debug, Clone)]
pub(super) struct Tesseract {
    version: String,
}

impl Tesseract {
    pub(super) fn find() -> Option<Self> {
        let mut command = Command::new(PROGRAM);
        let output = program::run(command.arg("--version"), Vec::new(), ASKING).ok()?;
        let output = String::from_utf8_lossy(&output);
        let version = output.split_whitespace().nth(1).unwrap_or("unknown");
        Some(Self {
            version: version.chars().take(40).collect(),
        })
    }

    pub(super) fn version(&self) -> &str {
        &self.version
    }

    pub(super) fn read(&self, image: &Image, deadline: Instant) -> Result<Vec<Line>, OcrError> {
        let pixels = u64::from(image.width()) * u64::from(image.height());
        let growth = if pixels * u64::from(GROWTH * GROWTH) <= MOST_GROWN {
            GROWTH
        } else {
            1
        };
        let mut command = Command::new(PROGRAM);
        command
            .args(["stdin", "stdout", "--psm", "6", "tsv"])
            // More threads make it several times slower.
            .env("OMP_THREAD_LIMIT", "1");
        let left = deadline.saturating_duration_since(Instant::now());
        let output = program::run(&mut command, page(image, growth), READING.min(left)).map_err(
            |error| match error {
                // It is as slow as there is much on the screen.
                ProgramError::TooSlow { .. } => OcrError::TooMuch,
                error => error.into(),
            },
        )?;
        Ok(lines(&String::from_utf8_lossy(&output), growth, image))
    }
}

/// A grey picture (PGM), larger, black on white, with a white margin.
fn page(image: &Image, growth: u32) -> Vec<u8> {
    let greys: Vec<u8> = image.rgb().chunks_exact(3).map(grey).collect();
    let threshold = threshold(&greys);
    let dark = greys.iter().filter(|grey| **grey <= threshold).count();
    // There is less ink than paper.
    let inverted = dark * 2 > greys.len();
    let (width, height) = (image.width() * growth, image.height() * growth);
    let header = format!("P5 {} {} 255\n", width + 2 * MARGIN, height + 2 * MARGIN);
    let mut page = header.into_bytes();
    let blank = vec![255; (width + 2 * MARGIN) as usize];
    page.extend((0..MARGIN).flat_map(|_| &blank));
    for row in greys.chunks_exact((image.width() as usize).max(1)) {
        let mut line = vec![255; MARGIN as usize];
        for grey in row {
            let ink = (*grey <= threshold) != inverted;
            line.extend(std::iter::repeat_n(
                if ink { 0 } else { 255 },
                growth as usize,
            ));
        }
        line.extend([255; MARGIN as usize]);
        page.extend((0..growth).flat_map(|_| &line));
    }
    page.extend((0..MARGIN).flat_map(|_| &blank));
    page
}

fn grey(pixel: &[u8]) -> u8 {
    let sum: u32 = pixel
        .iter()
        .zip([299, 587, 114])
        .map(|(value, weight)| u32::from(*value) * weight)
        .sum();
    (sum / 1000) as u8
}

/// Where dark ends: the value that parts the two groups best (Otsu).
fn threshold(greys: &[u8]) -> u8 {
    let mut counts = [0f64; 256];
    for grey in greys {
        counts[usize::from(*grey)] += 1.0;
    }
    let all: f64 = greys.len() as f64;
    let total: f64 = (0u8..=255).zip(counts).map(|(v, n)| f64::from(v) * n).sum();
    let (mut below, mut sum, mut best) = (0.0, 0.0, (0.0, 127));
    for (value, count) in (0u8..=255).zip(counts) {
        below += count;
        sum += f64::from(value) * count;
        let above = all - below;
        if below > 0.0 && above > 0.0 {
            let between = below * above * (sum / below - (total - sum) / above).powi(2);
            if between > best.0 {
                best = (between, value);
            }
        }
    }
    best.1
}

/// The words of its table, put together to lines.
fn lines(table: &str, growth: u32, image: &Image) -> Vec<Line> {
    let mut lines: BTreeMap<[u32; 4], Vec<Word>> = BTreeMap::new();
    for row in table.lines().skip(1) {
        if let Some((line, word)) = Word::parse(row, growth, image) {
            lines.entry(line).or_default().push(word);
        }
    }
    lines.into_values().filter_map(joined).collect()
}

#[derive(Debug)]
struct Word {
    text: String,
    /// Left, top, right, bottom.
    edges: [u32; 4],
    confidence: f32,
}

impl Word {
    /// With the page, block, paragraph and line that it belongs to.
    fn parse(row: &str, growth: u32, image: &Image) -> Option<([u32; 4], Self)> {
        let cells: Vec<&str> = row.split('\t').collect();
        let number = |at: usize| cells.get(at)?.parse::<u32>().ok();
        let text = cells.get(11)?.trim();
        let confidence: f32 = cells.get(10)?.parse().ok()?;
        if number(0)? != 5 || text.is_empty() || !(0.0..=100.0).contains(&confidence) {
            return None;
        }
        let edge = |value: u32, most: u32| (value.saturating_sub(MARGIN) / growth).min(most);
        let (left, top) = (number(6)?, number(7)?);
        let edges = [
            edge(left, image.width()),
            edge(top, image.height()),
            edge(left.saturating_add(number(8)?), image.width()),
            edge(top.saturating_add(number(9)?), image.height()),
        ];
        let word = Self {
            text: text.to_owned(),
            edges,
            confidence: confidence / 100.0,
        };
        Some(([number(1)?, number(2)?, number(3)?, number(4)?], word))
    }
}

fn joined(words: Vec<Word>) -> Option<Line> {
    let [left, top, right, bottom] = words.iter().map(|word| word.edges).reduce(|a, b| {
        [
            a[0].min(b[0]),
            a[1].min(b[1]),
            a[2].max(b[2]),
            a[3].max(b[3]),
        ]
    })?;
    let mut text = String::new();
    let mut letters = Vec::new();
    for word in words {
        if !text.is_empty() {
            text.push(' ');
            letters.push(word.confidence);
        }
        letters.extend(std::iter::repeat_n(
            word.confidence,
            word.text.chars().count(),
        ));
        text.push_str(&word.text);
    }
    let sum: f64 = letters.iter().copied().map(f64::from).sum();
    Some(Line {
        confidence: sum / letters.len().max(1) as f64,
        region: Region {
            x: left,
            y: top,
            width: right - left,
            height: bottom - top,
        },
        text,
        letters,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn image(width: u32, height: u32) -> Image {
        let bgrx = vec![0; width as usize * height as usize * 4];
        Image::from_bgrx(width, height, &bgrx).unwrap()
    }

    /// A table in the format of `tesseract ... tsv`, made for these tests.
    const TABLE: &str = "\
level\tpage_num\tblock_num\tpar_num\tline_num\tword_num\tleft\ttop\twidth\theight\tconf\ttext
1\t1\t0\t0\t0\t0\t0\t0\t640\t220\t-1\t
4\t1\t1\t1\t1\t0\t50\t41\t411\t38\t-1\t
5\t1\t1\t1\t1\t1\t50\t41\t150\t38\t96.5\tGAME
5\t1\t1\t1\t1\t2\t230\t41\t231\t38\t90.5\tOVER
4\t1\t1\t1\t2\t0\t50\t110\t300\t38\t-1\t
5\t1\t1\t1\t2\t1\t50\t110\t300\t38\t80.0\t12:34
";

    #[test]
    fn words_are_put_together_to_lines() {
        let found = lines(TABLE, 3, &image(200, 60));
        let texts: Vec<&str> = found.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["GAME OVER", "12:34"]);
        let region = found[0].region;
        assert_eq!((region.x, region.y), (10, 7));
        assert_eq!((region.width, region.height), (137, 12));
        assert!((found[1].confidence - 0.8).abs() < 1e-6);
        assert_eq!(found[0].letters.len(), 9);
    }

    #[test]
    fn light_letters_become_black_ones_on_white() {
        let mut bgrx = vec![20; 10 * 10 * 4];
        bgrx[200..204].fill(230);
        let page = page(&Image::from_bgrx(10, 10, &bgrx).unwrap(), 3);
        assert!(page.starts_with(b"P5 70 70 255\n"));
        assert_eq!(page.len(), 13 + 70 * 70);
        assert_eq!(page.iter().filter(|byte| **byte == 0).count(), 9);
    }

    proptest! {
        #[test]
        fn any_table_is_survived(table in "([-0-9a-z.]{0,9}[\t\n]){0,80}", growth in 1u32..4) {
            let image = image(20, 20);
            for line in lines(&table, growth, &image) {
                prop_assert!(line.region.x + line.region.width <= 20);
            }
        }
    }
}
