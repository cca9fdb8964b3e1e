//! What a line of text says: the recognition model, fed with lines of one height, several at a time.

use std::time::Instant;

use agon_core::Region;
use rten::{Model, Value};

use super::decode::{Alphabet, Decoded};
use super::error::OcrError;
use crate::image::Image;
use crate::scale::{Placed, Planes};

/// The model reads lines of this height.
const HEIGHT: usize = 48;
const NARROWEST: usize = 48;
/// Longer lines are squeezed.
const WIDEST: usize = 3200;
/// Lines read at once; more points than these cost memory and gain nothing.
const MOST_AT_ONCE: usize = 8;
const MOST_POINTS: usize = 4096;
/// Lines read at once are filled up to the widest of them, which must not cost more than it gains.
const FILLED: f32 = 1.25;

pub(super) struct Recognition {
    model: Model,
    alphabet: Alphabet,
}

impl std::fmt::Debug for Recognition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Recognition")
    }
}

impl Recognition {
    pub(super) fn load(bytes: Vec<u8>) -> Result<Self, OcrError> {
        let model = Model::load(bytes).map_err(|error| OcrError::Load(error.to_string()))?;
        let characters = model
            .metadata()
            .get("character")
            .ok_or_else(|| OcrError::Load("it names no characters".to_owned()))?;
        let alphabet = Alphabet::parse(characters);
        Ok(Self { model, alphabet })
    }

    /// What each of the regions says, in their order; all of them before the deadline, or none.
    pub(super) fn read(
        &self,
        image: &Image,
        lines: &[Region],
        deadline: Instant,
    ) -> Result<Vec<Decoded>, OcrError> {
        let mut order: Vec<(usize, usize)> = lines.iter().map(width).zip(0..).collect();
        order.sort_unstable();
        let mut decoded: Vec<Decoded> = lines.iter().map(|_| Decoded::default()).collect();
        let mut rest = order.as_slice();
        while let Some(&(narrowest, _)) = rest.first() {
            if Instant::now() >= deadline {
                return Err(OcrError::TooMuch);
            }
            let fits = |(at, (width, _)): (usize, &(usize, usize))| {
                *width as f32 <= narrowest as f32 * FILLED && (at + 1) * width <= MOST_POINTS
            };
            let count = rest
                .iter()
                .take(MOST_AT_ONCE)
                .enumerate()
                .take_while(|&item| fits(item))
                .count()
                .max(1);
            let (batch, later) = rest.split_at(count);
            for (&(_, which), text) in batch.iter().zip(self.run(image, lines, batch)?) {
                decoded[which] = text;
            }
            rest = later;
        }
        Ok(decoded)
    }

    fn run(
        &self,
        image: &Image,
        lines: &[Region],
        batch: &[(usize, usize)],
    ) -> Result<Vec<Decoded>, OcrError> {
        let failed = |error: &dyn std::fmt::Display| OcrError::Run(error.to_string());
        let widest = batch.last().map_or(NARROWEST, |(width, _)| *width);
        let mut values = Vec::with_capacity(batch.len() * 3 * HEIGHT * widest);
        for &(width, which) in batch {
            let mut planes = Planes::filled(widest, HEIGHT, [0.5; 3]);
            let place = Placed {
                left: 0,
                top: 0,
                width,
                height: HEIGHT,
            };
            planes.draw(image, lines[which], place);
            // It takes blue first, from -1 to 1.
            let size = widest * HEIGHT;
            for plane in planes.values.chunks_exact(size).rev() {
                values.extend(plane.iter().map(|value| value * 2.0 - 1.0));
            }
        }
        let shape = [batch.len(), 3, HEIGHT, widest];
        let input = Value::from_shape(shape, values).map_err(|error| failed(&error))?;
        let output = self
            .model
            .run_one(input.into(), None)
            .map_err(|error| failed(&error))?;
        let ([texts, steps, characters], values): ([usize; 3], Vec<f32>) =
            output.into_shape_vec().map_err(|error| failed(&error))?;
        if texts != batch.len() || characters != self.alphabet.len() || steps == 0 {
            return Err(OcrError::Run(format!(
                "{texts} texts of {steps} steps with {characters} characters"
            )));
        }
        Ok(values
            .chunks_exact(steps * characters)
            .map(|steps| self.alphabet.decode(steps))
            .collect())
    }
}

/// As wide as it is when it is as high as the model wants it.
fn width(line: &Region) -> usize {
    let width = u64::from(line.width) * HEIGHT as u64 / u64::from(line.height.max(1));
    (width as usize)
        .next_multiple_of(8)
        .clamp(NARROWEST, WIDEST)
}
