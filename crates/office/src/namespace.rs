//! The namespaces that office formats use, each by one short prefix, whatever a file calls it.

/// The prefix by which the rest of the crate knows a namespace.
pub(crate) fn prefix(uri: &str) -> Option<&'static str> {
    if let Some(rest) = uri.strip_prefix("urn:oasis:names:tc:opendocument:xmlns:") {
        return match rest {
            "office:1.0" => Some("office"),
            "table:1.0" => Some("table"),
            "text:1.0" => Some("text"),
            "style:1.0" => Some("style"),
            "xsl-fo-compatible:1.0" => Some("fo"),
            "svg-compatible:1.0" => Some("svg"),
            "drawing:1.0" => Some("draw"),
            _ => None,
        };
    }
    match uri {
        "http://www.w3.org/1999/xlink" => Some("xlink"),
        "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
        | "http://purl.oclc.org/ooxml/spreadsheetml/main" => Some("s"),
        "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
        | "http://purl.oclc.org/ooxml/wordprocessingml/main" => Some("w"),
        "http://schemas.openxmlformats.org/drawingml/2006/main"
        | "http://purl.oclc.org/ooxml/drawingml/main" => Some("a"),
        "http://schemas.openxmlformats.org/drawingml/2006/picture"
        | "http://purl.oclc.org/ooxml/drawingml/picture" => Some("pic"),
        "http://schemas.openxmlformats.org/drawingml/2006/chart"
        | "http://purl.oclc.org/ooxml/drawingml/chart" => Some("c"),
        "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
        | "http://purl.oclc.org/ooxml/officeDocument/relationships" => Some("r"),
        "http://schemas.openxmlformats.org/package/2006/relationships" => Some("rel"),
        "http://schemas.openxmlformats.org/markup-compatibility/2006" => Some("mc"),
        "urn:schemas-microsoft-com:vml" => Some("v"),
        _ => None,
    }
}
