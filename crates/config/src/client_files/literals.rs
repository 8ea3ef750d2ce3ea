//! Finds secrets that are written out in client files. A value that is taken for one without being one is stored in
//! the vault, which does no harm; the opposite would put a secret into the config.

use serde_json::{Map, Value};
use url::Url;

/// Parts of names whose values are secrets.
const SECRET_NAMES: [&str; 12] = [
    "KEY",
    "TOKEN",
    "SECRET",
    "PASS",
    "AUTH",
    "CREDENTIAL",
    "COOKIE",
    "PRIVATE",
    "SIGNATURE",
    "PWD",
    "BEARER",
    "DSN",
];

/// How tokens of well-known services begin.
const TOKEN_STARTS: [&str; 21] = [
    "sk-",
    "sk_",
    "pk_",
    "rk_",
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "xoxb-",
    "xoxp-",
    "xapp-",
    "AKIA",
    "AIza",
    "eyJ",
    "hf_",
    "ntn_",
    "npm_",
    "pypi-",
    "tvly-",
];

/// The schemes of headers.
const SCHEMES: [&str; 4] = ["Bearer ", "Basic ", "Token ", "token "];

/// A value of this length or more may be random.
const MIN_RANDOM: usize = 20;

/// Shorter values are no secrets.
const MIN_SECRET: usize = 6;

/// Whether a name says that its value is a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name.ends_with("_PAT") || SECRET_NAMES.iter().any(|part| name.contains(part))
}

/// Whether the value of a variable, header or option is a secret.
pub(super) fn is_secret(name: &str, value: &str) -> bool {
    let value = value.trim();
    let harmless = value.len() < MIN_SECRET
        || value.parse::<f64>().is_ok()
        || ["true", "false", "none", "null"].contains(&value.to_ascii_lowercase().as_str());
    if harmless {
        return false;
    }
    let place = ["/", "./", "../", "~/"].iter().any(|start| value.starts_with(start));
    if is_secret_name(name) {
        let upper = name.to_ascii_uppercase();
        let named_place = ["PATH", "FILE", "DIR"].iter().any(|end| upper.ends_with(end));
        let address = value.starts_with("https://") && !has_secret_part(value);
        let is_harmless = (place && named_place) || (address && upper.ends_with("URL"));
        return !is_harmless;
    }
    !place && looks_secret(value)
}

/// Whether a value of the config file is a secret beyond doubt: its own shape says so, or a whole word of its name.
pub(crate) fn is_written_out(name: &str, value: &str) -> bool {
    const WORDS: [&str; 7] = ["KEY", "APIKEY", "TOKEN", "SECRET", "PASSWORD", "PASS", "PWD"];
    let upper = name.to_ascii_uppercase();
    let is_named = || upper.split(['_', '-']).any(|word| WORDS.contains(&word));
    !value.contains("${") && is_secret(name, value) && (looks_secret(value) || is_named())
}

/// The scheme of a header before its credentials, such as `Bearer `; it is no secret.
pub(crate) fn scheme_of(value: &str) -> &'static str {
    SCHEMES.into_iter().find(|scheme| value.starts_with(scheme)).unwrap_or_default()
}

/// Whether a value is a secret whatever its name.
pub(super) fn looks_secret(value: &str) -> bool {
    if value.contains("://") {
        return has_secret_part(value);
    }
    let bare = value.split_once(' ').map_or(value, |(_, credentials)| credentials);
    !scheme_of(value).is_empty()
        || TOKEN_STARTS.iter().any(|start| bare.starts_with(start) && bare.len() >= MIN_RANDOM)
        || is_random(bare)
}

/// Letters and digits without structure, as in generated keys.
fn is_random(value: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '=' | '+');
    let digits = value.chars().filter(char::is_ascii_digit).count();
    let alphabetic = value.chars().filter(char::is_ascii_alphabetic).count();
    let words = value.split(['-', '_']).all(|word| {
        word.chars().all(|c| c.is_ascii_lowercase()) || word.chars().all(|c| c.is_ascii_digit())
    });
    value.len() >= MIN_RANDOM && value.chars().all(fits) && digits >= 3 && alphabetic >= 3 && !words
}

