//! What `agon --version` says. A run folder keeps the number alone.

use std::sync::LazyLock;

/// With the commit if `cargo xtask dist` named one. Ordinary builds know none: every commit would build
/// them anew.
pub(super) static VERSION: LazyLock<String> = LazyLock::new(|| version(option_env!("AGON_COMMIT")));

fn version(commit: Option<&str>) -> String {
    let number = env!("CARGO_PKG_VERSION");
    match commit {
        Some(commit) if !commit.is_empty() => format!("{number} ({commit})"),
        _ => number.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_names_its_commit_and_other_builds_only_the_number() {
        let number = env!("CARGO_PKG_VERSION");
        assert_eq!(version(Some("2787c29")), format!("{number} (2787c29)"));
        assert_eq!(version(None), number);
        assert_eq!(version(Some("")), number);
    }
}
