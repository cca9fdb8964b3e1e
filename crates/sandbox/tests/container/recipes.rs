//! Images made from a folder with a Dockerfile.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use agon_sandbox::container::{Images, Made, Recipe};
use agon_sandbox::{Provider, SandboxError};

use crate::fixture::{IMAGE, provider, request, text};

/// Removes its image at the end.
struct Tag(String);

impl Tag {
    fn new() -> Self {
        Self(format!("agon-test-recipe:{:016x}", rand::random::<u64>()))
    }

    fn recipe(&self, folder: &Path) -> Recipe {
        Recipe {
            tag: self.0.clone(),
            folder: folder.to_owned(),
            within: Duration::from_secs(100),
        }
    }
}

impl Drop for Tag {
    fn drop(&mut self) {
        let host = std::env::var("DOCKER_HOST").unwrap_or_default();
        let removal = ["--host", &host, "image", "rm", "--force", &self.0];
        let _ = Command::new("docker").args(removal).output();
    }
}

fn folder(dockerfile: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("data/deep")).unwrap();
    fs::write(folder.path().join("data/deep/file"), "brought along\n").unwrap();
    fs::write(folder.path().join("Dockerfile"), dockerfile).unwrap();
    folder
}

#[tokio::test]
async fn a_folder_becomes_an_image_once() {
    let provider = provider().await;
    let images = Images::connect().await.unwrap();
    let tag = Tag::new();
    let folder = folder(&format!(
        "FROM {IMAGE}\nCOPY data /data\nRUN echo made > /made\nWORKDIR /app\n"
    ));
    let recipe = tag.recipe(folder.path());
    let mut said = String::new();
    let made = images.ensure(&recipe, |line| said.push_str(line)).await;
    assert_eq!(made.unwrap(), Made::Now);
    assert!(said.contains("COPY data /data"), "{said}");

    let mut request = request();
    request.environment.image = Some(tag.0.clone());
    let sandbox = provider.prepare(&request).await.unwrap();
    let found = text(&*sandbox, "cat /data/deep/file /made; ls -d /app").await;
    assert_eq!(found, "brought along\nmade\n/app\n");
    sandbox.destroy().await;

    // The folder is not even looked at.
    drop(folder);
    let again = images.ensure(&recipe, |_| {}).await;
    assert_eq!(again.unwrap(), Made::Before);
}

#[tokio::test]
async fn a_build_that_fails_says_what_it_said() {
    provider().await;
    let images = Images::connect().await.unwrap();
    let tag = Tag::new();
    let folder = folder(&format!("FROM {IMAGE}\nRUN echo so it is; exit 3\n"));
    let error = images.ensure(&tag.recipe(folder.path()), |_| {}).await;
    let error = error.unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, SandboxError::Start(_)), "{text}");
    assert!(text.contains("so it is") && text.contains(&tag.0), "{text}");
}

#[tokio::test]
async fn a_build_that_takes_too_long_is_given_up() {
    provider().await;
    let images = Images::connect().await.unwrap();
    let tag = Tag::new();
    let folder = folder(&format!("FROM {IMAGE}\nRUN sleep 100\n"));
    let recipe = Recipe {
        within: Duration::from_millis(500),
        ..tag.recipe(folder.path())
    };
    let error = images.ensure(&recipe, |_| {}).await.unwrap_err();
    assert!(matches!(error, SandboxError::Timeout { .. }), "{error}");
    assert_eq!(images.labels(&tag.0).await.unwrap(), None);
}
