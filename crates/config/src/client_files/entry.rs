//! One server as the various clients write it.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Keys that mean nothing to the gateway and are left out without a note.
const IGNORED: [&str; 17] = [
    "type",
    "transport",
    "name",
    "description",
    "title",
    "gallery",
    "version",
    "source",
    "icon",
    "dev",
    "settings",
    "oauth",
    "auth",
    "instructions",
    "startup_timeout_sec",
    "startup_timeout_ms",
    "required",
];

/// Keys about approvals, which are a matter of skills here.
const APPROVALS: [&str; 5] = [
    "autoApprove",
    "alwaysAllow",
    "trust",
    "default_tools_approval_mode",
    "supports_parallel_tool_calls",
];

/// How a server is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Transport {
    #[default]
    Auto,
    Streamable,
    Sse,
}

/// One server, with variables as they are written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Entry {
    pub(super) command: Option<String>,
    pub(super) args: Vec<String>,
    pub(super) env: BTreeMap<String, String>,
    /// A file of further variables, as VS Code and Cursor write it.
    pub(super) env_file: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) url: Option<String>,
    pub(super) transport: Transport,
    pub(super) headers: BTreeMap<String, String>,
    pub(super) disabled: bool,
    pub(super) timeout_secs: Option<u64>,
    pub(super) only: Vec<String>,
    pub(super) except: Vec<String>,
    /// What was left out, without the server's name.
    pub(super) notes: Vec<String>,
}

impl Entry {
    /// Reads an entry; the error says what is wrong with it.
    pub(super) fn read(entry: &Value) -> Result<Self, String> {
        let Value::Object(keys) = entry else {
            return Err("expected keys and values".to_owned());
        };
        let mut read = Self::default();
        let kind = text_of(keys, "type")?.or(text_of(keys, "transport")?);
        read.set_kind(kind.as_deref())?;
        let mut bearer = None;
        for (key, value) in keys {
            if value.is_null() {
                continue;
            }
            match key.as_str() {
                "command" => read.set_command(value)?,
                "args" => read.args.extend(texts(key, value)?),
                "env" | "environment" => read.env.extend(pairs(key, value)?),
                "env_vars" => read.forward_variables(value)?,
                "envFile" => read.env_file = Some(text(key, value)?),
                "cwd" | "workingDirectory" => read.cwd = Some(text(key, value)?),
                "url" | "serverUrl" | "httpUrl" | "endpoint" => read.url = Some(text(key, value)?),
                "headers" | "http_headers" => read.headers.extend(pairs(key, value)?),
                "env_http_headers" => {
                    let headers = pairs(key, value)?.into_iter();
                    read.headers.extend(headers.map(|(name, env)| (name, format!("${{{env}}}"))));
                }
                "bearer_token_env_var" => bearer = Some(text(key, value)?),
                "disabled" => read.disabled |= flag(key, value)?,
                "enabled" => read.disabled |= !flag(key, value)?,
                "tool_timeout_sec" => read.timeout_secs = value.as_f64().map(whole_seconds),
                "timeout" => read.timeout_secs = value.as_f64().map(seconds),
                "includeTools" | "enabled_tools" => read.only.extend(texts(key, value)?),
                "excludeTools" | "disabled_tools" | "disabledTools" => {
                    read.except.extend(texts(key, value)?);
                }
                "tools" => {
                    let tools = texts(key, value)?;
                    if tools != ["*"] {
                        read.only.extend(tools);
                    }
                }
                key if IGNORED.contains(&key) => {}
                key if APPROVALS.contains(&key) => read.notes.push(format!(
                    "`{key}` is left out: `auto_approve` of a skill decides about approvals here"
                )),
                key => read.notes.push(format!("`{key}` is left out")),
            }
        }
        if let Some(env) = bearer {
            read.headers.entry("Authorization".to_owned()).or_insert(format!("Bearer ${{{env}}}"));
        }
        read.check()
    }

