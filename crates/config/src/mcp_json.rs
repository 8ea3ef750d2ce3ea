//! Imports the `mcpServers` JSON of Claude Desktop, Cursor and others, and the `servers` JSON of VS Code.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::Server;
use crate::secret::{HeaderSource, SecretSource};

/// The largest file.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// The servers of a file.
#[derive(Debug, Default)]
pub struct Imported {
    pub servers: BTreeMap<String, Server>,
    /// Keys that were left out and names that were changed.
    pub notes: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    mcp_servers: Option<BTreeMap<String, Value>>,
    servers: Option<BTreeMap<String, Value>>,
}

/// One entry, as the various clients write it.
#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "type", alias = "transport")]
    kind: Option<String>,
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<std::path::PathBuf>,
    #[serde(alias = "serverUrl", alias = "httpUrl")]
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    disabled: bool,
    #[serde(flatten)]
    other: Map<String, Value>,
}

/// Reads a file; the error lists all faults.
pub fn read(path: &Path) -> Result<Imported, Vec<String>> {
    let unreadable = |error: std::io::Error| vec![format!("cannot be read: {error}")];
    let length = std::fs::metadata(path).map_err(unreadable)?.len();
    if length > MAX_FILE_BYTES {
        return Err(vec![format!("{length} bytes are too many for a file of servers")]);
    }
    parse(&std::fs::read_to_string(path).map_err(unreadable)?)
}

fn parse(text: &str) -> Result<Imported, Vec<String>> {
    let file: File = serde_json::from_str(text)
        .map_err(|error| vec![format!("is not JSON of servers: {error}")])?;
    let Some(entries) = file.mcp_servers.or(file.servers) else {
        return Err(vec!["has neither `mcpServers` nor `servers`".to_owned()]);
    };
    let (mut imported, mut faults) = (Imported::default(), Vec::new());
    for (written, entry) in entries {
        let name = valid_name(&written);
        if name != written {
            imported.notes.push(format!("`{written}` is named `{name}` here"));
        }
        match server(&written, entry, &mut imported.notes) {
            Ok(server) => {
                if imported.servers.insert(name.clone(), server).is_some() {
                    faults.push(format!("two servers would be named `{name}`"));
                }
            }
            Err(why) => faults.push(format!("{written}: {why}")),
        }
    }
    if faults.is_empty() { Ok(imported) } else { Err(faults) }
}

fn server(name: &str, entry: Value, notes: &mut Vec<String>) -> Result<Server, String> {
    let entry: Entry = serde_json::from_value(entry).map_err(|error| error.to_string())?;
    if entry.kind.as_deref() == Some("sse") {
        return Err("the old SSE transport is not supported; use the server's streamable HTTP URL"
            .to_owned());
    }
    if let Some(part) =
        entry.args.iter().chain(&entry.command).chain(&entry.url).find(|part| part.contains("${"))
    {
        return Err(format!(
            "`{part}` contains a variable; variables are supported only in env and headers"
        ));
    }
    for key in entry.other.keys() {
        notes.push(format!("{name}: `{key}` is left out"));
    }
    Ok(Server {
        command: entry.command,
        args: entry.args,
        env: sources("env", entry.env)?,
        cwd: entry.cwd,
        url: entry.url,
        headers: sources("headers", entry.headers)?,
        disabled: entry.disabled,
        ..Server::default()
    })
}

fn sources(
    section: &str,
    values: BTreeMap<String, String>,
) -> Result<BTreeMap<String, HeaderSource>, String> {
    let source = |(key, value): (String, String)| match variable(&value) {
        Ok(Some(env)) => Ok((key, HeaderSource::Secret(SecretSource::Env { env }))),
        Ok(None) => Ok((key, HeaderSource::Plain(value))),
        Err(why) => Err(format!("{section}.{key}: {why}")),
    };
    values.into_iter().map(source).collect()
}

/// The name in `${NAME}` or `${env:NAME}`; `None` for plain text.
fn variable(value: &str) -> Result<Option<String>, String> {
    if !value.contains("${") {
        return Ok(None);
    }
    let inner = value.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    let name = inner.map(|inner| inner.strip_prefix("env:").unwrap_or(inner));
    match name {
        Some(name)
            if !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') =>
        {
            Ok(Some(name.to_owned()))
        }
        _ => {
            Err("a value is text or one whole variable, `${NAME}`; put all of it into the variable"
                .to_owned())
        }
    }
}

/// Replaces the characters that server names do not allow.
fn valid_name(written: &str) -> String {
    let kept =
        |c: char| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.') { c } else { '-' };
    written.trim().chars().map(kept).collect()
}

#[cfg(test)]
mod tests;
