//! The REST routes as OpenAPI 3.1, with a path of its own for every tool.

mod files;
mod operations;

use std::sync::Arc;

use ::operations::{Table, output_schema};
use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;
use proto::{Code, Principal};
use schema::protocols::rebased;
use serde_json::{Map, Value, json};
use strip::agents::View;
use strip::catalog::Entry;
use strip::files::operations::FileView;

use super::{Shared, reply, routes};

pub(super) async fn document(
    State(shared): State<Shared>,
    Extension(principal): Extension<Arc<Principal>>,
) -> Response {
    reply::json(
        StatusCode::OK,
        &describe(&shared.strip.view(&principal), &shared.options.operations),
    )
}

fn describe(view: &View, table: &Table) -> Value {
    let mut paths = fixed_paths();
    paths.extend(files::paths());
    let mut schemas = shared_schemas();
    operations::describe(table, &mut paths, &mut schemas);
    for entry in view.listed() {
        let (path, item) = tool_path(entry, &mut schemas);
        paths.insert(path, item);
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Powerstrip",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "Tools for agents behind one door, every answer in one envelope.",
        },
        "paths": paths,
        "components": {"schemas": schemas},
    })
}

/// A tool's path, its schemas put among the components: a schema's local references mean the document's root, so
/// it is put under a name that they are rewritten to.
fn tool_path(entry: &Entry, schemas: &mut Map<String, Value>) -> (String, Value) {
    let descriptor = &entry.descriptor;
    let older = entry.superseded_by.map(|_| format!("@{}", descriptor.version.major));
    let name = format!("{}{}", descriptor.id, older.unwrap_or_default());
    let mut component = |side: &str, schema: &Value| {
        let key = format!("{}.{side}", entry.wire);
        let reference = format!("#/components/schemas/{key}");
        schemas.insert(key, rebased(schema, &reference));
        json!({"$ref": reference})
    };
    let input = component("input", &descriptor.input_schema);
    let answer = match &descriptor.output_schema {
        None => json!({"$ref": "#/components/schemas/Envelope"}),
        Some(output) => {
            let output = component("output", output);
            json!({"allOf": [
                {"$ref": "#/components/schemas/Envelope"},
                {"properties": {"data": output}},
            ]})
        }
    };
    let mut operation = json!({
        "operationId": entry.wire,
        "tags": ["tools"],
        "summary": descriptor.title.as_deref().unwrap_or(descriptor.id.as_str()),
        "description": descriptor.description,
        "parameters": call_parameters(),
        "requestBody": {"required": false, "content": {"application/json": {"schema": input}}},
        "responses": call_responses(answer),
    });
    if entry.superseded_by.is_some() {
        operation["deprecated"] = json!(true);
    }
    (format!("/mcp/tool/{}", encoded(&name)), json!({"post": operation}))
}

/// Braces would read as a template, and `?`, `#` and `%` as something other than the path.
fn encoded(name: &str) -> String {
    name.chars().fold(String::with_capacity(name.len()), |mut path, character| {
        match character {
            '{' | '}' | '?' | '#' | '%' | '"' | '<' | '>' | '\\' | '^' | '`' | '|' => {
                path.push_str(&format!("%{:02X}", u32::from(character)));
            }
            plain => path.push(plain),
        }
        path
    })
}

