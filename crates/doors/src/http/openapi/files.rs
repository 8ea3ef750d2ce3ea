//! The routes of files.

use serde_json::{Map, Value, json};

use crate::http::routes;

pub(super) fn paths() -> Map<String, Value> {
    let id = parameter("path", "id", "The id.", json!({"type": "string"}));
    let text =
        |name: &str, meaning: &str| parameter("query", name, meaning, json!({"type": "string"}));
    let number = |name: &str, meaning: &str| {
        parameter("query", name, meaning, json!({"type": "integer", "minimum": 1}))
    };
    let ttl = number("ttl", "For how many seconds.");
    let file = || json!({"$ref": "#/components/schemas/File"});
    let upload = || {
        json!({"type": "object", "properties": {
            "upload_id": {"type": "string"}, "name": {"type": "string"}, "size": {"type": "integer"},
            "offset": {"type": "integer"}, "expires_ms": {"type": ["integer", "null"], "deprecated": true},
            "expires_at": {"type": ["string", "null"], "format": "date-time"}}})
    };
    let bytes = json!({"*/*": {}});
    let store = json!({"required": true, "content": {
        "multipart/form-data": {"schema": {"type": "object", "required": ["file"], "properties": {
            "name": {"type": "string"}, "file": {"type": "string", "contentMediaType": "application/octet-stream"}}}},
        "*/*": {}}});
    let begin_body = json!({"required": true, "content": {"application/json": {"schema": {
        "type": "object", "required": ["size"], "additionalProperties": false,
        "properties": {"name": {"type": "string"}, "size": {"type": "integer", "minimum": 0}}}}}});
    let offset = parameter(
        "header",
        "Upload-Offset",
        "Where this part begins.",
        json!({"type": "integer", "minimum": 0}),
    );
    let storing = vec![text("name", "What the file is called."), ttl.clone()];
    let mut begin = operation(
        "beginUpload",
        "Begin an upload in parts",
        Vec::new(),
        responses("201", upload()),
    );
    begin["requestBody"] = begin_body;
    let mut put = operation("putFile", "Store a file", storing, responses("201", file()));
    put["requestBody"] = store;
    let mut answers = responses("200", upload());
    answers["201"] = responses("201", file())["201"].clone();
    let mut add =
        operation("addPart", "Add a part to an upload", vec![id.clone(), offset], answers);
    add["requestBody"] = json!({"required": true, "content": bytes.clone()});
    let one = || vec![id.clone()];
    let raw = |kind: Value, description: &str| {
        let mut answers = responses("200", json!({}));
        answers["200"] = json!({"description": description, "content": kind});
        answers
    };
    let plain = json!({"text/plain": {"schema": {"type": "string"}}});
    let paths = [
        (routes::FILES, json!({"post": put})),
        (
            routes::FILE_CONTENT,
            json!({"get": operation("readFile", "A file's bytes", one(), raw(bytes, "The bytes."))}),
        ),
        (
            routes::FILE_TEXT,
            json!({"get": operation("readText", "A file's text", one(), raw(plain, "The text."))}),
        ),
        (routes::UPLOADS, json!({"post": begin})),
        (
            routes::UPLOAD,
            json!({
                "get": operation("getUpload", "How far an upload has come", one(), responses("200", upload())),
                "patch": add,
                "delete": operation("dropUpload", "Give an upload up", one(), responses("200", json!({"type": "null"}))),
            }),
        ),
    ];
    paths.into_iter().map(|(path, item)| (path.to_owned(), item)).collect()
}

fn parameter(place: &str, name: &str, meaning: &str, schema: Value) -> Value {
    let required = place != "query";
    json!({"name": name, "in": place, "required": required, "description": meaning, "schema": schema})
}

fn operation(id: &str, summary: &str, parameters: Vec<Value>, responses: Value) -> Value {
    json!({"operationId": format!("gateway.{id}"), "summary": summary, "tags": ["files"],
        "parameters": parameters, "responses": responses})
}

/// An envelope around the data, and one without for whatever goes wrong.
fn responses(status: &str, data: Value) -> Value {
    let envelope = json!({"allOf": [{"$ref": "#/components/schemas/Envelope"}, {"properties": {"data": data}}]});
    let mut answers = json!({"default": {"description": "The error.",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Envelope"}}}}});
    answers[status] =
        json!({"description": "Done.", "content": {"application/json": {"schema": envelope}}});
    answers
}
