//! How a new server is added: as its command or URL says, or as the catalog or a registry describes it.

use std::collections::{BTreeMap, BTreeSet};

use config::Config;
use operations::install::NewServer;
use serde_json::{Map, Value, json};

use crate::catalog;
use crate::mcp_registry::{self, Options, RegistryServer};
use crate::{Recipe, quoted};

/// A recipe, and where it is from.
#[derive(Debug)]
pub struct Plan {
    pub recipe: Recipe,
    /// Its name in the registry; none if the entry is the user's own.
    pub registry_name: Option<String>,
}

/// Why a server cannot be added.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The request is wrong.
    #[error("{0}")]
    Invalid(String),
    /// The registry did not answer.
    #[error("{0:#}")]
    Failed(anyhow::Error),
}

/// Checks the name of a new server against those that there are.
pub fn check_name(name: &str, known: &BTreeSet<String>) -> Result<(), PlanError> {
    proto::check_server_name(name).map_err(|why| PlanError::Invalid(why.to_string()))?;
    proto::check_look_alike(name, known.iter().map(String::as_str))
        .map_err(|why| PlanError::Invalid(why.to_string()))
}

/// Makes the recipe of a new server. Asks the registry if the catalog does not have it.
pub async fn plan(new: &NewServer, config: &Config) -> Result<Plan, PlanError> {
    let mut plan = match (new.command.split_first(), &new.url) {
        (Some(_), Some(_)) => {
            return Err(PlanError::Invalid("a server has a URL or a command, not both".to_owned()));
        }
        (Some((program, args)), None) => own(json!({"command": program, "args": args})),
        (None, Some(url)) => {
            check_url(&new.name, url)?;
            own(json!({"url": url}))
        }
        (None, None) => look_up(new, config).await?,
    };
    complete(&mut plan.recipe, new)?;
    Ok(plan)
}

fn own(entry: Value) -> Plan {
    Plan { recipe: Recipe { entry: object(entry), ..Recipe::default() }, registry_name: None }
}

/// Says what to write for a URL without a scheme, and for a command that was taken for a URL.
fn check_url(name: &str, url: &str) -> Result<(), PlanError> {
    if url.contains("://") || url.contains("${") {
        return Ok(());
    }
    Err(PlanError::Invalid(match config::with_scheme(url) {
        Some(url) => format!("a URL begins with its scheme: write `{url}`"),
        None => format!(
            "`{url}` is not a URL; a command goes after `--`: powerstrip add {name} -- {}",
            quoted(url)
        ),
    }))
}

/// Adds the variables, headers and other settings of the request.
fn complete(recipe: &mut Recipe, new: &NewServer) -> Result<(), PlanError> {
    let invalid = |why: &str| PlanError::Invalid(why.to_owned());
    let entry = &mut recipe.entry;
    let program = entry.contains_key("command");
    if !new.env.is_empty() && !program {
        return Err(invalid("variables are for programs (-e); a URL takes headers (-H)"));
    }
    if !new.headers.is_empty() && program {
        return Err(invalid("headers are for URLs (-H); a program takes variables (-e)"));
    }
    for (key, values) in [("env", &new.env), ("headers", &new.headers)] {
        if values.is_empty() {
            continue;
        }
        let section = entry.entry(key).or_insert_with(|| json!({}));
        for (name, value) in values {
            section[name] = json!(value);
            recipe.inputs.retain(|(id, _)| id != name);
        }
    }
    if let Some(transport) = new.transport.as_ref().filter(|transport| *transport != "auto") {
        entry.insert("type".to_owned(), json!(transport));
    }
    if let Some(cwd) = &new.cwd {
        entry.insert("cwd".to_owned(), json!(cwd));
    }
    Ok(())
}

/// Finds a server in the catalog, or else in the registry.
async fn look_up(new: &NewServer, config: &Config) -> Result<Plan, PlanError> {
    let name = new.from.as_deref().unwrap_or(&new.name);
    let listed = catalog::listings();
    if let Some(listing) = listed.iter().find(|listing| listing.name == name) {
        let recipe = listing.recipe(&new.arguments, &new.env).map_err(PlanError::Invalid)?;
        return Ok(Plan { recipe, registry_name: None });
    }
    let registry = new.registry.clone().or_else(|| config.server_registry.clone());
    let Some(registry) = registry else {
        let names: Vec<_> = listed.iter().map(|listing| listing.name.as_str()).collect();
        let near = schema::yaml::nearest(name, names);
        let hint = near.map_or_else(|| ".".to_owned(), |near| format!("; did you mean `{near}`?"));
        return Err(PlanError::Invalid(format!(
            "the catalog has no server `{name}`{hint} See `powerstrip add --list`, or give its command \
             (`powerstrip add {name} -- COMMAND`) or its URL (`powerstrip add {name} URL`)"
        )));
    };
    let found = mcp_registry::search(config, &registry, name).await.map_err(PlanError::Failed)?;
    let server = choose(&found, name, &registry)?;
    let options =
        Options { arguments: &new.arguments, given: &new.env, allow_private: new.allow_private };
    let recipe = server.recipe(&options).map_err(PlanError::Invalid)?;
    Ok(Plan { recipe, registry_name: Some(server.name.clone()) })
}

/// The server of this name, or the only one whose name ends with it.
fn choose<'a>(
    found: &'a [RegistryServer],
    name: &str,
    registry: &str,
) -> Result<&'a RegistryServer, PlanError> {
    if let Some(exact) = found.iter().find(|server| server.name == name) {
        return Ok(exact);
    }
    let short: Vec<_> = found.iter().filter(|server| server.short_name() == name).collect();
    if let [only] = short[..] {
        return Ok(only);
    }
    let all: Vec<_> = if short.is_empty() { found.iter().collect() } else { short };
    let names: Vec<_> = all.iter().take(8).map(|server| format!("`{}`", server.name)).collect();
    Err(PlanError::Invalid(if names.is_empty() {
        format!("neither the catalog nor {registry} has a server `{name}`")
    } else {
        format!("{registry} has several: name one with --from: {}", names.join(", "))
    }))
}

/// The variables and headers that the user gave, whose values are not repeated.
pub fn own_names(new: &NewServer) -> BTreeSet<String> {
    names(&new.env).chain(names(&new.headers)).collect()
}

fn names(values: &BTreeMap<String, String>) -> impl Iterator<Item = String> {
    values.keys().cloned()
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
