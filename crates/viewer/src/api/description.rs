//! The API described for programs (OpenAPI 3.1), made from the table of its addresses and the types that it
//! answers with.

use std::collections::BTreeMap;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::table::{Does, Kind, ROUTES, Route};
use crate::error::ViewerError;
use crate::serve::{App, Asked, Reply};

/// Where types stand in the document.
const TYPES: &str = "/components/schemas";

pub(crate) fn describe(_: &App, _: &Asked) -> Result<Reply, ViewerError> {
    Reply::json(&description())
}

/// The whole document.
pub(crate) fn description() -> Value {
    let settings = |settings: SchemaSettings| {
        settings.with(|settings| settings.definitions_path = TYPES.into())
    };
    let mut answers = settings(SchemaSettings::draft2020_12().for_serialize()).into_generator();
    let mut bodies = settings(SchemaSettings::draft2020_12().for_deserialize()).into_generator();
    let mut paths: BTreeMap<&str, Map<String, Value>> = BTreeMap::new();
    for route in ROUTES {
        let method = match route.does {
            Does::Get(_) | Does::Listen => "get",
            Does::Post(..) => "post",
        };
        let described = operation(route, &mut answers, &mut bodies);
        let path = paths.entry(route.path).or_default();
        path.insert(method.to_owned(), described);
    }
    let mut types = bodies.take_definitions(true);
    types.extend(answers.take_definitions(true));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Agon viewer",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Everything that the pages of `agon view` show. Fields and addresses are only \
                            ever added. Whatever an answer quotes of tasks, agents and models is text of \
                            others.",
        },
        "paths": paths,
        "components": {
            "schemas": types,
            "responses": { "Error": error() },
            "securitySchemes": {
                "page": { "type": "apiKey", "in": "header", "name": "X-Agon-Token" },
                "access": { "type": "http", "scheme": "bearer" },
            },
        },
    })
}

fn error() -> Value {
    json!({
        "description": "What is wrong, and what to do about it.",
        "content": { "application/json": { "schema": {
            "type": "object",
            "properties": { "error": { "type": "string" } },
            "required": ["error"],
        } } },
    })
}

fn operation(route: &Route, answers: &mut SchemaGenerator, bodies: &mut SchemaGenerator) -> Value {
    let kind = match route.does {
        Does::Listen => "text/event-stream",
        Does::Get(_) | Does::Post(..) => "application/json",
    };
    let failed = json!({ "$ref": "#/components/responses/Error" });
    let mut described = json!({
        "operationId": route.name,
        "summary": route.about,
        "parameters": parameters(route),
        "responses": {
            "200": {
                "description": "As asked.",
                "content": { kind: { "schema": (route.answer)(answers) } },
            },
            "400": failed,
            "403": failed,
            "404": failed,
            "500": failed,
        },
    });
    if let Does::Post(_, body) = route.does {
        described["requestBody"] = json!({
            "required": true,
            "content": { "application/json": { "schema": body(bodies) } },
        });
        described["security"] = json!([{ "page": [] }]);
    }
    described
}

fn parameters(route: &Route) -> Vec<Value> {
    let parts = route.path.split('/').filter_map(|part| {
        let name = part.strip_prefix('{')?.strip_suffix('}')?;
        let schema = match name {
            "epoch" | "attempt" | "step" | "seq" => json!({ "type": "integer", "minimum": 0 }),
            _ => json!({ "type": "string" }),
        };
        Some(json!({ "name": name, "in": "path", "required": true, "schema": schema }))
    });
    let query = route.query.iter().map(|parameter| {
        let schema = match parameter.kind {
            Kind::Text => json!({ "type": "string" }),
            Kind::Number => json!({ "type": "integer", "minimum": 0 }),
            Kind::Switch => json!({ "type": "boolean" }),
            Kind::Often => json!({ "type": "array", "items": { "type": "string" } }),
        };
        json!({
            "name": parameter.name,
            "in": "query",
            "required": parameter.kind == Kind::Often,
            "description": parameter.about,
            "schema": schema,
        })
    });
    parts.chain(query).collect()
}
