//! Looks up servers in an MCP registry that has the API of the official one.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use config::Config;
use egress::http::{
    AddressPolicy, Client, Limits, OwnListeners, Request, Rule, Scope, encode_component,
};
use serde_json::{Map, Value, json};

use crate::Recipe;

/// How many servers a search may find.
const MAX_RESULTS: usize = 50;

/// One server of a registry.
#[derive(Clone, Debug)]
pub struct RegistryServer {
    pub name: String,
    pub about: String,
    definition: Value,
}

/// Searches a registry. Its address is reachable because the user named it; nothing else is.
pub async fn search(
    config: &Config,
    registry: &str,
    word: &str,
) -> anyhow::Result<Vec<RegistryServer>> {
    let rule = Rule::for_url(registry).with_context(|| format!("`{registry}` is no registry"))?;
    let policy = AddressPolicy::new(config.egress.rules(), OwnListeners::default()).allowing(rule);
    let client = Client::new(policy).context("the guarded HTTP client cannot be built")?;
    let base = registry.trim_end_matches('/');
    let base = if base.ends_with("/v0") || base.ends_with("/v0.1") {
        base.to_owned()
    } else {
        format!("{base}/v0")
    };
    let word = encode_component(word);
    let url = format!("{base}/servers?search={word}&limit={MAX_RESULTS}&version=latest");
    let request = Request::get(url);
    let answer = client
        .send(request, &Limits::default(), &Scope::origins([registry]))
        .await
        .with_context(|| format!("the registry {registry} cannot be reached"))?;
    if !answer.status.is_success() {
        bail!("the registry {registry} answered with HTTP {}", answer.status.as_u16());
    }
    let list: Value = serde_json::from_slice(&answer.body)
        .with_context(|| format!("{registry} did not answer as an MCP registry"))?;
    let servers = list["servers"].as_array();
    let servers =
        servers.with_context(|| format!("{registry} did not answer as an MCP registry"))?;
    Ok(servers.iter().filter_map(RegistryServer::read).take(MAX_RESULTS).collect())
}

impl RegistryServer {
    /// Reads a row; rows of old versions and removed servers are passed over.
    fn read(row: &Value) -> Option<Self> {
        let definition = row.get("server").unwrap_or(row);
        let official = &row["_meta"]["io.modelcontextprotocol.registry/official"];
        let status = official["status"].as_str().or_else(|| definition["status"].as_str());
        if official["isLatest"] == json!(false) || status == Some("deleted") {
            return None;
        }
        let text = |key: &str| definition[key].as_str().map(terminal::shown);
        let about = text("description").unwrap_or_default();
        Some(Self { name: text("name")?, about, definition: definition.clone() })
    }

    /// The last part of the name, which can name a server here.
    pub fn short_name(&self) -> &str {
        self.name.rsplit('/').next().unwrap_or(&self.name)
    }

    /// How the server is added: by its URL if it has one, as a package otherwise.
    pub fn recipe(
        &self,
        arguments: &[String],
        given: &BTreeMap<String, String>,
    ) -> Result<Recipe, String> {
        let list = |key: &str| self.definition[key].as_array().cloned().unwrap_or_default();
        let kind = |remote: &Value| {
            let kind = remote["type"].as_str().or_else(|| remote["transport_type"].as_str());
            kind.unwrap_or_default().to_owned()
        };
        let mut remotes = list("remotes");
        remotes.retain(|remote| {
            let url = remote["url"].as_str().unwrap_or_default();
            !url.contains('{') && url.starts_with("http")
        });
        remotes.sort_by_key(|remote| kind(remote) == "sse");
        if let Some(remote) = remotes.first() {
            return Ok(remote_recipe(self.short_name(), remote, &kind(remote)));
        }
        let packages = list("packages");
        let package = packages.iter().find(|package| runner(package).is_some());
        let package = package.ok_or_else(|| {
            format!("`{}` has no URL and no package of npm, PyPI or Docker", self.name)
        })?;
        package_recipe(&self.name, package, arguments, given)
    }
}

fn remote_recipe(name: &str, remote: &Value, kind: &str) -> Recipe {
    let (mut entry, mut inputs) = (Map::new(), Vec::new());
    entry.insert("url".to_owned(), remote["url"].clone());
    if kind == "sse" {
        entry.insert("type".to_owned(), json!("sse"));
    }
    let mut headers = Map::new();
    for header in remote["headers"].as_array().into_iter().flatten() {
        // A header has the same name at many servers, its secret must not.
        if let Some((header, value)) = setting(header, &format!("{name}-"), &mut inputs) {
            headers.insert(header, Value::String(value));
        }
    }
    if !headers.is_empty() {
        entry.insert("headers".to_owned(), Value::Object(headers));
    }
    Recipe { entry, inputs }
}

