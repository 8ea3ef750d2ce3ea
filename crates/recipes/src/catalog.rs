//! The catalog of well-known MCP servers that ships with the program.

use std::collections::BTreeMap;

use schema::yaml::{self, Limits};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{Recipe, bundled};

const SERVERS: &str = include_str!("catalog/servers.yaml");

const LIMITS: Limits = Limits { max_bytes: 1 << 20, merge_keys: false, custom_tags: false };

/// One server of the catalog.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Listing {
    pub name: String,
    pub about: String,
    /// The program and its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// What has to be added to the command, if anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<String>,
    /// Variables that are no secrets, and what they are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Variables that hold secrets, and what they are.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub secrets: BTreeMap<String, String>,
    /// The secret that is sent as a bearer token, and what it is.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub bearer: BTreeMap<String, String>,
    /// Whether it is one of our own capability servers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub bundled: bool,
    /// Whether it is started with the gateway, because it works between calls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub eager: bool,
    /// The flag that lets it download from the gateway's address, where links to files lead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gateway_flag: Option<String>,
    /// Empty for our own.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub homepage: String,
    pub license: String,
}

/// All servers of the catalog, our own first.
pub fn listings() -> Vec<Listing> {
    // A test reads the file, so that a mistake in it cannot ship.
    let mut listed: Vec<Listing> = yaml::parse(SERVERS, LIMITS).unwrap_or_default();
    listed.sort_by_key(|listing| !listing.bundled);
    listed
}

/// Our own capability servers.
pub fn bundled() -> Vec<Listing> {
    listings().into_iter().filter(|listing| listing.bundled).collect()
}

/// The servers whose name or description contains a word.
pub fn search(word: &str) -> Vec<Listing> {
    let word = word.to_lowercase();
    let matches = |listing: &Listing| {
        listing.name.contains(&word) || listing.about.to_lowercase().contains(&word)
    };
    listings().into_iter().filter(matches).collect()
}

impl Listing {
    /// How the server is added. `arguments` and `given` are what the user adds to it.
    pub fn recipe(
        &self,
        arguments: &[String],
        given: &BTreeMap<String, String>,
    ) -> Result<Recipe, String> {
        let name = &self.name;
        if let Some(what) = self.arguments.as_ref().filter(|_| arguments.is_empty()) {
            return Err(format!("`{name}` needs arguments: {what}. Add them with --arg"));
        }
        for (variable, what) in &self.env {
            if !given.contains_key(variable) {
                return Err(format!(
                    "`{name}` needs `{variable}`, {what}: add -e {variable}=VALUE"
                ));
            }
        }
        let mut entry = Map::new();
        if let Some((program, fixed)) = self.command.split_first() {
            let program = if self.bundled { installed_program(name)? } else { program.clone() };
            entry.insert("command".to_owned(), json!(program));
            let all: Vec<_> = fixed.iter().chain(arguments).collect();
            entry.insert("args".to_owned(), json!(all));
        }
        if let Some(url) = &self.url {
            entry.insert("url".to_owned(), json!(url));
        }
        if let Some(transport) = &self.transport {
            entry.insert("type".to_owned(), json!(transport));
        }
        let env: Map<_, _> = self.secrets.keys().map(|key| (key.clone(), input(key))).collect();
        if !env.is_empty() {
            entry.insert("env".to_owned(), Value::Object(env));
        }
        for key in self.bearer.keys() {
            let value = format!("Bearer ${{input:{key}}}");
            entry.insert("headers".to_owned(), json!({"Authorization": value}));
        }
        let inputs = self.secrets.iter().chain(&self.bearer);
        let inputs = inputs.map(|(key, what)| (key.clone(), what.clone())).collect();
        Ok(Recipe {
            entry,
            inputs,
            bundled: self.bundled,
            eager: self.eager,
            gateway_flag: self.gateway_flag.clone(),
            ..Recipe::default()
        })
    }

    /// How the server is started or reached, on one line.
    pub fn target(&self) -> String {
        self.url.clone().unwrap_or_else(|| self.command.join(" "))
    }
}

/// How our own server is started; the error says how it is installed.
fn installed_program(name: &str) -> Result<String, String> {
    bundled::locate(name)
        .ok_or_else(|| format!("`{name}` is not installed: {}", bundled::HOW_TO_INSTALL))
}

fn input(key: &str) -> Value {
    Value::String(format!("${{input:{key}}}"))
}

#[cfg(test)]
mod tests;
