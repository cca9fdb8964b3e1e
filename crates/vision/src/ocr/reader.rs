//! The one who reads: loaded once, shared by all, with the models or, where they are missing, with
//! `tesseract`.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::detection::{Detection, everything};
use super::error::OcrError;
use super::line::{Line, in_reading_order};
use super::recognition::Recognition;
use super::tesseract::Tesseract;
use crate::image::{Image, MOST_SIDE};
use crate::models::{self, ModelError, Models};

/// Pixels of the largest picture that is read: four screens of 4096x2160.
const MOST_PIXELS: u64 = 4 * 4096 * 2160;
/// How long reading may take where nobody says it: a desktop full of text takes some seconds.
const READING: Duration = Duration::from_secs(30);
/// What is less sure than this was no text.
const LEAST: f64 = 0.5;
/// A picture that is not higher may be one line, even if none was found in it.
const ONE_LINE: u32 = 64;

#[derive(Debug)]
pub struct Reader {
    way: Way,
}

#[derive(Debug)]
enum Way {
    Models {
        detection: Box<Detection>,
        recognition: Box<Recognition>,
    },
    Tesseract(Tesseract),
}

/// What reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Engine {
    Models(Models),
    /// The program's version.
    Tesseract(String),
}

impl Engine {
    /// What would be used here, without loading it.
    pub fn find() -> Result<Self, OcrError> {
        match models::find() {
            Ok(models) => Ok(Self::Models(models)),
            Err(missing) => match Tesseract::find() {
                Some(tesseract) => Ok(Self::Tesseract(tesseract.version().to_owned())),
                None => Err(OcrError::NoEngine(missing)),
            },
        }
    }
}

impl Reader {
    /// The reader of this process. Loading takes a moment, the first time; if it fails, the next call
    /// tries again.
    pub fn shared() -> Result<Arc<Self>, OcrError> {
        static SHARED: Mutex<Option<Arc<Reader>>> = Mutex::new(None);
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reader) = &*shared {
            return Ok(Arc::clone(reader));
        }
        let reader = Arc::new(Self::load()?);
        *shared = Some(Arc::clone(&reader));
        Ok(reader)
    }

    fn load() -> Result<Self, OcrError> {
        match models::find() {
            Ok(models) => Self::with_models(&models),
            Err(missing @ (ModelError::Missing { .. } | ModelError::NoCache)) => {
                let tesseract = Tesseract::find().ok_or(OcrError::NoEngine(missing))?;
                Ok(Self {
                    way: Way::Tesseract(tesseract),
                })
            }
            Err(other) => Err(other.into()),
        }
    }

    fn with_models(models: &Models) -> Result<Self, OcrError> {
        let [detection, recognition] = models.load()?;
        Ok(Self {
            way: Way::Models {
                detection: Box::new(Detection::load(detection)?),
                recognition: Box::new(Recognition::load(recognition)?),
            },
        })
    }

    /// Whether a picture of this size is read, and not too large.
    pub fn takes(width: u32, height: u32) -> bool {
        let pixels = u64::from(width) * u64::from(height);
        pixels <= MOST_PIXELS && width.max(height) <= MOST_SIDE
    }

    /// Another way to read than this one, where there is one: `tesseract` beside the models. What both
    /// read alike is worth more than what one of them reads twice.
    pub fn second_opinion(&self) -> Option<Self> {
        match self.way {
            Way::Models { .. } => Tesseract::find().map(|tesseract| Self {
                way: Way::Tesseract(tesseract),
            }),
            Way::Tesseract(_) => None,
        }
    }

    /// The lines of a picture, top to bottom, left to right. Takes its time: not for threads that
    /// must answer.
    pub fn read(&self, image: &Image) -> Result<Vec<Line>, OcrError> {
        self.read_by(image, Instant::now() + READING)
    }

    /// As [`Reader::read`]. Who writes much on a screen must not decide how long it takes: when the
    /// time is over there are no lines, because nobody knows what the missing ones say.
    pub fn read_by(&self, image: &Image, deadline: Instant) -> Result<Vec<Line>, OcrError> {
        let (width, height) = (image.width(), image.height());
        if width == 0 || height == 0 {
            return Ok(Vec::new());
        }
        if !Self::takes(width, height) {
            return Err(OcrError::TooLarge { width, height });
        }
        let mut lines = match &self.way {
            Way::Models {
                detection,
                recognition,
            } => by_models(image, detection, recognition, deadline)?,
            Way::Tesseract(tesseract) => tesseract.read(image, deadline)?,
        };
        lines.retain(|line| !line.text.is_empty() && line.confidence >= LEAST);
        Ok(in_reading_order(lines, |line| line.region))
    }
}

fn by_models(
    image: &Image,
    detection: &Detection,
    recognition: &Recognition,
    deadline: Instant,
) -> Result<Vec<Line>, OcrError> {
    let mut regions = detection.find(image)?;
    if regions.is_empty() && image.height() <= ONE_LINE {
        regions.push(everything(image));
    }
    let decoded = recognition.read(image, &regions, deadline)?;
    Ok(regions
        .into_iter()
        .zip(decoded)
        .map(|(region, decoded)| Line {
            confidence: decoded.confidence(),
            region,
            text: decoded.text,
            letters: decoded.letters,
        })
        .collect())
}
