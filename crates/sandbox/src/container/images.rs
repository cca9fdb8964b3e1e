//! The images of an engine: made from a root file system or a Dockerfile, found by a label. Knows
//! nothing of what is in them.

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use bollard::Docker;
use bollard::errors::Error;
use bollard::query_parameters::{BuildImageOptions, CreateImageOptions, ListImagesOptions};
use futures_util::{StreamExt, stream};
use tokio::io::{AsyncRead, AsyncReadExt};

use super::engine::{Address, Engine, failed, refused};
use crate::error::SandboxError;

/// For the engine's first word of answer, which may come after all of its work.
const LONGEST_CALL: Duration = Duration::from_secs(3600);
const CHUNK: usize = 256 << 10;

/// One engine's images. Nothing here has a deadline of its own: whoever makes an image knows how
/// long that may take, and drops the future.
#[derive(Debug, Clone)]
pub struct Images {
    pub(super) docker: Docker,
}

/// How a new image is called and what it says about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImageName {
    /// Such as `agon-desktop:12`.
    pub tag: String,
    pub labels: HashMap<String, String>,
}

/// An image that the engine has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundImage {
    pub tags: Vec<String>,
    pub id: String,
    pub bytes: u64,
    /// Seconds since 1970.
    pub made: i64,
    pub labels: HashMap<String, String>,
}

impl Images {
    /// Of the engine that sandboxes use: see [`super::ContainerProvider::connect`].
    pub async fn connect() -> Result<Self, SandboxError> {
        let engine = Engine::connect(Address::find()?).await?;
        Ok(Self {
            docker: engine.docker.with_timeout(LONGEST_CALL),
        })
    }

    /// The labels of an image, or `None` when there is no such image.
    pub async fn labels(&self, tag: &str) -> Result<Option<HashMap<String, String>>, SandboxError> {
        match self.docker.inspect_image(tag).await {
            Err(error) if matches!(refused(&error), Some((404, _))) => Ok(None),
            other => {
                let found = other.map_err(failed("could not look at an image"))?;
                let labels = found.config.and_then(|config| config.labels);
                Ok(Some(labels.unwrap_or_default()))
            }
        }
    }

    /// All images that have a label.
    pub async fn labelled(&self, label: &str) -> Result<Vec<FoundImage>, SandboxError> {
        let options = ListImagesOptions {
            filters: Some(HashMap::from([(
                "label".to_owned(),
                vec![label.to_owned()],
            )])),
            ..ListImagesOptions::default()
        };
        let images = self.docker.list_images(Some(options)).await;
        let images = images.map_err(failed("could not list images"))?;
        let found = images.into_iter().map(|image| FoundImage {
            tags: image.repo_tags,
            id: image.id,
            bytes: u64::try_from(image.size).unwrap_or_default(),
            made: image.created,
            labels: image.labels,
        });
        Ok(found.collect())
    }

    /// Makes an image of a root file system as a tar archive. If reading it fails, there is no
    /// image. `env` are variables of everything that runs in it.
    pub async fn import(
        &self,
        name: &ImageName,
        env: &[(&str, &str)],
        rootfs: impl AsyncRead + Send + Unpin + 'static,
    ) -> Result<(), SandboxError> {
        let (repo, tag) = name.parts();
        let labels = name
            .labels
            .iter()
            .map(|(key, value)| change("LABEL", key, value));
        let env = env.iter().map(|(key, value)| change("ENV", key, value));
        let options = CreateImageOptions {
            from_src: Some("-".to_owned()),
            repo: Some(repo.to_owned()),
            tag: Some(tag.to_owned()),
            changes: labels.chain(env).collect(),
            ..CreateImageOptions::default()
        };
        let body = bollard::body_try_stream(stream::unfold(Some(rootfs), |rootfs| async {
            let mut rootfs = rootfs?;
            let mut chunk = Vec::with_capacity(CHUNK);
            match rootfs.read_buf(&mut chunk).await {
                Ok(0) => None,
                Ok(_) => Some((Ok(chunk.into()), Some(rootfs))),
                Err(error) => Some((Err(error), None)),
            }
        }));
        let mut answers = Box::pin(self.docker.create_image(Some(options), Some(body), None));
        while let Some(answer) = answers.next().await {
            answer.map_err(|error| not_made(&name.tag, error))?;
        }
        Ok(())
    }

    /// Makes an image of files, names and texts, one of which is a Dockerfile. The engine needs a
    /// registry for the image that it starts from. Lines of progress go to `progress`.
    pub async fn build(
        &self,
        name: &ImageName,
        arguments: HashMap<String, String>,
        files: &[(&str, &str)],
        mut progress: impl FnMut(&str),
    ) -> Result<(), SandboxError> {
        let options = BuildImageOptions {
            dockerfile: "Dockerfile".to_owned(),
            t: Some(name.tag.clone()),
            rm: true,
            forcerm: true,
            buildargs: Some(arguments),
            labels: Some(name.labels.clone()),
            ..BuildImageOptions::default()
        };
        let packed = pack(files).map_err(SandboxError::io("could not pack a Dockerfile"))?;
        let body = bollard::body_full(packed.into());
        let mut answers = Box::pin(self.docker.build_image(options, None, Some(body)));
        while let Some(answer) = answers.next().await {
            let answer = answer.map_err(|error| not_made(&name.tag, error))?;
            for line in answer
                .stream
                .iter()
                .chain(&answer.status)
                .flat_map(|text| text.lines())
            {
                progress(line);
            }
        }
        Ok(())
    }
}

impl ImageName {
    /// What stands before and after the colon of the tag; a port is no tag.
    fn parts(&self) -> (&str, &str) {
        match self.tag.rsplit_once(':') {
            Some((repo, tag)) if !tag.contains('/') => (repo, tag),
            _ => (&self.tag, "latest"),
        }
    }
}

/// A line of a Dockerfile. What could end it is left out of the value.
fn change(instruction: &str, key: &str, value: &str) -> String {
    let value: String = value
        .chars()
        .filter(|c| !c.is_control() && !matches!(c, '"' | '\\' | '$'))
        .collect();
    format!("{instruction} {key}=\"{value}\"")
}

fn pack(files: &[(&str, &str)]) -> io::Result<Vec<u8>> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, text) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, text.as_bytes())?;
    }
    builder.into_inner()
}

pub(super) fn not_made(tag: &str, error: Error) -> SandboxError {
    let reason = match error {
        Error::DockerStreamError { error } => error,
        Error::DockerResponseServerError { message, .. } => message,
        error => return failed("could not make an image")(error),
    };
    SandboxError::Start(format!(
        "the image {tag} could not be made: {}",
        reason.trim()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(tag: &str) -> ImageName {
        ImageName {
            tag: tag.to_owned(),
            labels: HashMap::new(),
        }
    }

    #[test]
    fn a_name_has_a_tag_or_the_usual_one() {
        assert_eq!(named("agon-desktop:12").parts(), ("agon-desktop", "12"));
        assert_eq!(named("agon-desktop").parts(), ("agon-desktop", "latest"));
        let port = named("localhost:5000/agon");
        assert_eq!(port.parts(), ("localhost:5000/agon", "latest"));
    }

    #[test]
    fn a_value_stays_within_its_line() {
        assert_eq!(change("LABEL", "a.b", "c d"), r#"LABEL a.b="c d""#);
        assert_eq!(change("ENV", "A", "\"\nRUN $x\\"), r#"ENV A="RUN x""#);
    }
}