fn fixed_paths() -> Map<String, Value> {
    let text = |name: &str, description: &str| {
        json!({"name": name, "in": "path", "required": true, "description": description,
            "schema": {"type": "string"}})
    };
    let json_answer = |description: &str, schema: Value| {
        json!({
            "200": {"description": description, "content": {"application/json": {"schema": schema}}},
            "default": {"description": "The error.", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Envelope"}}}},
        })
    };
    // No tool's wire name has a dot, so these names stay free.
    let get = |id: &str, summary: &str, parameters: Vec<Value>, responses: Value| {
        json!({"get": {"operationId": format!("gateway.{id}"), "summary": summary, "tags": ["gateway"],
            "parameters": parameters, "responses": responses}})
    };
    let prompt_parameters = vec![
        text("domain", "The prompt's domain."),
        text("name", "The prompt's name."),
        json!({"name": "major", "in": "path", "required": true, "description": "The major version.",
            "schema": {"type": "integer", "minimum": 0}}),
    ];
    let schema_parameters = vec![
        text("tool", "A tool's id, `@` and a major version optional."),
        json!({"name": "side", "in": "path", "required": true, "description": "Which schema.",
            "schema": {"enum": ["input", "output"]}}),
    ];
    let workflow = vec![text("id", "The workflow's id, or the id of its run.")];
    let mut workflow_events = workflow.clone();
    workflow_events.push(json!({"name": "Last-Event-ID", "in": "header",
        "description": "The last event that the client has seen.", "schema": {"type": "integer", "minimum": 0}}));
    let mut any_call_parameters = vec![text("toolName", "The tool.")];
    any_call_parameters.extend(call_parameters());
    let any_object = || json!({"type": "object"});
    let readiness = json!({"$ref": "#/components/schemas/Readiness"});
    let mut not_ready = json_answer("Calls will be answered.", readiness.clone());
    not_ready["503"] = json!({"description": "Not ready, and why.",
        "content": {"application/json": {"schema": readiness}}});
    let paths = [
        (
            routes::DISCOVER,
            get(
                "discover",
                "Tools, prompts and health",
                Vec::new(),
                json_answer("What there is.", any_object()),
            ),
        ),
        (
            routes::PROMPT,
            get(
                "getPrompt",
                "A prompt's body and spec",
                prompt_parameters,
                json_answer(
                    "The prompt.",
                    json!({"type": "object", "required": ["body", "spec"],
                        "properties": {"body": {"type": "string"}, "spec": {"type": "object"}}}),
                ),
            ),
        ),
        (
            "/mcp/schema/{tool}/{side}",
            get(
                "getSchema",
                "A tool's JSON Schema",
                schema_parameters,
                json_answer("The schema.", json!({"type": ["object", "boolean"]})),
            ),
        ),
        (
            "/mcp/tool/{toolName}",
            json!({"post": {
                "operationId": "gateway.callTool",
                "summary": "Call any tool by its id, wire name or short URI",
                "tags": ["tools"],
                "parameters": any_call_parameters,
                "requestBody": {"required": false, "content": {"application/json": {"schema": true}}},
                "responses": call_responses(json!({"$ref": "#/components/schemas/Envelope"})),
            }}),
        ),
        (
            routes::CALLS,
            json!({"post": {
                "operationId": "gateway.callBatch",
                "summary": "A batch of calls, side by side where they do not depend on each other",
                "tags": ["tools"],
                "parameters": call_parameters(),
                "requestBody": {"required": true, "content": {"application/json":
                    {"schema": {"$ref": "#/components/schemas/Batch"}}}},
                "responses": json_answer(
                    "An envelope for each call, in the order asked.",
                    json!({"$ref": "#/components/schemas/BatchAnswer"}),
                ),
            }}),
        ),
        (
            routes::APPROVAL_EVENTS,
            json!({"get": {
                "operationId": "approvals.events", "summary": "Changes of approvals", "tags": ["approvals"],
                "parameters": [],
                "responses": {"200": {
                    "description": "Server-sent events `created`, `decided`, `expired`, `consumed`, `cancelled`.",
                    "content": {"text/event-stream": {"schema": {"type": "string"}}},
                }},
            }}),
        ),
        (
            routes::WORKFLOW_EVENTS,
            get(
                "workflowEvents",
                "The events of a workflow",
                workflow_events,
                json!({"200": {
                    "description": "Server-sent events `layer_started`, `task_started`, `task_done`, `layer_complete`, \
                        `decision_required`, `input_required`, `planned`, `replanned`, `complete`, `failed`, `aborted`, `expired`, \
                        `command`, `missed`.",
                    "content": {"text/event-stream": {"schema": {"type": "string"}}},
                }}),
            ),
        ),
        (
            routes::WORKFLOW_GRAPH,
            get(
                "workflowGraph",
                "A workflow as a drawing",
                workflow,
                json!({"200": {"description": "The DAG with its states.",
                    "content": {"image/svg+xml": {"schema": {"type": "string"}}}}}),
            ),
        ),
        (
            routes::OPENAPI,
            get("openapi", "This document", Vec::new(), json_answer("OpenAPI 3.1.", any_object())),
        ),
        (
            routes::HEALTHZ,
            get(
                "alive",
                "Whether the process lives",
                Vec::new(),
                json_answer("The process lives.", any_object()),
            ),
        ),
        (routes::READYZ, get("ready", "Whether it can do its work", Vec::new(), not_ready)),
        (
            routes::METRICS,
            get(
                "metrics",
                "Metrics",
                Vec::new(),
                json!({"200": {"description": "Prometheus' text format.",
                    "content": {"text/plain": {"schema": {"type": "string"}}}}}),
            ),
        ),
    ];
    paths.into_iter().map(|(path, item)| (path.to_owned(), item)).collect()
}

fn call_parameters() -> [Value; 5] {
    [
        json!({"name": "Powerstrip-Run", "in": "header", "description": "The run that the call belongs to.",
            "schema": {"type": "string", "minLength": 1, "maxLength": 200}}),
        idempotency_key(),
        json!({"name": "Powerstrip-Timeout-Ms", "in": "header", "description": "Wait no longer than this.",
            "schema": {"type": "integer", "minimum": 1}}),
        json!({"name": "Powerstrip-Verify", "in": "header", "description": "Run a recorded call again and compare.",
            "schema": {"type": "boolean"}}),
        json!({"name": "verify", "in": "query", "description": "The same as the header `Powerstrip-Verify`.",
            "schema": {"type": "boolean"}}),
    ]
}

fn idempotency_key() -> Value {
    json!({"name": "Idempotency-Key", "in": "header", "description": "Calls with the same key run once.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255}})
}

/// One response per status that an envelope can travel under.
fn call_responses(answer: Value) -> Value {
    let mut responses = Map::new();
    responses.insert(
        "200".to_owned(),
        json!({"description": "The tool's answer.", "content": {"application/json": {"schema": answer}}}),
    );
    for code in Code::all() {
        let response = json!({
            "description": format!("`{code}`"),
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Envelope"}}},
        });
        responses.insert(code.http_status().to_string(), response);
    }
    Value::Object(responses)
}

fn shared_schemas() -> Map<String, Value> {
    let codes: Vec<_> = Code::all().map(Code::as_str).collect();
    let schemas = [
        (
            "Envelope",
            json!({
                "type": "object",
                "required": ["ok", "data", "meta", "errors"],
                "properties": {
                    "ok": {"type": "boolean"},
                    "data": {"description": "The tool's data; null if the call failed."},
                    "meta": {"$ref": "#/components/schemas/Meta"},
                    "errors": {"type": "array", "items": {"$ref": "#/components/schemas/Error"}},
                },
            }),
        ),
        (
            "Meta",
            json!({
                "type": "object",
                "required": ["tool", "version", "durationMs", "traceId", "warnings"],
                "properties": {
                    "tool": {"type": "string"},
                    "version": {"type": "string"},
                    "durationMs": {"type": "integer", "minimum": 0},
                    "traceId": {"type": "string", "format": "uuid"},
                    "warnings": {"type": "array", "items": {"type": "string"}},
                },
            }),
        ),
        (
            "Error",
            json!({
                "type": "object",
                "required": ["code", "message", "retryable"],
                "properties": {
                    "code": {"enum": codes},
                    "message": {"type": "string"},
                    "retryable": {"type": "boolean"},
                    "details": {"description": "Facts for programs, such as a size and its limit."},
                },
            }),
        ),
        (
            "Batch",
            json!({
                "type": "object",
                "required": ["calls"],
                "properties": {
                    "run_id": {"type": "string", "minLength": 1, "maxLength": 200},
                    "stop_on_error": {"type": "boolean", "default": false},
                    "calls": {"type": "array", "minItems": 1, "maxItems": strip::batch::MAX_CALLS, "items": {
                        "type": "object",
                        "required": ["tool"],
                        "properties": {
                            "id": {"type": "string", "minLength": 1, "maxLength": 100},
                            "tool": {"type": "string"},
                            "arguments": {"description": "The tool's input."},
                            "depends_on": {"type": "array", "items": {"type": "string"}},
                            "idempotency_key": {"type": "string", "minLength": 1, "maxLength": 255},
                        },
                        "additionalProperties": false,
                    }},
                },
                "additionalProperties": false,
            }),
        ),
        (
            "BatchAnswer",
            json!({
                "type": "object",
                "required": ["run_id", "trace_id", "answers"],
                "properties": {
                    "run_id": {"type": "string"},
                    "trace_id": {"type": "string", "format": "uuid"},
                    "answers": {"type": "array", "items": {"allOf": [
                        {"$ref": "#/components/schemas/Envelope"},
                        {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
                    ]}},
                },
            }),
        ),
        (
            "Readiness",
            json!({
                "type": "object",
                "required": ["ready", "problems"],
                "properties": {
                    "ready": {"type": "boolean"},
                    "problems": {"type": "array", "items": {"type": "string"}},
                },
            }),
        ),
    ];
    let own = schemas.into_iter().map(|(name, schema)| (name.to_owned(), schema));
    own.chain([("File".to_owned(), output_schema::<FileView>())]).collect()
}