/// Whether a URL contains a password, or a secret in its path or query.
fn has_secret_part(text: &str) -> bool {
    let Ok(url) = text.parse::<Url>() else { return false };
    url.password().is_some()
        || url.query_pairs().any(|(name, value)| is_secret(&name, &value))
        || url.path_segments().is_some_and(|mut parts| parts.any(is_random))
}

/// Whether the text before a variable contains a secret of its own, as a URL with a password does.
pub(super) fn is_secret_before_variable(text: &str) -> bool {
    let Some((before, rest)) = text.split_once("://") else { return false };
    if rest.contains(['/', '?', '#']) {
        let scheme = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        return has_secret_part(&format!("{scheme}://{rest}"));
    }
    // The variable is the host, or a part of it.
    let user = rest.rsplit_once('@').and_then(|(user, _)| user.split_once(':'));
    user.is_some_and(|(_, password)| !password.is_empty())
}

/// The length of the text before the secret in an argument, if it has one; `before` is the argument before it.
pub(crate) fn secret_in_argument(before: Option<&str>, argument: &str) -> Option<usize> {
    let is_option = |text: &str| text.starts_with('-');
    for separator in ['=', ':'] {
        if let Some((name, value)) = argument.split_once(separator)
            && !value.starts_with("//")
            && is_secret_name(name)
            && is_secret(name, value)
        {
            let value_start = argument.len() - value.trim_start().len();
            // The text before it stays in the config, so it must not be a secret, too.
            return Some(if looks_secret(name) { 0 } else { value_start });
        }
    }
    if let Some((name, value)) = argument.split_once('=')
        && !name.contains("://")
        && !looks_secret(name)
        && looks_secret(value)
    {
        return Some(name.len() + 1);
    }
    if let Some(option) = before
        && is_option(option)
        && !option.contains('=')
        && !is_option(argument)
        && is_secret_name(option)
        && is_secret(option, argument)
    {
        return Some(0);
    }
    (!is_option(argument) && looks_secret(argument)).then_some(0)
}

/// The name of the option, variable or header that a secret in an argument belongs to: `api-key` for `--api-key=…`. `own`
/// is the text before the secret, `before` the argument before it. None where that may be a value, which is not repeated.
pub(super) fn option_name<'a>(before: Option<&'a str>, own: &'a str) -> Option<&'a str> {
    let name = if own.is_empty() {
        let option = before?;
        // In `-pVALUE` the value follows a short option at once.
        let short = || option.strip_prefix('-').filter(|letter| letter.len() == 1);
        option.strip_prefix("--").or_else(short)?
    } else {
        let own = own.trim_end().trim_end_matches(['=', ':']);
        own.rsplit(['=', ':', ' ', '?', '&', '/']).next()?
    };
    let name = name.trim_matches('-');
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    (!name.is_empty() && name.chars().all(fits) && !looks_secret(name)).then_some(name)
}

/// Whether a document, of a client or the config, contains a secret that is written out.
pub(crate) fn contains_secret(document: &Value) -> bool {
    match document {
        Value::Object(map) if is_reference(map) => false,
        Value::Object(map) => map.iter().any(|(key, value)| match value {
            Value::String(text) => {
                let address = text.starts_with("http") && !looks_secret(text);
                !text.contains("${") && !address && is_secret(key, text)
            }
            value => contains_secret(value),
        }),
        Value::Array(items) => items.iter().enumerate().any(|(at, item)| match item {
            Value::String(text) => {
                let before = at.checked_sub(1).and_then(|before| items[before].as_str());
                !text.contains("${") && secret_in_argument(before, text).is_some()
            }
            item => contains_secret(item),
        }),
        _ => false,
    }
}

/// Whether a mapping names a secret instead of containing it: `{secret: NAME}`.
fn is_reference(map: &Map<String, Value>) -> bool {
    const KEYS: [&str; 5] = ["env", "file", "secret", "per", "prefix"];
    let names = |key: &&str| map.get(*key).is_some_and(Value::is_string);
    KEYS[..3].iter().any(names) && map.keys().all(|key| KEYS.contains(&key.as_str()))
}

#[cfg(test)]
mod tests;
