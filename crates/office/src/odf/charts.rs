//! Objects that lie on a sheet: how many of them are charts.

use crate::error::OfficeError;
use crate::package::Package;
use crate::xml::Element;

/// Most objects that are looked into.
const OBJECTS: usize = 256;

pub(super) fn count(table: &Element, package: &mut Package<'_>) -> Result<u32, OfficeError> {
    let mut objects = Vec::new();
    table.each("draw:object", &mut objects);
    let mut charts = 0;
    for object in objects.into_iter().take(OBJECTS) {
        let Some(folder) = object.attribute("xlink:href") else {
            continue;
        };
        let folder = folder.trim_start_matches("./").trim_end_matches('/');
        let content = package.xml(&format!("{folder}/content.xml"))?;
        let chart = content
            .is_some_and(|content| content.below(&["office:body", "office:chart"]).is_some());
        charts += u32::from(chart);
    }
    Ok(charts)
}
