//! The clients that can be connected to a gateway, and the entry that each needs in its own configuration file.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value, json};

/// The name of the gateway's entry in every client's file.
pub const ENTRY: &str = "powerstrip";

/// The environment variable from which clients take the key of a gateway that needs one.
pub const TOKEN_VARIABLE: &str = "POWERSTRIP_TOKEN";

/// A client of MCP servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Client {
    ClaudeCode,
    ClaudeDesktop,
    Cursor,
    VsCode,
    Windsurf,
    Zed,
    Codex,
    Gemini,
}

/// A gateway as clients reach it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint {
    /// Its address, without a slash at the end.
    pub base_url: String,
    /// Whether callers need a key.
    pub needs_key: bool,
    /// The program `powerstrip`, for clients that start a process.
    pub program: String,
}

impl Endpoint {
    /// Where MCP over HTTP is served.
    pub fn mcp_url(&self) -> String {
        format!("{}/mcp", self.base_url)
    }
}

/// The format of a client's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// JSON, in which most clients accept comments.
    Json,
    Toml,
}

impl Client {
    pub const ALL: [Self; 8] = [
        Self::ClaudeCode,
        Self::ClaudeDesktop,
        Self::Cursor,
        Self::VsCode,
        Self::Windsurf,
        Self::Zed,
        Self::Codex,
        Self::Gemini,
    ];

