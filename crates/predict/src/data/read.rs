//! A whole data file becomes items.

use std::collections::HashSet;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agon_core::answer::AnswerCheck;
use agon_core::prediction::{TargetBox, Window};
use agon_core::{Digest, TaskId};
use agon_llm::AnswerKey;

use super::line::{ActionLine, BoxForm, PointLine};
use super::pictures;
use crate::fixtures;
use crate::item::{ImageFile, Item, Question};
use crate::model::ActionModel;
use crate::score::{ActionQuestion, HitAnswer, PointUnit};

/// One line.
const MOST_LINE: u64 = 1 << 20;
const MOST_LINES: usize = 1_000_000;
/// Some editors begin a file with it.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();
/// So many bad lines are told; the others would be more of the same.
const MOST_TOLD: usize = 20;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Metric {
    /// Actions against the expected ones.
    #[default]
    Action,
    /// A point in a box.
    Hit,
}

impl Metric {
    pub const NAMES: [&str; 2] = ["action", "hit"];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Hit => "hit",
        }
    }
}

#[derive(Debug, Clone, Default)]
pub struct DataOptions {
    pub metric: Metric,
    pub boxes: BoxForm,
    pub unit: PointUnit,
    /// Where pictures are; without it, beside the file.
    pub images: Option<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum DataError {
    #[error("{}: {source}", path.display())]
    Io {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error("{} has lines that can't be used:\n{}", path.display(), lines.join("\n"))]
    Lines { path: PathBuf, lines: Vec<String> },
    #[error("{} is no file: give one with a JSON object per line", path.display())]
    NoFile { path: PathBuf },
    #[error("{} has more than {MOST_LINES} lines: split it", path.display())]
    TooManyLines { path: PathBuf },
    #[error("{} has no line", path.display())]
    Empty { path: PathBuf },
}

/// The items, and the digest of the file.
pub fn read(
    path: &Path,
    options: &DataOptions,
    model: &Arc<dyn ActionModel>,
) -> Result<(Vec<Item>, Digest), DataError> {
    let io = |source| DataError::Io {
        path: path.to_owned(),
        source,
    };
    // A pipe would be waited for.
    if !path.metadata().map_err(io)?.is_file() {
        return Err(DataError::NoFile {
            path: path.to_owned(),
        });
    }
    let mut reader = BufReader::new(File::open(path).map_err(io)?);
    let beside = || path.parent().unwrap_or(Path::new(".")).to_owned();
    let images = options.images.clone().unwrap_or_else(beside);
    let mut file = DataFile {
        model,
        options,
        images: if images.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            images
        },
        group: stem(path),
        names: HashSet::new(),
    };
    let mut hasher = agon_core::digest::Hasher::default();
    let (mut items, mut wrong) = (Vec::new(), Vec::new());
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = (&mut reader).take(MOST_LINE).read_until(b'\n', &mut line);
        if read.map_err(io)? == 0 {
            break;
        }
        if number > MOST_LINES {
            let path = path.to_owned();
            return Err(DataError::TooManyLines { path });
        }
        hasher.update(&line);
        if number == 1 && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        let whole = line.ends_with(b"\n") || (line.len() as u64) < MOST_LINE;
        let item = match whole {
            true if line.trim_ascii().is_empty() => continue,
            true => file.item(number, &line),
            false => Err("longer than 1 MiB".to_owned()),
        };
        match item {
            Ok(item) => items.push(item),
            Err(why) => wrong.push(format!("  line {number}: {why}")),
        }
        if wrong.len() >= MOST_TOLD || !whole {
            break;
        }
    }
    let path = path.to_owned();
    if !wrong.is_empty() {
        return Err(DataError::Lines { path, lines: wrong });
    }
    if items.is_empty() {
        return Err(DataError::Empty { path });
    }
    Ok((items, hasher.finish()))
}

/// The file's name as a group, made of what ids may hold.
fn stem(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    usable(&stem).unwrap_or_else(|| "data".to_owned())
}

fn usable(text: &str) -> Option<String> {
    let fits = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    let name: String = text
        .chars()
        .map(|c| if fits(c) { c } else { '-' })
        .take(80)
        .collect();
    let name = name.trim_matches(['.', '-']).to_owned();
    (!name.is_empty()).then_some(name)
}

struct DataFile<'a> {
    model: &'a Arc<dyn ActionModel>,
    options: &'a DataOptions,
    images: PathBuf,
    group: String,
    names: HashSet<TaskId>,
}

