//! What a run of predictions is about, as its manifest keeps it: going on with a run needs no more than its
//! name, and whatever is said beside that must be the same.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use agon_predict::Options;
use agon_predict::fixtures::Group;
use agon_store::Manifest;
use clap::ValueEnum;

use super::args::{PredictArgs, screen_size};
use crate::cli::failure::Failure;

/// The key of a manifest's selection by which such a run is known.
const KIND: &str = "predict";

pub(in crate::cli) fn is_prediction(manifest: &Manifest) -> bool {
    manifest.selection.contains_key(KIND)
}

/// The options that decide what is asked, as far as the user named them.
fn given(args: &PredictArgs) -> BTreeMap<String, String> {
    let groups: Vec<&str> = args.fixtures.iter().map(|group| group.name()).collect();
    let screen = args.max_screen_size;
    let data = args.data.as_deref().map(absolute);
    let kind = data.as_ref().map(|_| "data".to_owned());
    let all = [
        (KIND, kind),
        ("fixtures", (!groups.is_empty()).then(|| groups.join(","))),
        ("variants", args.variants.map(|count| count.to_string())),
        ("data", data),
        ("metric", args.metric.map(name_of)),
        ("boxes", args.boxes.map(name_of)),
        ("unit", args.unit.map(|unit| unit.name().to_owned())),
        ("images", args.images.as_deref().map(absolute)),
        (
            "max_input_size",
            args.max_input_size.map(|size| size.to_string()),
        ),
        (
            "max_tokens",
            args.max_tokens.map(|tokens| tokens.to_string()),
        ),
        (
            "max_screen_size",
            screen.map(|size| format!("{}x{}", size.width(), size.height())),
        ),
    ];
    all.into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
}

/// All of them, for the manifest.
pub(super) fn remembered(args: &PredictArgs) -> BTreeMap<String, String> {
    let mut kept = given(args);
    let usual = Options::default();
    let (width, height) = usual.max_screen_size;
    let mut or = |name: &str, value: String| {
        kept.entry(name.to_owned()).or_insert(value);
    };
    or(KIND, "fixtures".to_owned());
    or("max_tokens", usual.max_tokens.to_string());
    or("max_screen_size", format!("{width}x{height}"));
    if args.data.is_some() {
        or("metric", name_of(args.metric.unwrap_or_default()));
        or("boxes", name_of(args.boxes.unwrap_or_default()));
        or("unit", args.unit.unwrap_or_default().name().to_owned());
    }
    kept
}

/// The options of a run that is gone on with: what the user named must be what they were.
pub(super) fn recall(args: &mut PredictArgs, old: &Manifest) -> Result<(), Failure> {
    if !is_prediction(old) {
        return Err(Failure::new(
            "this is no run of predictions: go on with it by `agon run --resume RUN`",
        ));
    }
    let kept = &old.selection;
    let resumed = args.play.resume.is_some();
    // With --out everything is said again, also by leaving it out.
    let said = if resumed {
        given(args)
    } else {
        remembered(args)
    };
    let mut names: Vec<&String> = said.keys().collect();
    if !resumed {
        names.extend(kept.keys().filter(|name| !said.contains_key(*name)));
    }
    let differences: Vec<String> = names
        .into_iter()
        .filter(|name| said.get(*name) != kept.get(*name))
        .map(|name| {
            format!(
                "{name}: {} -> {}",
                shown(kept.get(name)),
                shown(said.get(name))
            )
        })
        .collect();
    if !differences.is_empty() {
        return Err(Failure::new(format_args!(
            "{} holds another run; choose another --out, or undo what differs:\n  {}",
            old.run,
            differences.join("\n  ")
        )));
    }
    if resumed { restore(args, old) } else { Ok(()) }
}

fn restore(args: &mut PredictArgs, old: &Manifest) -> Result<(), Failure> {
    let kept = &old.selection;
    if let Some(groups) = kept.get("fixtures") {
        let groups = groups.split(',').map(Group::from_str);
        args.fixtures = groups.collect::<Result<_, _>>().map_err(Failure::new)?;
    }
    args.variants = read(kept, "variants")?;
    args.data = kept.get("data").map(PathBuf::from);
    args.images = kept.get("images").map(PathBuf::from);
    args.metric = choice(kept, "metric")?;
    args.boxes = choice(kept, "boxes")?;
    args.unit = read(kept, "unit")?;
    args.max_input_size = read(kept, "max_input_size")?;
    args.max_tokens = read(kept, "max_tokens")?;
    let size = kept.get("max_screen_size").map(|size| screen_size(size));
    args.max_screen_size = size.transpose().map_err(Failure::new)?;
    let play = &mut args.play;
    play.seed = play.seed.or(Some(old.seed));
    play.epochs = play.epochs.or(Some(old.epochs));
    if play.models.model.is_none() {
        play.models.model = old.models.first().map(|model| model.name.clone());
    }
    Ok(())
}

fn shown(value: Option<&String>) -> &str {
    value.map_or("none", String::as_str)
}

fn read<T: FromStr>(kept: &BTreeMap<String, String>, name: &str) -> Result<Option<T>, Failure> {
    let parse = |text: &String| {
        text.parse()
            .map_err(|_| Failure::new(format_args!("the manifest's `{name}` can't be read")))
    };
    kept.get(name).map(parse).transpose()
}

fn choice<T: ValueEnum>(kept: &BTreeMap<String, String>, name: &str) -> Result<Option<T>, Failure> {
    let chosen = kept.get(name).map(|text| T::from_str(text, false));
    chosen.transpose().map_err(Failure::new)
}

fn name_of(value: impl ValueEnum) -> String {
    let value = value.to_possible_value();
    value.map_or_else(String::new, |value| value.get_name().to_owned())
}

fn absolute(path: &Path) -> String {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    real.display().to_string()
}
