//! The configuration as it is shown to people: without the secrets that were written into it.

use proto::MASK;
use url::Url;

use crate::secret::HeaderSource;
use crate::servers::Server;
use crate::settings::Config;

/// Variables and headers whose values are shown.
const HARMLESS: [&str; 32] = [
    "ACCEPT",
    "ACCEPT_LANGUAGE",
    "AWS_DEFAULT_REGION",
    "AWS_REGION",
    "CONTENT_TYPE",
    "DEBUG",
    "ENVIRONMENT",
    "FORCE_COLOR",
    "HOME",
    "HOST",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "LOGLEVEL",
    "LOG_FORMAT",
    "LOG_LEVEL",
    "MODE",
    "NODE_ENV",
    "NO_COLOR",
    "PATH",
    "PORT",
    "PYTHONIOENCODING",
    "PYTHONPATH",
    "PYTHONUNBUFFERED",
    "REGION",
    "RUST_BACKTRACE",
    "RUST_LOG",
    "TERM",
    "TIMEZONE",
    "TMPDIR",
    "TZ",
    "USER_AGENT",
];

/// Parts of names of parameters and flags whose values are secrets.
const SECRET_PARTS: [&str; 12] = [
    "KEY",
    "TOKEN",
    "SECRET",
    "PASS",
    "PWD",
    "CREDENTIAL",
    "AUTH",
    "SIG",
    "COOKIE",
    "PRIVATE",
    "SESSION",
    "CODE",
];

impl Config {
    /// The configuration with literal values of `env`, `headers` and `auth`, and secrets in URLs and arguments, masked.
    /// References such as `{env: NAME}` stay.
    pub fn masked(&self) -> Self {
        let mut masked = self.clone();
        for server in masked.servers.values_mut() {
            mask_server(server);
        }
        if let Some(otlp) = &mut masked.telemetry.otlp {
            mask_url(&mut otlp.endpoint);
            otlp.headers.iter_mut().for_each(|(name, value)| mask_value(name, value));
        }
        if let Some(auth) = &mut masked.auth {
            let urls = [&mut auth.issuer, &mut auth.jwks_uri];
            urls.into_iter().flatten().for_each(mask_url);
            if let Some(introspection) = &mut auth.introspection {
                mask_url(&mut introspection.url);
                mask_value("client_secret", &mut introspection.client_secret);
            }
        }
        if let Some(webhook) = &mut masked.approvals.webhook {
            // Services such as chats put their token into the path.
            mask_path(&mut webhook.url);
        }
        if let Some(HeaderSource::Plain(url)) = &mut masked.storage.database {
            mask_url(url);
        }
        masked.public_url.as_mut().into_iter().for_each(mask_url);
        masked
    }
}

fn mask_server(server: &mut Server) {
    let values = server.env.iter_mut().chain(&mut server.headers);
    values.for_each(|(name, value)| mask_value(name, value));
    let single = [&mut server.base_url, &mut server.document];
    single.into_iter().flatten().chain(&mut server.urls).for_each(mask_url);
    if let Some(HeaderSource::Plain(url)) = &mut server.url {
        mask_url(url);
    }
    let mut after_flag = false;
    for argument in &mut server.args {
        let HeaderSource::Plain(argument) = argument else {
            after_flag = false;
            continue;
        };
        let is_flag = argument.starts_with('-');
        if after_flag && !is_flag {
            *argument = MASK.to_owned();
            after_flag = false;
            continue;
        }
        after_flag = false;
        match argument.split_once('=') {
            Some((name, _)) if is_secret(name) => *argument = format!("{name}={MASK}"),
            Some(_) => mask_url(argument),
            None if is_flag => after_flag = is_secret(argument),
            None => mask_url(argument),
        }
    }
    if let Some(auth) = &mut server.auth {
        let urls = [&mut auth.issuer, &mut auth.redirect_uri];
        urls.into_iter().flatten().for_each(mask_url);
    }
}