impl DataFile<'_> {
    fn item(&mut self, number: usize, line: &[u8]) -> Result<Item, String> {
        match self.options.metric {
            Metric::Hit => self.point(number, parsed(line)?),
            Metric::Action => self.actions(number, parsed(line)?),
        }
    }

    fn point(&mut self, number: usize, line: PointLine) -> Result<Item, String> {
        let group = line.group.or(line.data_source).or(line.platform);
        let id = self.id(number, line.id.map(|id| id.text()), group.as_deref())?;
        let image = pictures::open(&self.images, &line.image)?;
        let target = self.options.boxes.target(line.bbox).ok_or_else(|| {
            format!(
                "{:?} is no box with a width and a height above 0",
                line.bbox
            )
        })?;
        if leaves(target, &image) {
            return Err(format!(
                "the box {:?} leaves the picture of {} x {} pixels: is --boxes {} meant?",
                line.bbox,
                image.width,
                image.height,
                self.options.boxes.other()
            ));
        }
        let right = centre(target);
        let point = |(x, y): (f64, f64)| serde_json::json!({ "x": x, "y": y }).to_string();
        Ok(Item {
            check: AnswerCheck::new(HitAnswer {
                group: id.category().to_owned(),
                target,
                window: whole(&image),
                image: Some(image.digest),
                unit: self.options.unit,
                question: Some(line.instruction.clone()),
            }),
            key: AnswerKey {
                right: point(of_pixels(self.options.unit, right, &image)),
                wrong: point((-1.0, -1.0)),
            },
            question: Question::Point {
                instruction: line.instruction,
                unit: self.options.unit,
            },
            image: Some(image),
            id,
        })
    }

    fn actions(&mut self, number: usize, line: ActionLine) -> Result<Item, String> {
        let id = self.id(number, line.id.map(|id| id.text()), line.group.as_deref())?;
        let image = line.image.map(|name| pictures::open(&self.images, &name));
        let image = image.transpose()?;
        let actions = line.actions.list("actions")?;
        if actions.is_empty() {
            return Err("`actions` is empty".to_owned());
        }
        let expected = line.expected.map(|expected| expected.list("expected"));
        let expected = expected.transpose()?.unwrap_or_else(|| {
            fixtures::expected(&line.reference_window, &actions, &line.active_window)
        });
        let question = ActionQuestion {
            group: id.category().to_owned(),
            reference_window: Some(line.reference_window),
            reference: actions,
            window: line.active_window,
            expected,
            image: image.as_ref().map(|image| image.digest),
        };
        Item::of_windows(id, question, image, self.model).map_err(|error| error.to_string())
    }

    fn id(
        &mut self,
        number: usize,
        id: Option<String>,
        group: Option<&str>,
    ) -> Result<TaskId, String> {
        let group = group.and_then(usable).unwrap_or_else(|| self.group.clone());
        let name = id.as_deref().and_then(usable);
        let name = name.unwrap_or_else(|| format!("{number:06}"));
        let id = TaskId::new(group, name).map_err(|error| error.to_string())?;
        if self.names.insert(id.clone()) {
            Ok(id)
        } else {
            Err(format!("there is a line with the id `{id}` already"))
        }
    }
}

fn parsed<'de, T: serde::Deserialize<'de>>(line: &'de [u8]) -> Result<T, String> {
    if line.trim_ascii_start().starts_with(b"[") {
        return Err(
            "this is an array, and one object per line is needed: make them with \
                    `jq -c '.[]' FILE > FILE.jsonl`"
                .to_owned(),
        );
    }
    serde_json::from_slice(line).map_err(|error| {
        let said = error.to_string();
        // It is always the first line of what it was given.
        let why = said.split(" at line 1 column ").next();
        why.unwrap_or_default().to_owned()
    })
}

/// By more than a pixel, which is a matter of rounding.
fn leaves(target: TargetBox, image: &ImageFile) -> bool {
    let (right, bottom) = (target.left + target.width, target.top + target.height);
    target.left < -1.0
        || target.top < -1.0
        || right > f64::from(image.width) + 1.0
        || bottom > f64::from(image.height) + 1.0
}

fn centre(target: TargetBox) -> (f64, f64) {
    (
        target.left + target.width / 2.0,
        target.top + target.height / 2.0,
    )
}

/// The point in the unit that answers are to be given in.
fn of_pixels(unit: PointUnit, (x, y): (f64, f64), image: &ImageFile) -> (f64, f64) {
    let whole = match unit {
        PointUnit::Pixels => return (x, y),
        PointUnit::Relative => 1.0,
        PointUnit::Percent => 100.0,
        PointUnit::Thousandths => 1000.0,
    };
    (
        x / f64::from(image.width) * whole,
        y / f64::from(image.height) * whole,
    )
}

/// The picture as the window that is clicked on.
fn whole(image: &ImageFile) -> Window {
    Window {
        width: i64::from(image.width),
        height: i64::from(image.height),
        ..Window::default()
    }
}
