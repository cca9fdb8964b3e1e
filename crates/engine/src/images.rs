//! Makes the images that suites bring the recipes of, before a run. One that can't be made is told and
//! costs only the trials that need it.

use agon_sandbox::SandboxError;
use agon_sandbox::container::{Images, Made, Recipe};
use agon_suite::ImageBuild;

/// Makes those that the container engine does not have. What happens is told in lines for a reader.
pub async fn make_images(builds: &[ImageBuild], mut tell: impl FnMut(&str)) {
    if builds.is_empty() {
        return;
    }
    let images = match Images::connect().await {
        Ok(images) => images,
        Err(error) => return tell(&format!("no image can be made: {error}")),
    };
    for build in builds {
        match make(&images, build, &mut tell).await {
            Ok(Made::Before) => {}
            Ok(Made::Now) => tell(&format!("made the image {}", build.tag)),
            Err(error) => tell(&format!("the image {} is missing: {error}", build.tag)),
        }
    }
}

async fn make(
    images: &Images,
    build: &ImageBuild,
    tell: &mut impl FnMut(&str),
) -> Result<Made, SandboxError> {
    let recipe = Recipe {
        tag: build.tag.clone(),
        folder: build.folder.clone(),
        within: build.limit.duration(),
    };
    let mut first = true;
    let said = |_: &str| {
        // Before its first line nobody knows whether there is anything to do.
        if std::mem::take(&mut first) {
            tell(&format!("making the image {}", build.tag));
        }
    };
    images.ensure(&recipe, said).await
}
