//! The routes by which people decide, as OpenAPI tells of them.

use serde_json::{Map, Value, json};

use crate::http::routes;

pub(super) fn paths() -> Map<String, Value> {
    let id = json!({"name": "id", "in": "path", "required": true, "schema": {"type": "string"}});
    let query = |name: &str, schema: Value| json!({"name": name, "in": "query", "schema": schema});
    let answer = |description: &str| {
        let failed = json!({"schema": {"$ref": "#/components/schemas/Envelope"}});
        json!({
            "200": {"description": description, "content": {"application/json": {"schema": {"type": "object"}}}},
            "default": {"description": "Why not.", "content": {"application/json": failed}},
        })
    };
    let operation = |name: &str, summary: &str, parameters: Vec<Value>, responses: Value| {
        json!({"operationId": format!("approvals.{name}"), "summary": summary, "tags": ["approvals"],
            "parameters": parameters, "responses": responses})
    };
    let listed = vec![
        query(
            "state",
            json!({"type": "string", "default": "pending",
            "enum": ["pending", "approved", "rejected", "expired", "consumed", "cancelled", "all"]}),
        ),
        query("after", json!({"type": "string"})),
        query("limit", json!({"type": "integer", "minimum": 1, "maximum": 200})),
    ];
    let mut decide = operation(
        "decide",
        "Approve or reject a call that waits; needs `approvals:decide` or the admin token",
        vec![id.clone()],
        answer("The confirmation, decided."),
    );
    decide["requestBody"] = json!({"required": true, "content": {"application/json": {"schema": {
        "type": "object", "required": ["decision"], "additionalProperties": false,
        "properties": {
            "decision": {"enum": ["approve", "reject"]},
            "reason": {"type": ["string", "null"], "description": "What the caller is told."},
            "standing": {"type": ["object", "null"], "additionalProperties": false, "properties": {
                "arguments": {"enum": ["these", "any"], "default": "these"},
                "run": {"type": "boolean", "default": false},
                "seconds": {"type": "integer", "minimum": 1, "maximum": 2_592_000},
            }},
        },
    }}}});
    let mut stream = answer("");
    stream["200"] = json!({"description": "Server-sent events `created`, `decided`, `expired`, `consumed`.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}}});
    let paths = [
        (
            routes::APPROVALS,
            json!({"get": operation("list", "Calls that wait for a person", listed, answer("`{approvals, next}`"))}),
        ),
        (
            routes::APPROVAL,
            json!({
                "get": operation("show", "One of them, whole", vec![id.clone()], answer("The confirmation.")),
                "post": decide,
            }),
        ),
        (
            routes::APPROVAL_EVENTS,
            json!({"get": operation("events", "What happens to them", Vec::new(), stream)}),
        ),
        (
            routes::APPROVAL_RULES,
            json!({"get": operation("rules", "What was approved once for all", Vec::new(), answer("`{rules}`"))}),
        ),
        (
            routes::APPROVAL_RULE,
            json!({"delete": operation("removeRule", "Take such a rule out", vec![id], answer("It is gone."))}),
        ),
    ];
    paths.into_iter().map(|(path, item)| (path.to_owned(), item)).collect()
}