    /// The name in commands, such as `claude-code`.
    pub fn id(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::ClaudeDesktop => "claude-desktop",
            Self::Cursor => "cursor",
            Self::VsCode => "vscode",
            Self::Windsurf => "windsurf",
            Self::Zed => "zed",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
        }
    }

    /// The name for people.
    pub fn title(self) -> &'static str {
        match self {
            Self::ClaudeCode => "Claude Code",
            Self::ClaudeDesktop => "Claude Desktop",
            Self::Cursor => "Cursor",
            Self::VsCode => "VS Code",
            Self::Windsurf => "Windsurf",
            Self::Zed => "Zed",
            Self::Codex => "Codex",
            Self::Gemini => "Gemini CLI",
        }
    }

    /// The user's configuration file on Linux; `~` is the home folder.
    pub fn file(self) -> &'static str {
        match self {
            Self::ClaudeCode => "~/.claude.json",
            Self::ClaudeDesktop => "~/.config/Claude/claude_desktop_config.json",
            Self::Cursor => "~/.cursor/mcp.json",
            Self::VsCode => "~/.config/Code/User/mcp.json",
            Self::Windsurf => "~/.codeium/windsurf/mcp_config.json",
            Self::Zed => "~/.config/zed/settings.json",
            Self::Codex => "~/.codex/config.toml",
            Self::Gemini => "~/.gemini/settings.json",
        }
    }

    /// Where the file is on other systems, if not in the same folder of the home folder.
    pub fn file_elsewhere(self) -> Option<&'static str> {
        match self {
            Self::ClaudeDesktop => Some(
                "macOS: ~/Library/Application Support/Claude/claude_desktop_config.json; Windows: \
                 %APPDATA%\\Claude\\claude_desktop_config.json",
            ),
            Self::VsCode => Some(
                "macOS: ~/Library/Application Support/Code/User/mcp.json; for one project: .vscode/mcp.json",
            ),
            Self::ClaudeCode => Some("For one project: .mcp.json"),
            Self::Cursor => Some("For one project: .cursor/mcp.json"),
            Self::Windsurf | Self::Zed | Self::Codex | Self::Gemini => None,
        }
    }

    /// The format of the file.
    pub fn format(self) -> Format {
        if self == Self::Codex { Format::Toml } else { Format::Json }
    }

    /// The key of the file whose value has one entry per server.
    pub fn section(self) -> &'static str {
        match self {
            Self::VsCode => "servers",
            Self::Zed => "context_servers",
            Self::Codex => "mcp_servers",
            _ => "mcpServers",
        }
    }

    /// The entry of the gateway in that section. A key is never part of it, only a reference to `TOKEN_VARIABLE`.
    pub fn entry(self, endpoint: &Endpoint) -> Value {
        let url = endpoint.mcp_url();
        let mut entry = match self {
            Self::ClaudeCode | Self::VsCode => json!({"type": "http", "url": url}),
            Self::Cursor | Self::Zed | Self::Codex => json!({"url": url}),
            Self::Windsurf => json!({"serverUrl": url}),
            Self::Gemini => json!({"httpUrl": url}),
            // It starts a process that passes messages on to the gateway.
            Self::ClaudeDesktop => json!({
                "command": endpoint.program,
                "args": ["stdio", "--url", endpoint.base_url],
            }),
        };
        if endpoint.needs_key {
            let (name, value) = match self {
                Self::Codex => ("bearer_token_env_var", json!(TOKEN_VARIABLE)),
                Self::ClaudeDesktop => ("env", json!({TOKEN_VARIABLE: "YOUR_KEY"})),
                Self::Cursor | Self::VsCode | Self::Windsurf => {
                    ("headers", bearer(&format!("${{env:{TOKEN_VARIABLE}}}")))
                }
                Self::ClaudeCode | Self::Gemini => {
                    ("headers", bearer(&format!("${{{TOKEN_VARIABLE}}}")))
                }
                Self::Zed => ("headers", bearer("YOUR_KEY")),
            };
            entry[name] = value;
        }
        entry
    }

    /// The part of the client's file that connects it to the gateway.
    pub fn snippet(self, endpoint: &Endpoint) -> String {
        let entry = self.entry(endpoint);
        match self.format() {
            Format::Json => {
                let whole = json!({self.section(): {ENTRY: entry}});
                format!("{whole:#}")
            }
            Format::Toml => {
                let fields = entry.as_object().into_iter().flat_map(Map::iter);
                // Strings and lists of strings are written alike in JSON and TOML.
                let lines = fields.map(|(key, value)| format!("\n{key} = {value}"));
                format!("[{}.{ENTRY}]{}", self.section(), lines.collect::<String>())
            }
        }
    }

    /// The client's own command that does the same, if it has one.
    pub fn command(self, endpoint: &Endpoint) -> Option<String> {
        let url = endpoint.mcp_url();
        let header = format!("\"Authorization: Bearer ${TOKEN_VARIABLE}\"");
        let key = |option: &str| {
            if endpoint.needs_key { format!(" {option} {header}") } else { String::new() }
        };
        match self {
            Self::ClaudeCode => Some(format!(
                "claude mcp add --scope user --transport http {ENTRY} {url}{}",
                key("--header")
            )),
            Self::Gemini => {
                Some(format!("gemini mcp add --transport http {ENTRY} {url}{}", key("--header")))
            }
            Self::Codex => {
                let key = if endpoint.needs_key {
                    format!(" --bearer-token-env-var {TOKEN_VARIABLE}")
                } else {
                    String::new()
                };
                Some(format!("codex mcp add {ENTRY} --url {url}{key}"))
            }
            Self::VsCode if !endpoint.needs_key => Some(format!(
                "code --add-mcp '{{\"name\":\"{ENTRY}\",\"type\":\"http\",\"url\":\"{url}\"}}'"
            )),
            _ => None,
        }
    }
}

fn bearer(key: &str) -> Value {
    json!({"Authorization": format!("Bearer {key}")})
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// There is no client of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no client `{0}`; known are claude-code, claude-desktop, cursor, vscode, windsurf, zed, codex and gemini"
)]
pub struct UnknownClient(String);

impl FromStr for Client {
    type Err = UnknownClient;

    fn from_str(text: &str) -> Result<Self, UnknownClient> {
        let found = Self::ALL.into_iter().find(|client| client.id() == text);
        found.ok_or_else(|| UnknownClient(text.to_owned()))
    }
}

#[cfg(test)]
mod tests;
