//! Texts as task files may write them: a number or a truth value where a text belongs is that text.

use schemars::{Schema, SchemaGenerator, json_schema};

pub(super) fn schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["string", "number", "boolean"] })
}

pub(super) fn list_schema(generator: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "array", "items": schema(generator) })
}