fn mask_value(name: &str, value: &mut HeaderSource) {
    let name = name.to_ascii_uppercase().replace('-', "_");
    match value {
        HeaderSource::Plain(text) if HARMLESS.contains(&name.as_str()) => mask_url(text),
        HeaderSource::Plain(text) => MASK.clone_into(text),
        HeaderSource::Secret(_) | HeaderSource::Prefixed { .. } => {}
    }
}

fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET_PARTS.iter().any(|part| name.contains(part))
}

/// Masks the user and password of a URL, and values of its query that look like secrets. Text that is no URL stays.
fn mask_url(text: &mut String) {
    if !text.contains("://") {
        return;
    }
    let Ok(mut url) = Url::parse(text) else { return };
    let mut changed = false;
    if !url.username().is_empty() || url.password().is_some() {
        let user = url.set_username(MASK).and_then(|()| url.set_password(None));
        if user.is_err() {
            MASK.clone_into(text);
            return;
        }
        changed = true;
    }
    let pairs: Vec<_> = url.query_pairs().into_owned().collect();
    let secret = |name: &str, value: &str| is_secret(name) || looks_random(value);
    if pairs.iter().any(|(name, value)| secret(name, value)) {
        let masked = pairs.iter().map(|(name, value)| {
            let shown = if secret(name, value) { MASK } else { value.as_str() };
            (name.as_str(), shown)
        });
        url.query_pairs_mut().clear().extend_pairs(masked);
        changed = true;
    }
    if changed {
        *text = url.to_string();
    }
}

/// Masks everything behind the host.
fn mask_path(text: &mut String) {
    mask_url(text);
    if let Ok(mut url) = Url::parse(text)
        && url.path().len() > 1
    {
        url.set_path(&format!("/{MASK}"));
        url.set_query(None);
        *text = url.to_string();
    }
}

/// Whether a value is long and has letters and digits, as tokens do.
fn looks_random(value: &str) -> bool {
    let has = |kind: fn(&u8) -> bool| value.as_bytes().iter().any(kind);
    value.len() >= 20 && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literal_secrets_are_masked_and_the_rest_stays() {
        let url = |text: &str| {
            let mut text = text.to_owned();
            mask_url(&mut text);
            text
        };
        assert_eq!(url("https://a.test/mcp?page=2"), "https://a.test/mcp?page=2");
        assert_eq!(url("https://u:canary@a.test/mcp"), "https://****@a.test/mcp");
        assert_eq!(url("https://a.test/?api_key=canary&v=1"), "https://a.test/?api_key=****&v=1");
        assert_eq!(url("https://a.test/?x=0123456789abcdefghij"), "https://a.test/?x=****");
        assert_eq!(url("not a url?token=x"), "not a url?token=x");

        let args =
            ["--port", "80", "--api-key", "canary", "--token=canary", "-k", "v", "PASSWORD=canary"];
        let server: Server = serde_json::from_value(serde_json::json!({
            "command": "x", "args": args,
            "env": {"API_KEY": "canary", "LOG_LEVEL": "debug", "FOO": "canary", "REF": {"env": "NAME"}},
            "headers": {"Authorization": "Bearer canary", "User-Agent": "me", "X": {"secret": "n", "prefix": "Bearer "}},
        }))
        .unwrap();
        let config = Config { servers: [("a".to_owned(), server)].into(), ..Config::default() };
        let shown = serde_json::to_value(config.masked()).unwrap();
        assert!(!shown.to_string().contains("canary"), "{shown}");
        let a = &shown["servers"]["a"];
        assert_eq!(a["env"]["LOG_LEVEL"], "debug");
        assert_eq!(a["env"]["API_KEY"], MASK);
        assert_eq!(a["env"]["REF"]["env"], "NAME");
        assert_eq!(a["headers"]["User-Agent"], "me");
        assert_eq!(a["headers"]["X"], serde_json::json!({"secret": "n", "prefix": "Bearer "}));
        assert_eq!(a["args"][1], "80");
        assert_eq!(a["args"][4], "--token=****");
    }
}
