//! The routes of the operations table, as OpenAPI describes them.

use ::operations::{Method, Reply, Route, Row, Table};
use serde_json::{Map, Value, json};

/// Adds the operations that have a route, and the schemas of their answers.
pub(super) fn describe(
    table: &Table,
    paths: &mut Map<String, Value>,
    schemas: &mut Map<String, Value>,
) {
    for row in table.rows() {
        let Some(route) = row.route else { continue };
        let (method, operation) = (route.method.as_str().to_lowercase(), describe_one(row, route));
        let item = paths.entry(route.path).or_insert_with(|| json!({}));
        item[method] = operation;
        schemas.insert(component(route), (row.output)());
    }
}

fn component(route: Route) -> String {
    format!("{}.output", route.id)
}

fn describe_one(row: &Row, route: Route) -> Value {
    let mut input = (row.input)();
    let required = input["required"].as_array().cloned().unwrap_or_default();
    let properties = input.get_mut("properties").and_then(Value::as_object_mut);
    let mut properties = properties.map(std::mem::take).unwrap_or_default();
    let in_path = |name: &str| route.path.contains(&format!("{{{name}}}"));
    let (of_path, others): (Map<_, _>, Map<_, _>) =
        std::mem::take(&mut properties).into_iter().partition(|(name, _)| in_path(name));
    let mut parameters: Vec<_> =
        of_path.into_iter().map(|(name, schema)| parameter("path", &name, true, schema)).collect();
    if route.takes_key {
        parameters.push(super::idempotency_key());
    }
    let mut body = Value::Null;
    if route.method == Method::Post {
        let required = required.iter().filter(|name| !name.as_str().is_some_and(in_path));
        input["required"] = required.cloned().collect();
        input["properties"] = Value::Object(others);
        body = json!({"required": true, "content": {"application/json": {"schema": input}}});
    } else {
        parameters.extend(others.into_iter().map(|(name, schema)| {
            let needed = required.contains(&json!(name));
            parameter("query", &name, needed, schema)
        }));
    }
    let tag = route.path.split('/').nth(2).unwrap_or("gateway");
    let mut operation = json!({
        "operationId": route.id, "summary": row.summary, "tags": [tag],
        "parameters": parameters, "responses": responses(route),
    });
    if !body.is_null() {
        operation["requestBody"] = body;
    }
    operation
}

fn parameter(place: &str, name: &str, required: bool, mut schema: Value) -> Value {
    let mut parameter = json!({"name": name, "in": place, "required": required});
    if let Some(description) =
        schema.as_object_mut().and_then(|schema| schema.remove("description"))
    {
        parameter["description"] = description;
    }
    parameter["schema"] = schema;
    parameter
}

fn responses(route: Route) -> Value {
    let reference = format!("#/components/schemas/{}", component(route));
    let envelope = json!({"$ref": "#/components/schemas/Envelope"});
    let output = match route.reply {
        Reply::Plain => json!({"$ref": reference}),
        Reply::Envelope => {
            json!({"allOf": [envelope, {"properties": {"data": {"$ref": reference}}}]})
        }
    };
    json!({
        "200": {"description": "Done.", "content": {"application/json": {"schema": output}}},
        "default": {"description": "The error.", "content": {"application/json": {"schema": envelope}}},
    })
}
