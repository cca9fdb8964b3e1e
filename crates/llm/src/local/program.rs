//! Where the helper program `agon-local` is.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use agon_core::ModelFault;

use crate::error::LlmError;

const NAME: &str = "agon-local";
/// Says where it is, when it is somewhere else.
const VARIABLE: &str = "AGON_LOCAL";

/// Named by `AGON_LOCAL`, beside our own program, or on the search path.
pub(super) fn find() -> Result<PathBuf, LlmError> {
    let own = std::env::current_exe().ok();
    let named = std::env::var_os(VARIABLE).filter(|named| !named.is_empty());
    let path = std::env::var_os("PATH").unwrap_or_default();
    find_in(named.as_deref(), own.as_deref(), &path)
}

fn find_in(named: Option<&OsStr>, own: Option<&Path>, path: &OsStr) -> Result<PathBuf, LlmError> {
    if let Some(named) = named {
        let named = PathBuf::from(named);
        return if runs(&named) {
            Ok(named)
        } else {
            Err(missing(&format!(
                "{VARIABLE} says {}, which is no program",
                named.display()
            )))
        };
    }
    // Tests are one folder further down than the programs.
    let beside = own
        .into_iter()
        .flat_map(|own| own.ancestors().skip(1).take(2));
    let places = beside
        .map(Path::to_owned)
        .chain(std::env::split_paths(path).filter(|folder| folder.is_absolute()));
    places
        .map(|folder| folder.join(NAME))
        .find(|program| runs(program))
        .ok_or_else(|| missing("it is neither beside `agon` nor on the search path"))
}

fn runs(program: &Path) -> bool {
    std::fs::metadata(program)
        .is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

fn missing(why: &str) -> LlmError {
    LlmError::new(
        ModelFault::Setup,
        format_args!(
            "local models are served by the program `{NAME}`, and {why}. Build it with `cargo build \
             --release -p {NAME}` (a few minutes; needs cmake and clang: `apt-get install cmake clang \
             libclang-dev`) and put it beside `agon`, or set {VARIABLE} to its path"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program(folder: &Path) -> PathBuf {
        std::fs::create_dir_all(folder).unwrap();
        let program = folder.join(NAME);
        std::fs::write(&program, "").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o700)).unwrap();
        program
    }

    #[test]
    fn the_variable_wins_then_our_own_folder_then_the_search_path() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("bin/agon");
        let searched = program(&folder.path().join("searched"));
        let path = folder.path().join("searched").into_os_string();
        assert_eq!(find_in(None, Some(&own), &path).unwrap(), searched);
        let beside = program(&folder.path().join("bin"));
        assert_eq!(find_in(None, Some(&own), &path).unwrap(), beside);
        let test = folder.path().join("bin/deps/test-0123");
        assert_eq!(find_in(None, Some(&test), &path).unwrap(), beside);
        let named = program(&folder.path().join("named"));
        let found = find_in(Some(named.as_os_str()), Some(&own), &path);
        assert_eq!(found.unwrap(), named);
    }

    #[test]
    fn its_absence_says_how_to_build_it() {
        let folder = tempfile::tempdir().unwrap();
        let nowhere = folder.path().join("bin/agon");
        std::fs::create_dir_all(folder.path().join("bin").join(NAME)).unwrap();
        let wrong = folder.path().join("none");
        for named in [None, Some(wrong.as_os_str())] {
            let error = find_in(named, Some(&nowhere), OsStr::new("relative")).unwrap_err();
            assert_eq!(error.fault, ModelFault::Setup);
            let message = error.message();
            assert!(
                message.contains("cargo build --release -p agon-local"),
                "{message}"
            );
            assert!(message.contains("cmake"), "{message}");
        }
    }
}
