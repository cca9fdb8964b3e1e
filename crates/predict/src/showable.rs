//! Whether a model can be shown the pictures of its items: looked at before anything is asked.

use agon_llm::picture::Limits;
use agon_llm::{MediaType, ModelSpec};

use crate::item::{ImageFile, Item};

/// So many are told; the others would be more of the same.
const MOST_TOLD: usize = 20;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotShowable {
    #[error(
        "`{task}` has a picture, and the model {model} can't be shown any: choose one that sees, such as \
         openai/gpt-4o, anthropic/claude-sonnet-4-5 or gemini/gemini-2.5-flash (a section of \
         config.toml must not say `disable_vision`)"
    )]
    Blind { task: String, model: String },
    #[error(
        "these pictures are larger than {model} takes, and only PNG can be scaled down: convert them to \
         PNG\n{}",
        pictures.join("\n")
    )]
    TooLarge {
        model: String,
        pictures: Vec<String>,
    },
}

/// Models see the pictures of these items, or it is said which can't be shown.
pub fn showable(items: &[Item], spec: &ModelSpec) -> Result<(), NotShowable> {
    let mut shown = items
        .iter()
        .filter_map(|item| Some((item, item.image.as_ref()?)))
        .peekable();
    let model = spec.name.clone();
    if let (Some((item, _)), false) = (shown.peek(), spec.sees()) {
        let task = item.id.to_string();
        return Err(NotShowable::Blind { task, model });
    }
    let limits = Limits::of(spec.provider, spec.wire, &spec.model);
    let pictures: Vec<String> = shown
        .filter(|(_, image)| !fits(image, limits))
        .map(|(item, image)| {
            format!(
                "  {}: {}, {} x {} pixels, {} bytes",
                item.id,
                image.path.display(),
                image.width,
                image.height,
                image.bytes
            )
        })
        .take(MOST_TOLD)
        .collect();
    if pictures.is_empty() {
        Ok(())
    } else {
        Err(NotShowable::TooLarge { model, pictures })
    }
}

fn fits(image: &ImageFile, limits: Limits) -> bool {
    image.media == MediaType::Png
        || (limits.holds(image.width, image.height) && image.bytes <= limits.bytes)
}
