//! The members of the workspace as their manifests describe them, and what every manifest must
//! say: lints are those of the workspace, and so are the versions of dependencies.

use std::path::{Path, PathBuf};

use serde_json::Value;
use toml::Table;

use super::{Finding, line_of, read};
use crate::failure::{Failure, Trying};

/// One crate of the workspace.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) name: String,
    /// Relative to the root.
    pub(super) manifest: PathBuf,
    pub(super) text: String,
    /// The crates of the workspace that it uses, dev-dependencies left out.
    pub(super) uses: Vec<String>,
    table: Table,
}

impl Member {
    pub(super) fn parse(
        name: impl Into<String>,
        manifest: impl Into<PathBuf>,
        text: impl Into<String>,
        uses: Vec<String>,
    ) -> Result<Self, Failure> {
        let (manifest, text) = (manifest.into(), text.into());
        let table = text
            .parse()
            .trying(format!("read {}", manifest.display()))?;
        Ok(Self {
            name: name.into(),
            manifest,
            text,
            uses,
            table,
        })
    }

    pub(super) fn finding(&self, at: &str, message: impl Into<String>) -> Finding {
        Finding::new(&self.manifest, line_of(&self.text, at), message)
    }
}

/// Every member, from `cargo metadata` and its manifest.
pub(super) fn members(metadata: &Value, root: &Path) -> Result<Vec<Member>, Failure> {
    let packages = metadata["packages"]
        .as_array()
        .ok_or_else(|| Failure::new("`cargo metadata` names no packages"))?;
    packages
        .iter()
        .map(|package| {
            let text = |key: &str| package[key].as_str().unwrap_or_default();
            let manifest = Path::new(text("manifest_path"));
            let manifest = manifest.strip_prefix(root).unwrap_or(manifest);
            Member::parse(text("name"), manifest, read(root, manifest)?, used(package))
        })
        .collect()
}

/// Names of dependencies inside of the workspace that are more than dev-dependencies.
fn used(package: &Value) -> Vec<String> {
    let dependencies = package["dependencies"].as_array();
    dependencies
        .into_iter()
        .flatten()
        .filter(|dependency| dependency["path"].is_string() && dependency["kind"] != "dev")
        .filter_map(|dependency| dependency["name"].as_str())
        .map(str::to_owned)
        .collect()
}

pub(super) fn check(member: &Member) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !inherits(member.table.get("lints")) {
        findings.push(member.finding(
            "[lints",
            "say `[lints] workspace = true`: lints are the same everywhere",
        ));
    }
    for kind in ["dependencies", "dev-dependencies", "build-dependencies"] {
        let table = member.table.get(kind).and_then(toml::Value::as_table);
        for (name, dependency) in table.into_iter().flatten() {
            if !inherits(Some(dependency)) {
                findings.push(member.finding(
                    name,
                    format!("`{name}`: put the version into the root manifest and say `{name}.workspace = true`"),
                ));
            }
        }
    }
    findings
}

fn inherits(value: Option<&toml::Value>) -> bool {
    value
        .and_then(|value| value.get("workspace"))
        .and_then(toml::Value::as_bool)
        == Some(true)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn findings(text: &str) -> Vec<String> {
        let member = Member::parse("agon-x", "crates/x/Cargo.toml", text, Vec::new()).unwrap();
        check(&member).iter().map(Finding::to_string).collect()
    }

    #[test]
    fn lints_and_versions_come_from_the_workspace() {
        let good = "[dependencies]\nserde.workspace = true\n\
                    tokio = { workspace = true, features = [\"fs\"] }\n[lints]\nworkspace = true\n";
        assert_eq!(findings(good), Vec::<String>::new());
    }

    #[test]
    fn own_lints_and_versions_are_found() {
        let bad = "[dependencies]\nserde = \"1\"\n\n[lints.rust]\nunsafe_code = \"allow\"\n";
        let findings = findings(bad);
        assert_eq!(findings.len(), 2, "{findings:?}");
        assert!(findings[0].starts_with("crates/x/Cargo.toml:4: say `[lints]"));
        assert!(findings[1].starts_with("crates/x/Cargo.toml:2: `serde`"));
        assert_eq!(super::tests::findings("").len(), 1, "no lints at all");
    }

    #[test]
    fn dev_dependencies_and_foreign_crates_are_not_uses() {
        let package = json!({"dependencies": [
            {"name": "agon-core", "kind": null, "path": "/x/core"},
            {"name": "agon-suite", "kind": "build", "path": "/x/suite"},
            {"name": "agon-testkit", "kind": "dev", "path": "/x/testkit"},
            {"name": "serde", "kind": null},
        ]});
        assert_eq!(used(&package), ["agon-core", "agon-suite"]);
    }
}