/// The command that runs a package.
fn runner(package: &Value) -> Option<Vec<String>> {
    let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
    let (name, version) = (text("identifier"), text("version"));
    let kind = package["registryType"].as_str().or_else(|| package["registry_type"].as_str())?;
    let words = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect());
    // A name that begins with a dash would be an option of the runner.
    if name.is_empty() || name.starts_with('-') {
        return None;
    }
    match (kind, version.as_str()) {
        ("npm", "") => words(&["npx", "-y", &name]),
        ("npm", version) => words(&["npx", "-y", &format!("{name}@{version}")]),
        ("pypi", "") => words(&["uvx", &name]),
        ("pypi", version) => words(&["uvx", "--from", &format!("{name}=={version}"), &name]),
        ("oci", _) => words(&["docker", "run", "-i", "--rm"]),
        _ => None,
    }
}

fn package_recipe(
    name: &str,
    package: &Value,
    arguments: &[String],
    given: &BTreeMap<String, String>,
) -> Result<Recipe, String> {
    let command = runner(package).unwrap_or_default();
    let (mut inputs, mut env) = (Vec::new(), Map::new());
    let variables = package["environmentVariables"].as_array();
    let variables = variables.or_else(|| package["environment_variables"].as_array());
    for variable in variables.into_iter().flatten() {
        match setting(variable, "", &mut inputs) {
            Some((key, _)) if given.contains_key(&key) => inputs.retain(|(id, _)| *id != key),
            Some((key, value)) => {
                env.insert(key, Value::String(value));
            }
            None => {}
        }
    }
    let (program, fixed) = command.split_first().ok_or("the package cannot be run")?;
    let mut args = fixed.to_vec();
    if program == "docker" {
        let names = env.keys().chain(given.keys());
        args.extend(names.flat_map(|key| ["-e".to_owned(), key.clone()]));
        let image = package["identifier"].as_str().unwrap_or_default();
        let version = package["version"].as_str();
        args.push(match version {
            Some(version) if !image.contains(':') => format!("{image}:{version}"),
            _ => image.to_owned(),
        });
    }
    let written = package["packageArguments"].as_array();
    let written = written.or_else(|| package["package_arguments"].as_array());
    let mut missing = Vec::new();
    for argument in written.into_iter().flatten() {
        let value = argument["value"].as_str().or_else(|| argument["default"].as_str());
        let option = argument["name"].as_str();
        match value.filter(|value| !value.contains('{')) {
            Some(value) => args.extend(option.into_iter().chain([value]).map(str::to_owned)),
            None if argument["isRequired"] == json!(true) => {
                let hint = option.or_else(|| argument["valueHint"].as_str()).unwrap_or("a value");
                missing.push(terminal::shown(hint));
            }
            None => {}
        }
    }
    if !missing.is_empty() && arguments.is_empty() {
        let missing = missing.join("`, `");
        return Err(format!("`{name}` needs arguments (`{missing}`). Add them with --arg"));
    }
    args.extend(arguments.iter().cloned());
    let mut entry = Map::new();
    entry.insert("command".to_owned(), json!(program));
    entry.insert("args".to_owned(), json!(args));
    if !env.is_empty() {
        entry.insert("env".to_owned(), Value::Object(env));
    }
    Ok(Recipe { entry, inputs })
}

/// A variable or header: its name and value. A secret, and a required value that is not given, become inputs; an
/// optional one is left out.
fn setting(
    row: &Value,
    prefix: &str,
    inputs: &mut Vec<(String, String)>,
) -> Option<(String, String)> {
    let name = row["name"].as_str()?.to_owned();
    let id = format!("{prefix}{name}");
    let purpose = terminal::shown(row["description"].as_str().unwrap_or(&name));
    let value = row["value"].as_str().or_else(|| row["default"].as_str());
    let is = |key: &str, other: &str| row[key] == json!(true) || row[other] == json!(true);
    let (secret, required) = (is("isSecret", "is_secret"), is("isRequired", "is_required"));
    let template = value.and_then(|value| value.split_once('{'));
    match (value, template) {
        (Some(_), Some((before, _))) if secret || required || !before.is_empty() => {
            inputs.push((id.clone(), purpose));
            let value = format!("{before}${{input:{id}}}");
            Some((name, value))
        }
        (Some(_), Some(_)) => None,
        (Some(value), None) if !secret => Some((name, value.to_owned())),
        _ if required => {
            inputs.push((id.clone(), purpose));
            let value = format!("${{input:{id}}}");
            Some((name, value))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
