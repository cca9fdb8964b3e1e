//! Which parts of a package belong to which: their relations.

use crate::error::OfficeError;
use crate::package::Package;
use crate::xml::Element;

#[derive(Debug)]
pub(super) struct Relation {
    pub(super) id: String,
    /// The last word of its type, such as `worksheet`.
    pub(super) kind: String,
    /// The path of a part of the package.
    pub(super) target: String,
}

/// The part that everything else hangs from.
pub(crate) fn main_part(package: &mut Package<'_>) -> Result<Option<String>, OfficeError> {
    target(package, "", "officeDocument")
}

/// The first part of a kind that a part is related to.
pub(super) fn target(
    package: &mut Package<'_>,
    part: &str,
    kind: &str,
) -> Result<Option<String>, OfficeError> {
    let relations = relations(package, part)?;
    let found = relations.into_iter().find(|relation| relation.kind == kind);
    Ok(found.map(|relation| relation.target))
}

/// The same, read.
pub(super) fn related(
    package: &mut Package<'_>,
    part: &str,
    kind: &str,
) -> Result<Option<Element>, OfficeError> {
    match target(package, part, kind)? {
        Some(target) => package.xml(&target),
        None => Ok(None),
    }
}

pub(super) fn relations(
    package: &mut Package<'_>,
    part: &str,
) -> Result<Vec<Relation>, OfficeError> {
    let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
    let path = match folder {
        "" => format!("_rels/{name}.rels"),
        _ => format!("{folder}/_rels/{name}.rels"),
    };
    let Some(list) = package.xml(&path)? else {
        return Ok(Vec::new());
    };
    let relation = |element: &Element| {
        if element.attribute("TargetMode") == Some("External") {
            return None;
        }
        let kind = element.attribute("Type")?.rsplit('/').next()?;
        Some(Relation {
            id: element.attribute("Id").unwrap_or_default().to_owned(),
            kind: kind.to_owned(),
            target: resolved(folder, element.attribute("Target")?),
        })
    };
    Ok(list.all("rel:Relationship").filter_map(relation).collect())
}

fn resolved(folder: &str, target: &str) -> String {
    let (mut path, target) = match target.strip_prefix('/') {
        Some(absolute) => (Vec::new(), absolute),
        None => (
            folder.split('/').filter(|name| !name.is_empty()).collect(),
            target,
        ),
    };
    for name in target.split('/') {
        match name {
            "" | "." => {}
            ".." => {
                path.pop();
            }
            _ => path.push(name),
        }
    }
    path.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_relative_to_their_part() {
        for (folder, target, expected) in [
            ("xl", "worksheets/sheet1.xml", "xl/worksheets/sheet1.xml"),
            ("xl/worksheets", "../drawings/d.xml", "xl/drawings/d.xml"),
            ("xl", "/xl/styles.xml", "xl/styles.xml"),
            ("", "../../../etc/passwd", "etc/passwd"),
        ] {
            assert_eq!(resolved(folder, target), expected);
        }
    }
}
