//! Values that an entry of a registry sets: variables, headers and arguments.

use egress::http::is_framing_header;
use serde_json::{Value, json};

/// The longest value.
const MAX_VALUE: usize = 4096;

/// Checks a text of an entry. Variables in it would be replaced by values of the user's environment, and invisible
/// characters would be missing from what the user is shown.
pub(super) fn check_text(text: &str) -> Result<(), String> {
    let why = if text.contains('$') || text.contains("{env:") {
        "it would take values of your environment (`$`)"
    } else if terminal::shown(text) != text {
        "it contains invisible characters"
    } else if text.len() > MAX_VALUE {
        "it is too long"
    } else {
        return Ok(());
    };
    let shown: String = terminal::shown(text).chars().take(80).collect();
    Err(format!("the registry gives the value `{shown}`, which is refused: {why}"))
}

/// Checks the name of a header that an entry sends.
pub(super) fn check_header(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let for_proxy = name.eq_ignore_ascii_case("proxy-authorization");
    let reserved = for_proxy || is_framing_header(name);
    if name.is_empty() || reserved || !name.chars().all(fits) {
        let shown = terminal::shown(name);
        return Err(format!("the registry sends a header `{shown}`, which is not accepted"));
    }
    Ok(())
}

/// A variable or header: its name and value. A secret, and a required value that is not given, become inputs; an
/// optional one is left out.
pub(super) fn setting(
    row: &Value,
    prefix: &str,
    inputs: &mut Vec<(String, String)>,
) -> Result<Option<(String, String)>, String> {
    let Some(name) = row["name"].as_str().map(str::to_owned) else { return Ok(None) };
    let id = format!("{prefix}{name}");
    let purpose = terminal::shown(row["description"].as_str().unwrap_or(&name));
    let value = row["value"].as_str().or_else(|| row["default"].as_str());
    let is = |key: &str, other: &str| row[key] == json!(true) || row[other] == json!(true);
    let (secret, required) = (is("isSecret", "is_secret"), is("isRequired", "is_required"));
    let template = value.and_then(|value| value.split_once('{'));
    let value = match (value, template) {
        (Some(_), Some((before, _))) if secret || required || !before.is_empty() => {
            check_text(before)?;
            format!("{before}${{input:{id}}}")
        }
        (Some(_), Some(_)) => return Ok(None),
        (Some(value), None) if !secret => {
            check_text(value)?;
            return Ok(Some((name, value.to_owned())));
        }
        _ if required => format!("${{input:{id}}}"),
        _ => return Ok(None),
    };
    inputs.push((id, purpose));
    Ok(Some((name, value)))
}
