//! Arguments and help text of `agon predict`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use agon_predict::Options;
use agon_predict::data::{BoxForm, DataOptions, Metric};
use agon_predict::fixtures::{Group, ScreenSize};
use agon_predict::score::PointUnit;
use clap::{Args, ValueEnum};

use crate::cli::args::PlayArgs;

#[derive(Debug, Clone, Args)]
#[command(after_help = "Examples:
  agon predict --model local/smollm2                    the three fixtures, on this machine
  agon predict -m eval_gpt4 --variants 100              a hundred variants of each, none known by heart
  agon predict -m openai/gpt-4o --fixtures single_mouse --epochs 5
  agon predict -m anthropic/claude-sonnet-4-5 --data screenspot.jsonl --metric hit --images images/
  agon predict -m mock/expected                         how a model that is always right would score
  agon report latest --format html --output report.html

A line of --data for --metric hit:
  {\"image\": \"a.png\", \"instruction\": \"close the window\", \"bbox\": [620, 4, 16, 16]}
and for --metric action:
  {\"reference_window\": {...}, \"actions\": [...], \"active_window\": {...}}

Exit status as that of `agon run`.")]
pub(in crate::cli) struct PredictArgs {
    /// Which fixtures: single_mouse, multi_click, multi_action_sequence [default: all three].
    #[arg(
        long,
        value_name = "A,B",
        value_delimiter = ',',
        conflicts_with = "data"
    )]
    pub(super) fixtures: Vec<Group>,
    /// Instead of the fixtures themselves, so many variants of each, made from the seed.
    #[arg(long, value_name = "N", conflicts_with = "data",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(super) variants: Option<u32>,
    /// A file of your own: one JSON object per line.
    #[arg(long, value_name = "FILE")]
    pub(super) data: Option<PathBuf>,
    /// How answers of --data are scored [default: action].
    #[arg(long, value_enum, requires = "data")]
    pub(super) metric: Option<MetricArg>,
    /// How the boxes of --metric hit are written [default: xywh].
    #[arg(long, value_enum, requires = "data")]
    pub(super) boxes: Option<BoxArg>,
    /// In which unit the model is to write points: pixels, relative, percent, thousandths [default: pixels].
    #[arg(long, value_name = "UNIT", requires = "data")]
    pub(super) unit: Option<PointUnit>,
    /// Where the pictures of --data are [default: beside the file].
    #[arg(long, value_name = "DIR", requires = "data")]
    pub(super) images: Option<PathBuf>,
    /// Cut prompts to their last so many characters [default: never].
    #[arg(long, value_name = "N")]
    pub(super) max_input_size: Option<NonZeroUsize>,
    /// Tokens that an answer may have [default: 4096].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(super) max_tokens: Option<u64>,
    /// The screen that the windows of variants stand on [default: 1920x1080].
    #[arg(long, value_name = "WxH", value_parser = screen_size)]
    pub(super) max_screen_size: Option<ScreenSize>,
    #[command(flatten)]
    pub(super) play: PlayArgs,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum MetricArg {
    /// Actions against the expected ones.
    #[default]
    Action,
    /// A point in a box, as in ScreenSpot.
    Hit,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum BoxArg {
    /// Left, top, width, height.
    #[default]
    Xywh,
    /// Left, top, right, bottom.
    Xyxy,
}

impl PredictArgs {
    /// Options that would change nothing: whoever gives them means something else.
    pub(super) fn without_effect(&self) -> Option<&'static str> {
        let hit = self.metric == Some(MetricArg::Hit);
        if self.data.is_some() && !hit && (self.unit.is_some() || self.boxes.is_some()) {
            return Some("--unit and --boxes are for points in boxes: add `--metric hit`");
        }
        let resumes = self.play.resume.is_some();
        if self.max_screen_size.is_some() && self.variants.is_none() && !resumes {
            return Some("--max-screen-size is for variants: add `--variants N`");
        }
        None
    }

    /// Each fixture once, in the order in which they were named.
    pub(super) fn drop_repeated(&mut self) {
        let mut kept = Vec::new();
        self.fixtures.retain(|group| {
            let new = !kept.contains(group);
            kept.push(*group);
            new
        });
    }

    /// What the library is told; what the user did not say is as it is there.
    pub(super) fn options(&self, model_name: String) -> Options {
        let usual = Options::default();
        Options {
            model_name,
            max_input_size: self.max_input_size.map(NonZeroUsize::get),
            max_tokens: self.max_tokens.unwrap_or(usual.max_tokens),
            max_screen_size: self.max_screen_size.map_or(usual.max_screen_size, pixels),
        }
    }

    pub(super) fn data_options(&self) -> DataOptions {
        DataOptions {
            metric: match self.metric.unwrap_or_default() {
                MetricArg::Action => Metric::Action,
                MetricArg::Hit => Metric::Hit,
            },
            boxes: match self.boxes.unwrap_or_default() {
                BoxArg::Xywh => BoxForm::LeftTopWidthHeight,
                BoxArg::Xyxy => BoxForm::LeftTopRightBottom,
            },
            unit: self.unit.unwrap_or_default(),
            images: self.images.clone(),
        }
    }
}

/// The screen as the library's options name it.
fn pixels(size: ScreenSize) -> (u32, u32) {
    let side = |length: i64| u32::try_from(length).unwrap_or(u32::MAX);
    (side(size.width()), side(size.height()))
}

pub(super) fn screen_size(text: &str) -> Result<ScreenSize, String> {
    let (width, height) = text
        .split_once('x')
        .and_then(|(width, height)| Some((width.parse().ok()?, height.parse().ok()?)))
        .ok_or("use WIDTHxHEIGHT, such as 1920x1080")?;
    ScreenSize::new(width, height).map_err(|error| error.to_string())
}
