//! Every dependency has a reason, written down in `docs/dependencies.md`, and no reason outlives
//! its dependency.

use toml::Table;

use super::{Finding, line_of};
use crate::failure::{Failure, Trying};

const DOCUMENT: &str = "docs/dependencies.md";

pub(super) fn check(manifest: &str, document: &str) -> Result<Vec<Finding>, Failure> {
    let manifest_table: Table = manifest.parse().trying("read Cargo.toml")?;
    let declared: Vec<&str> = manifest_table
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"))
        .and_then(toml::Value::as_table)
        .into_iter()
        .flatten()
        .filter(|(_, dependency)| dependency.get("path").is_none())
        .map(|(name, _)| name.as_str())
        .collect();
    let reasons: Vec<(usize, &str)> = reasons(document).collect();
    let unexplained = declared
        .iter()
        .filter(|name| reasons.iter().all(|(_, explained)| explained != *name))
        .map(|name| {
            Finding::new(
                "Cargo.toml",
                line_of(manifest, name),
                format!("`{name}` has no row in {DOCUMENT}"),
            )
        });
    let outlived = reasons
        .iter()
        .filter(|(_, explained)| declared.iter().all(|name| name != explained))
        .map(|(line, explained)| {
            Finding::new(
                DOCUMENT,
                *line,
                format!("`{explained}` is no dependency of the workspace any more"),
            )
        });
    Ok(unexplained.chain(outlived).collect())
}

/// The names in the first column of the document's tables, with their lines.
fn reasons(document: &str) -> impl Iterator<Item = (usize, &str)> {
    document.lines().enumerate().filter_map(|(index, line)| {
        let (name, _) = line.strip_prefix("| `")?.split_once('`')?;
        Some((index + 1, name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[workspace.dependencies]\nagon-core = { path = \"crates/core\" }\n\
                            serde = { version = \"1\" }\ntoml = \"1\"\n";

    fn findings(document: &str) -> Vec<String> {
        let findings = check(MANIFEST, document).unwrap();
        findings.iter().map(Finding::to_string).collect()
    }

    #[test]
    fn each_dependency_has_its_row() {
        let document = "| crate | why |\n|---|---|\n| `serde` | data |\n| `toml` | files |\n";
        assert!(findings(document).is_empty());
    }

    #[test]
    fn missing_and_outlived_rows_are_found() {
        assert_eq!(
            findings("| `serde` | toml too |\n| `yaml` | once |\n"),
            [
                "Cargo.toml:4: `toml` has no row in docs/dependencies.md",
                "docs/dependencies.md:2: `yaml` is no dependency of the workspace any more",
            ]
        );
    }
}
