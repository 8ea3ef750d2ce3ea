//! The peer: the tools that BM25 ranks first, each fed by the one before.

use language::tools::ToolIndex;

use super::gold::{Call, Given, Tool};

pub(super) fn chain(request: &str, depth: usize, index: &ToolIndex, tools: &[Tool]) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    for hit in index.search(request, depth) {
        let tool = &tools[hit.index];
        let mut arguments = Vec::new();
        if let Some(before) =
            calls.last().and_then(|call| tools.iter().find(|tool| tool.name == call.tool))
        {
            let first = |schema: &serde_json::Value| {
                schema["properties"].as_object().and_then(|fields| fields.keys().next().cloned())
            };
            if let (Some(field), Some(argument)) = (first(&before.output), first(&tool.input)) {
                arguments.push((argument, Given::Output { tool: before.name.clone(), field }));
            }
        }
        calls.push(Call { tool: tool.name.clone(), arguments });
    }
    calls
}