    fn set_kind(&mut self, kind: Option<&str>) -> Result<(), String> {
        let kind = kind.map(|kind| kind.to_ascii_lowercase().replace(['-', '_'], ""));
        self.transport = match kind.as_deref() {
            None | Some("" | "stdio" | "local" | "remote" | "custom" | "extension") => {
                Transport::Auto
            }
            Some("http" | "streamable" | "streamablehttp") => Transport::Streamable,
            Some("sse") => Transport::Sse,
            Some(other) => {
                return Err(format!(
                    "the transport `{other}` is not supported; stdio, http and sse are"
                ));
            }
        };
        Ok(())
    }

    /// A program, or a whole command line as a list, as a text, or in an object.
    fn set_command(&mut self, value: &Value) -> Result<(), String> {
        match value {
            Value::String(command) => self.command = Some(command.trim().to_owned()),
            Value::Array(_) => {
                let mut words = texts("command", value)?.into_iter();
                self.command = words.next();
                self.args.splice(0..0, words);
            }
            Value::Object(keys) => {
                self.command = text_of(keys, "path")?;
                for (key, value) in keys {
                    match key.as_str() {
                        "args" => self.args.extend(texts(key, value)?),
                        "env" if !value.is_null() => self.env.extend(pairs(key, value)?),
                        _ => {}
                    }
                }
            }
            _ => return Err("`command` is not text".to_owned()),
        }
        Ok(())
    }

    /// Variables that are passed on under their own names.
    fn forward_variables(&mut self, value: &Value) -> Result<(), String> {
        let Value::Array(items) = value else { return Err("`env_vars` is not a list".to_owned()) };
        for item in items {
            let name = item.as_str().or_else(|| item["name"].as_str());
            let name = name.ok_or("`env_vars` is not a list of names")?;
            self.env.entry(name.to_owned()).or_insert(format!("${{{name}}}"));
        }
        Ok(())
    }

    fn check(mut self) -> Result<Self, String> {
        match (&self.command, &self.url) {
            (Some(_), Some(_)) => {
                return Err("has a command and a URL; remove one of them".to_owned());
            }
            (None, None) => return Err("has neither a command nor a URL".to_owned()),
            _ => {}
        }
        // Some clients run the command line in a shell, and their users write it in one piece.
        if let Some(command) = &self.command
            && self.args.is_empty()
            && command.contains(' ')
            && !command.contains(['"', '\'', '\\'])
            && !std::path::Path::new(command).exists()
        {
            let mut words = command.split_whitespace().map(str::to_owned);
            let program = words.next();
            self.args = words.collect();
            self.command = program;
        }
        Ok(self)
    }
}

fn text(key: &str, value: &Value) -> Result<String, String> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Number(number) => Ok(number.to_string()),
        Value::Bool(value) => Ok(value.to_string()),
        _ => Err(format!("`{key}` is not text")),
    }
}

fn text_of(keys: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    keys.get(key).filter(|value| !value.is_null()).map(|value| text(key, value)).transpose()
}

fn texts(key: &str, value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::Array(items) => items.iter().map(|item| text(key, item)).collect(),
        _ => Err(format!("`{key}` is not a list")),
    }
}

fn pairs(key: &str, value: &Value) -> Result<BTreeMap<String, String>, String> {
    let Value::Object(pairs) = value else { return Err(format!("`{key}` is not an object")) };
    let set = pairs.iter().filter(|(_, value)| !value.is_null());
    set.map(|(name, value)| Ok((name.clone(), text(&format!("{key}.{name}"), value)?))).collect()
}

fn flag(key: &str, value: &Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| format!("`{key}` is not true or false"))
}

/// Gemini writes milliseconds, Cline seconds.
fn seconds(number: f64) -> u64 {
    whole_seconds(if number >= 1000.0 { number / 1000.0 } else { number })
}

fn whole_seconds(number: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
    let seconds = number.ceil().clamp(1.0, 86_400.0) as u64;
    seconds
}
