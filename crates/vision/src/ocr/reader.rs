//! The one who reads: loaded once, shared by all, with the models or, where they are missing, with
//! `tesseract`.

use std::sync::{Arc, Mutex, PoisonError};

use super::boxes::MOST_BOXES;
use super::detection::{Detection, everything};
use super::error::OcrError;
use super::line::{Line, in_reading_order};
use super::recognition::Recognition;
use super::tesseract::Tesseract;
use crate::image::Image;
use crate::models::{self, ModelError, Models};

/// Pixels of the largest picture that is read: four screens of 4096x2160.
const MOST_PIXELS: u64 = 4 * 4096 * 2160;
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

    /// The lines of a picture, top to bottom, left to right. Takes its time: not for threads that
    /// must answer.
    pub fn read(&self, image: &Image) -> Result<Vec<Line>, OcrError> {
        let (width, height) = (image.width(), image.height());
        if width == 0 || height == 0 {
            return Ok(Vec::new());
        }
        if u64::from(width) * u64::from(height) > MOST_PIXELS {
            return Err(OcrError::TooLarge { width, height });
        }
        let mut lines = match &self.way {
            Way::Models {
                detection,
                recognition,
            } => by_models(image, detection, recognition)?,
            Way::Tesseract(tesseract) => tesseract.read(image)?,
        };
        lines.retain(|line| !line.text.is_empty() && line.confidence >= LEAST);
        Ok(in_reading_order(lines, |line| line.region))
    }
}

fn by_models(
    image: &Image,
    detection: &Detection,
    recognition: &Recognition,
) -> Result<Vec<Line>, OcrError> {
    let mut regions = detection.find(image)?;
    if regions.is_empty() && image.height() <= ONE_LINE {
        regions.push(everything(image));
    }
    regions.truncate(MOST_BOXES);
    let decoded = recognition.read(image, &regions)?;
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
