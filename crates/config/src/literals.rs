//! Finds settings of servers that are most likely mistakes: `${NAME}`, which other programs replace by a variable, and
//! secrets that are written out.

use crate::client_files::{is_written_out, scheme_of, secret_in_argument, secret_name};
use crate::fault::{Fault, Locator};
use crate::secret::HeaderSource;
use crate::settings::Config;

/// Warns about each setting of a server that looks like a variable or like a secret.
pub(crate) fn find(config: &Config, locator: Locator<'_>) -> Vec<Fault> {
    let mut found = find_variables(config, locator);
    found.extend(find_secrets(config, locator));
    found
}

/// Warns about secrets that the file contains. Files of clients, which `--mcp-json` names, usually do.
fn find_secrets(config: &Config, locator: Locator<'_>) -> Vec<Fault> {
    let written = locator.tree.and_then(|tree| tree.get("servers"));
    let mut found = Vec::new();
    for (name, server) in &config.servers {
        if written.and_then(|servers| servers.get(name)).is_none() {
            continue;
        }
        for (section, values) in [("env", &server.env), ("headers", &server.headers)] {
            for (key, text) in values.iter().filter_map(|(key, value)| Some((key, plain(value)?))) {
                if is_written_out(key, text) {
                    let secret = secret_name(&format!("{name}_{key}"));
                    let path = ["servers", name, section, key];
                    found.push(locator.fault(&path, advice_for_secret(&secret, scheme_of(text))));
                }
            }
        }
        let args: Vec<_> = server.args.iter().map(|arg| plain(arg).unwrap_or_default()).collect();
        for (at, text) in args.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| args[before]);
            if !text.contains("${") && secret_in_argument(before, text).is_some() {
                let index = at.to_string();
                let path = ["servers", name, "args", &index];
                let secret = secret_name(&format!("{name}_argument"));
                found.push(locator.fault(&path, advice_for_secret(&secret, "")));
            }
        }
        if server.url.as_ref().and_then(plain).is_some_and(|url| is_written_out("url", url)) {
            let secret = secret_name(&format!("{name}_url"));
            found.push(locator.fault(&["servers", name, "url"], advice_for_secret(&secret, "")));
        }
    }
    found
}

/// Never contains the value.
fn advice_for_secret(secret: &str, prefix: &str) -> String {
    let prefix = if prefix.is_empty() { String::new() } else { format!(", prefix: \"{prefix}\"") };
    format!(
        "looks like a secret, which everyone who can read this file learns: store it with `powerstrip secret set \
         {secret}`, and write `{{secret: {secret}{prefix}}}` here"
    )
}

fn find_variables(config: &Config, locator: Locator<'_>) -> Vec<Fault> {
    let mut found = Vec::new();
    for (name, server) in &config.servers {
        for (section, values) in [("env", &server.env), ("headers", &server.headers)] {
            for (key, value) in values {
                let HeaderSource::Plain(text) = value else { continue };
                if let Some(variable) = Variable::find(text) {
                    let path = ["servers", name, section, key];
                    found.push(locator.fault(&path, variable.advice_for_value()));
                }
            }
        }
        let args = server.args.iter().filter_map(plain).map(|text| ("args", text));
        let command = server.command.iter().map(|text| ("command", text.as_str()));
        let url = server.url.iter().filter_map(plain).map(|text| ("url", text));
        let urls = server.urls.iter().map(|text| ("urls", text.as_str()));
        let base = server.base_url.iter().map(|text| ("base_url", text.as_str()));
        let document = server.document.iter().map(|text| ("document", text.as_str()));
        for (key, text) in args.chain(command).chain(url).chain(urls).chain(base).chain(document) {
            if let Some(variable) = Variable::find(text) {
                found.push(locator.fault(&["servers", name, key], variable.advice_for(key)));
            }
        }
    }
    found
}

fn plain(value: &HeaderSource) -> Option<&str> {
    match value {
        HeaderSource::Plain(text) => Some(text),
        HeaderSource::Secret(_) | HeaderSource::Prefixed { .. } => None,
    }
}

/// `${NAME}` in a text. The text around it is not shown: it may hold a secret.
struct Variable<'a> {
    written: &'a str,
    name: &'a str,
    before: &'a str,
    after: &'a str,
}

impl<'a> Variable<'a> {
    fn find(text: &'a str) -> Option<Self> {
        let start = text.find("${")?;
        let end = start + text[start..].find('}')?;
        let inner = &text[start + 2..end];
        let inner = inner.strip_prefix("env:").unwrap_or(inner);
        let name = inner.split(":-").next().unwrap_or(inner);
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        // A default could be a secret.
        let written = if inner.contains(":-") { "${…}" } else { &text[start..=end] };
        is_name.then_some(Self { written, name, before: &text[..start], after: &text[end + 1..] })
    }

    fn advice_for_value(&self) -> String {
        let Self { written, name, .. } = self;
        let as_written = format!("`{written}` is passed on as it is written");
        // Only well-known words are repeated.
        let known = ["Bearer ", "bearer ", "Basic ", "Token ", "token "];
        match (self.before, self.after) {
            ("", "") => format!("{as_written}: write `{{env: {name}}}` for the variable's value"),
            (before, "") if known.contains(&before) => format!(
                "{as_written}: write `{{env: {name}, prefix: \"{before}\"}}` for the variable's value"
            ),
            (_, "") => format!(
                "{as_written}: write `{{env: {name}, prefix: …}}` for a text followed by the variable's value"
            ),
            _ => format!(
                "{as_written}: put the whole text into a variable, and write `{{env: NAME}}` here"
            ),
        }
    }

    fn advice_for(&self, key: &str) -> String {
        let Self { written, name, .. } = self;
        let instead = match key {
            "args" | "command" => format!(
                "write the value itself, or pass it as a variable with `env: {{{name}: {{env: {name}}}}}`"
            ),
            _ => "write the value itself; a secret belongs into `headers`".to_owned(),
        };
        format!(
            "`{written}` is passed on as it is written, variables are not expanded here: {instead}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_advice_says_what_to_write() {
        let advice = |text| Variable::find(text).map(|variable| variable.advice_for_value());
        assert!(advice("${TOKEN}").unwrap().contains("write `{env: TOKEN}`"));
        assert!(advice("${env:TOKEN}").unwrap().contains("write `{env: TOKEN}`"));
        let bearer = advice("Bearer ${TOKEN}").unwrap();
        assert!(bearer.contains("`{env: TOKEN, prefix: \"Bearer \"}`"), "{bearer}");
        for text in ["s3cret${A}", "${A:-s3cret}", "s3cret ${A} s3cret"] {
            let shown = advice(text).unwrap();
            assert!(!shown.contains("s3cret"), "{shown}");
        }
        for text in ["", "$5", "${", "{A}", "${}", "a$b", "${1}", "${a b}"] {
            assert_eq!(advice(text), None, "{text}");
        }
    }
}
