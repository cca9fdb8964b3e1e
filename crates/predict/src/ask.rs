//! One question to one model: prompt, picture, completion. The same for a run and for a single evaluation.

use std::sync::Arc;

use agon_core::Digest;
use agon_llm::picture::{Limits, Mapping, fit};
use agon_llm::{Image, Model};

use crate::asker::Asker;
use crate::data::pictures;
use crate::item::{ImageFile, Item, Question};
use crate::model::{ActionModel, PredictError};
use crate::parse::point_of;
use crate::score::PointUnit;

/// What came of it, and what has to be told about it either way.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) answer: Result<String, PredictError>,
    pub(crate) warnings: Vec<String>,
}

pub(crate) async fn ask(model: &dyn ActionModel, llm: Option<&Model>, item: &Item) -> Asked {
    let mut asker = Asker::new(llm, model.options(), &item.question);
    asker.key = Some(item.key.clone());
    let answer = answer(model, llm, item, &mut asker).await;
    Asked {
        answer,
        warnings: asker.warnings(),
    }
}

async fn answer(
    model: &dyn ActionModel,
    llm: Option<&Model>,
    item: &Item,
    asker: &mut Asker<'_>,
) -> Result<String, PredictError> {
    let mut mapping = None;
    if let Some(file) = &item.image {
        let (image, sent) = load(file, llm)?;
        asker.image = Some(image);
        mapping = Some(sent);
    }
    match &item.question {
        Question::Windows {
            reference,
            actions,
            active,
        } => {
            let prompt = model.build_prompt(reference, actions, active);
            model.get_completion(&prompt, asker).await
        }
        Question::Point { instruction, unit } => {
            let (width, height) = mapping.map_or((0, 0), |mapping| mapping.sent());
            let prompt = model.build_picture_prompt(instruction, width, height, *unit);
            let completion = model.get_completion(&prompt, asker).await?;
            Ok(match mapping {
                Some(mapping) if *unit == PointUnit::Pixels => on_original(completion, mapping),
                _ => completion,
            })
        }
    }
}

/// The picture as it is sent, and the way back to the file's own pixels. It was looked at when the run
/// began: what is no longer the same is not shown to anybody.
fn load(file: &ImageFile, llm: Option<&Model>) -> Result<(Image, Mapping), PredictError> {
    let path = file.path.display();
    let bytes = pictures::bytes(&file.path).map_err(PredictError::Setup)?;
    if Digest::of(&bytes) != file.digest {
        let why = format!("{path} has changed since the run began");
        return Err(PredictError::Setup(why));
    }
    let image = Image {
        media: file.media,
        bytes: Arc::from(bytes),
    };
    let Some(spec) = llm.map(Model::spec) else {
        let size = (file.width, file.height);
        return Ok((image, Mapping::between(size, size)));
    };
    let limits = Limits::of(spec.provider, spec.wire, &spec.model);
    let fitted =
        fit(&image, limits).map_err(|error| PredictError::Setup(format!("{path}: {error}")))?;
    Ok((fitted.image, fitted.mapping))
}

/// A point on the picture that was sent, as one on the picture of the file. The answer itself stays in the
/// record of the call; one without a point stays what it is.
fn on_original(completion: String, mapping: Mapping) -> String {
    if mapping.is_same() {
        return completion;
    }
    match point_of(&completion) {
        Ok(point) => {
            // Not to the nearest one: a point outside must not become a hit at the edge.
            let (x, y) = (point.x * mapping.scale_x, point.y * mapping.scale_y);
            serde_json::json!({ "x": x, "y": y }).to_string()
        }
        Err(_) => completion,
    }
}
