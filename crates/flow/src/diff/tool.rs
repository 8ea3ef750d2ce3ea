//! The tool `research.diff`.

use std::sync::{Arc, Weak};

use async_trait::async_trait;
use proto::{Code, Failure};
use schemars::JsonSchema;
use serde::Deserialize;
use strip::typed::{About, TypedOutput, TypedTool};
use strip::{Job, Strip};
use uuid::Uuid;

use super::{GraphDiff, diff};
use crate::graph::Graph;
use crate::notes::tool::{about, compute};

/// The artifact of a run that has its mind map as a graph.
const MAP_FILE: &str = "map.json";
/// No map of ours is larger.
const MAX_MAP_BYTES: u64 = 1 << 20;
/// The most nodes that are compared and drawn.
const MAX_NODES: usize = 1_000;

/// Compares the mind maps of two runs.
pub struct CompareMaps {
    pub(crate) strip: Weak<Strip>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompareInput {
    /// The earlier workflow.
    #[schemars(length(min = 32, max = 36))]
    a: String,
    /// The later workflow.
    #[schemars(length(min = 32, max = 36))]
    b: String,
}

#[async_trait]
impl TypedTool for CompareMaps {
    type Input = CompareInput;
    type Output = GraphDiff;

    fn about(&self) -> About {
        let description = "Compares the mind maps of two `research.execute` workflows.";
        About {
            deterministic: false,
            ..about("research.diff", "Compare two research runs", description)
        }
    }

    async fn run(&self, input: CompareInput, job: &Job) -> Result<TypedOutput<GraphDiff>, Failure> {
        let strip = self
            .strip
            .upgrade()
            .ok_or_else(|| Failure::new(Code::Unavailable, "the gateway is stopping"))?;
        let before = map_of(&strip, job, "a", &input.a).await?;
        let after = map_of(&strip, job, "b", &input.b).await?;
        Ok(compute(move || diff(&before, &after)).await?.into())
    }
}

/// The mind map that a workflow of the caller's tenant has stored.
async fn map_of(strip: &Arc<Strip>, job: &Job, path: &str, id: &str) -> Result<Graph, Failure> {
    let missing = || {
        let message = format!("`{path}`: there is no research with a mind map of this id");
        Failure::new(Code::NotFound, message)
    };
    let id = Uuid::parse_str(id).map_err(|_| {
        Failure::new(
            Code::InvalidInput,
            format!("`{path}` is not a workflow's id, which is a UUID"),
        )
    })?;
    let tenant = job.request().principal.tenant.as_str();
    let run = format!("run_{}", id.simple());
    let artifacts = match strip.runs().show(Some(tenant), &run).await {
        Ok(run) => run.run.artifacts,
        Err(failure) if failure.code == Code::NotFound => return Err(missing()),
        Err(failure) => return Err(failure),
    };
    for file in artifacts {
        let record = match strip.find_result(job, &file).await {
            Ok(record) if record.name == MAP_FILE => record,
            // An artifact may have been deleted.
            Ok(_) => continue,
            Err(failure) if failure.code == Code::NotFound => continue,
            Err(failure) => return Err(failure),
        };
        let bytes = strip.files().bytes(&record, MAX_MAP_BYTES).await?;
        return read_map(&bytes, path);
    }
    Err(missing())
}

/// Reads a stored map. Anyone may store a file of its name in a run of their own, so a bad one is not the gateway's fault.
fn read_map(bytes: &[u8], path: &str) -> Result<Graph, Failure> {
    let map: Graph = serde_json::from_slice(bytes).map_err(|error| {
        let message =
            format!("`{path}`: the file `{MAP_FILE}` of this run is not a mind map: {error}");
        Failure::new(Code::InvalidInput, message)
    })?;
    if map.nodes.len() > MAX_NODES {
        let message = format!("`{path}`: the mind map has more than {MAX_NODES} nodes");
        return Err(Failure::new(Code::Unsupported, message));
    }
    Ok(map)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_map_is_not_taken_for_a_missing_one() {
        let code = |bytes: &[u8]| read_map(bytes, "a").map(drop).map_err(|failure| failure.code);
        assert_eq!(code(br#"{"nodes": [{"id""#), Err(Code::InvalidInput));
        let node = serde_json::json!({"id": "n", "label": "n", "kind": "topic"});
        let large = serde_json::json!({"nodes": vec![node; MAX_NODES + 1], "edges": []});
        assert_eq!(code(large.to_string().as_bytes()), Err(Code::Unsupported));
    }
}
