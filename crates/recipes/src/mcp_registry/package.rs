//! A server that a registry lists as a package.

use serde_json::{Map, Value, json};

use super::settings::{check_text, setting};
use super::variables::{check_argument, check_name, points_to};
use super::{Options, names};
use crate::Recipe;

/// The most variables and arguments of an entry.
const MAX_SETTINGS: usize = 200;

/// How a package is run.
enum Runner {
    Npx,
    Uvx,
    Docker,
}

impl Runner {
    fn of(package: &Value) -> Option<Self> {
        match either(package, "registryType", "registry_type").as_str()? {
            "npm" => Some(Self::Npx),
            "pypi" => Some(Self::Uvx),
            "oci" => Some(Self::Docker),
            _ => None,
        }
    }
}

pub(super) fn is_supported(package: &Value) -> bool {
    Runner::of(package).is_some()
}

/// A value under its present name or its older one.
fn either<'a>(row: &'a Value, key: &str, older: &str) -> &'a Value {
    if row[key].is_null() { &row[older] } else { &row[key] }
}

fn items<'a>(row: &'a Value, key: &str, older: &str) -> impl Iterator<Item = &'a Value> {
    either(row, key, older).as_array().into_iter().flatten()
}

pub(super) fn recipe(name: &str, package: &Value, options: &Options<'_>) -> Result<Recipe, String> {
    let (mut recipe, mut warnings) = (Recipe::default(), Vec::new());
    let mut env = Map::new();
    check_count(package)?;
    for variable in items(package, "environmentVariables", "environment_variables") {
        let given = variable["name"].as_str().is_some_and(|name| options.given.contains_key(name));
        if given {
            continue;
        }
        if let Some((key, value)) = setting(variable, "", &mut recipe.inputs)? {
            check_name(&key)?;
            if let Some(host) = points_to(&key, &value) {
                warnings.push(format!("warning: points {key} to {host}"));
            }
            env.insert(key, Value::String(value));
        }
    }
    let (program, mut args) = command(package, &env, options)?;
    args.extend(package_arguments(name, package, options)?);
    args.extend(options.arguments.iter().cloned());
    recipe.entry.insert("command".to_owned(), json!(program));
    recipe.entry.insert("args".to_owned(), json!(args));
    if !env.is_empty() {
        recipe.entry.insert("env".to_owned(), Value::Object(env));
    }
    recipe.notes = warnings;
    recipe.notes.extend(unused(package, program));
    Ok(recipe)
}

/// Refuses an entry that is too long to be reviewed.
fn check_count(package: &Value) -> Result<(), String> {
    let variables = items(package, "environmentVariables", "environment_variables").count();
    let arguments = items(package, "packageArguments", "package_arguments").count();
    if variables.max(arguments) > MAX_SETTINGS {
        return Err(format!(
            "the registry sets {variables} variables and {arguments} arguments; more than {MAX_SETTINGS} are refused"
        ));
    }
    Ok(())
}

/// The program that runs the package, and its own arguments.
fn command(
    package: &Value,
    env: &Map<String, Value>,
    options: &Options<'_>,
) -> Result<(&'static str, Vec<String>), String> {
    let text = |key: &str| package[key].as_str().unwrap_or_default();
    let (name, version) = (text("identifier"), text("version"));
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    match Runner::of(package) {
        Some(Runner::Npx) => Ok(("npx", words(&["-y", &names::npm(name, version)?]))),
        Some(Runner::Uvx) => {
            let requirement = names::pypi(name, version)?;
            let from: &[&str] = if version.is_empty() { &[] } else { &["--from", &requirement] };
            Ok(("uvx", words(&[from, &[name]].concat())))
        }
        Some(Runner::Docker) => {
            let image = names::oci(name, version, options.allow_private)?;
            let mut args = words(&["run", "-i", "--rm"]);
            let variables = env.keys().chain(options.given.keys());
            args.extend(variables.flat_map(|key| ["-e".to_owned(), key.clone()]));
            args.push(image);
            Ok(("docker", args))
        }
        None => Err("the package cannot be run".to_owned()),
    }
}

/// The arguments that the program of the package gets.
fn package_arguments(
    name: &str,
    package: &Value,
    options: &Options<'_>,
) -> Result<Vec<String>, String> {
    let (mut args, mut missing) = (Vec::new(), Vec::new());
    for argument in items(package, "packageArguments", "package_arguments") {
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
    for argument in &args {
        check_text(argument)?;
        check_argument(argument)?;
    }
    if !missing.is_empty() && options.arguments.is_empty() {
        let missing = missing.join("`, `");
        return Err(format!("`{name}` needs arguments (`{missing}`). Add them with --arg"));
    }
    Ok(args)
}

/// What the entry says about how the package is run, and is not followed.
fn unused(package: &Value, program: &str) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(registry) = either(package, "registryBaseUrl", "registry_base_url").as_str() {
        notes.push(format!(
            "the entry says that the package is at {}; {program} fetches it from where your own settings say",
            terminal::shown(registry)
        ));
    }
    let hint = either(package, "runtimeHint", "runtime_hint").as_str();
    if let Some(hint) = hint.filter(|hint| *hint != program) {
        let hint = terminal::shown(hint);
        notes.push(format!("left out: the entry names {hint} as its program; {program} runs it"));
    }
    if let Some(url) = package["transport"]["url"].as_str() {
        let url = terminal::shown(url);
        notes.push(format!("left out: the entry says that the server listens at {url}; it is used by its input and output"));
    }
    for argument in items(package, "packageArguments", "package_arguments") {
        let value = argument["value"].as_str().or_else(|| argument["default"].as_str());
        if let Some(value) = value.filter(|value| value.contains('{')) {
            let words = argument["name"].as_str().into_iter().chain([value]);
            let shown = words.map(terminal::shown).collect::<Vec<_>>().join(" ");
            notes.push(format!(
                "left out: the argument `{shown}`, whose value is open; add it with --arg"
            ));
        }
    }
    let arguments = items(package, "runtimeArguments", "runtime_arguments").flat_map(|argument| {
        let words = [&argument["name"], &argument["value"]];
        words.into_iter().filter_map(Value::as_str).map(terminal::shown)
    });
    let arguments: Vec<_> = arguments.collect();
    if !arguments.is_empty() {
        notes.push(format!(
            "left out: the entry gives {program} the arguments `{}`",
            arguments.join(" ")
        ));
    }
    notes
}
