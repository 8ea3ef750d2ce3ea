//! Where client files keep their servers.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// Folders in which clients keep the configuration of a project.
const PROJECT_FOLDERS: [&str; 8] =
    [".vscode", ".cursor", ".gemini", ".zed", ".codex", ".roo", ".windsurf", ".amazonq"];

/// Where the entries of one section come from.
pub(super) struct Section<'a> {
    /// The keys that lead to the section.
    pub(super) keys: Vec<String>,
    pub(super) entries: &'a Map<String, Value>,
    /// The project whose entries these are.
    pub(super) project: Option<PathBuf>,
}

/// The sections of a file that contain servers.
pub(super) fn sections(document: &Value) -> Result<Vec<Section<'_>>, String> {
    let Value::Object(root) = document else {
        return Err("has no servers: it is not an object".to_owned());
    };
    let mut found = Vec::new();
    let mut add = |keys: &[&str], project: Option<PathBuf>| {
        let value = keys.iter().try_fold(document, |value, key| value.get(key));
        if let Some(Value::Object(entries)) = value {
            let keys = keys.iter().map(|key| (*key).to_owned()).collect();
            found.push(Section { keys, entries, project });
        }
    };
    for key in ["mcpServers", "mcp_servers", "context_servers", "servers", "amp.mcpServers"] {
        add(&[key], None);
    }
    // Older VS Code settings, and OpenCode.
    match root.get("mcp") {
        Some(mcp) if mcp.get("servers").is_some() => add(&["mcp", "servers"], None),
        Some(mcp) if is_servers(mcp) => add(&["mcp"], None),
        _ => {}
    }
    if let Some(Value::Object(projects)) = root.get("projects") {
        for folder in projects.keys() {
            add(&["projects", folder, "mcpServers"], Some(PathBuf::from(folder)));
        }
    }
    if is_servers(document) {
        add(&[], None);
    }
    if found.is_empty() {
        return Err(
            "has no servers: expected `mcpServers`, `servers`, `context_servers` or `mcp_servers`"
                .to_owned(),
        );
    }
    Ok(found)
}

/// Whether a value is a mapping of servers.
fn is_servers(value: &Value) -> bool {
    let is_server = |value: &Value| value.get("command").is_some() || value.get("url").is_some();
    value.as_object().is_some_and(|map| !map.is_empty() && map.values().all(is_server))
}

/// What each input of VS Code is for.
pub(super) fn inputs(document: &Value) -> BTreeMap<String, String> {
    let inputs = document.get("inputs").or_else(|| document["mcp"].get("inputs"));
    let inputs = inputs.and_then(Value::as_array).into_iter().flatten();
    let input = |input: &Value| {
        let id = input["id"].as_str()?;
        let purpose = input["description"].as_str().unwrap_or(id);
        Some((id.to_owned(), purpose.to_owned()))
    };
    inputs.filter_map(input).collect()
}

/// The folder of the project that a file belongs to; none for a user's own file.
pub(super) fn project_of(path: &Path, home: Option<&str>) -> Option<PathBuf> {
    let folder = path.parent()?;
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let project = if PROJECT_FOLDERS.contains(&&*name) {
        folder.parent()?
    } else if path.file_name().is_some_and(|name| name == ".mcp.json") {
        folder
    } else {
        return None;
    };
    (home.map(Path::new) != Some(project)).then(|| project.to_owned())
}
