//! Where clients keep their configuration on this system, and how they reach the gateway.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use config::clients::{Client, ENTRY, Endpoint};
use environment::Environment;
use recipes::quoted;
use serde_json::{Value, json};

/// How a client reaches the gateway.
pub(super) enum Route {
    /// At a URL; the endpoint says whether a key is needed.
    Http { endpoint: Endpoint, path: String },
    /// It starts `powerstrip stdio`.
    Stdio { program: PathBuf, args: Vec<String> },
}

/// The file that was named, or the user's configuration file of a client.
pub(in crate::cmd) fn file_of(
    client: Client,
    named: Option<&Path>,
    environment: &Environment,
) -> anyhow::Result<PathBuf> {
    let path = named.map(Path::to_owned).or_else(|| path_of(client, environment));
    let path = path.with_context(|| {
        format!("it is unknown where {client} keeps its configuration here; name it with --file")
    })?;
    Ok(std::path::absolute(path)?)
}

/// The user's configuration file of a client.
pub(in crate::cmd) fn path_of(client: Client, environment: &Environment) -> Option<PathBuf> {
    let home = environment.path("HOME").or_else(|| environment.path("USERPROFILE"));
    let below_home = |path: &str| home.as_ref().map(|home| home.join(path));
    // Where applications keep their settings.
    let settings = |path: &str| {
        let folder = if cfg!(target_os = "macos") {
            below_home("Library/Application Support")
        } else if cfg!(windows) {
            environment.path("APPDATA")
        } else {
            environment.path("XDG_CONFIG_HOME").or_else(|| below_home(".config"))
        };
        folder.map(|folder| folder.join(path))
    };
    match client {
        Client::ClaudeDesktop => settings("Claude/claude_desktop_config.json"),
        Client::VsCode => settings("Code/User/mcp.json"),
        Client::Zed if !cfg!(target_os = "macos") => settings("zed/settings.json"),
        Client::Codex => {
            let folder = environment.path("CODEX_HOME").or_else(|| below_home(".codex"));
            folder.map(|folder| folder.join("config.toml"))
        }
        client => below_home(client.file().trim_start_matches("~/")),
    }
}

/// The gateway's entry in a client's file.
pub(super) fn entry(client: Client, route: &Route) -> Value {
    match route {
        Route::Http { endpoint, path } => {
            let mut entry = client.entry(endpoint);
            let (plain, address) = (endpoint.mcp_url(), format!("{}{path}", endpoint.base_url));
            for value in entry.as_object_mut().into_iter().flat_map(|entry| entry.values_mut()) {
                if value.as_str() == Some(&plain) {
                    *value = json!(address);
                }
            }
            entry
        }
        Route::Stdio { program, args } => {
            let mut entry = json!({"command": program, "args": args});
            if matches!(client, Client::ClaudeCode | Client::VsCode) {
                entry["type"] = json!("stdio");
            }
            entry
        }
    }
}

/// The command that takes the gateway out of a client's file; a file that is not the client's own is named in full.
pub(in crate::cmd) fn disconnect_command(
    client: Client,
    file: Option<&Path>,
    name: &str,
) -> String {
    let mut command = format!("powerstrip disconnect {client}");
    if let Some(file) = file {
        command.push_str(&format!(" --file {}", quoted(&file.display().to_string())));
    }
    if name != ENTRY {
        command.push_str(&format!(" --name {}", quoted(name)));
    }
    command
}
