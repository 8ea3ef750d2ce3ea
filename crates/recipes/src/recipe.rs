//! A server that can be added: an entry as clients write it, and the secrets that it needs.

use serde_json::{Map, Value, json};

/// How a server is added.
#[derive(Clone, Debug, PartialEq)]
pub struct Recipe {
    /// The entry in the form of `mcpServers`; `${input:NAME}` is a secret.
    pub entry: Map<String, Value>,
    /// The secrets and what they are.
    pub inputs: Vec<(String, String)>,
}

impl Recipe {
    /// The entry as a client's file.
    pub fn document(&self, name: &str) -> Value {
        let inputs = self.inputs.iter().map(|(id, what)| json!({"id": id, "description": what}));
        json!({
            "mcpServers": {name: self.entry},
            "inputs": inputs.collect::<Vec<_>>(),
        })
    }
}
