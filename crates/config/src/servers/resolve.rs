//! An entry of `servers` as the gateway uses it, with its secrets.

use std::collections::BTreeMap;

use server_entry::{
    Instances, InvalidKey, Personal, PersonalSecret, ServerConfig, StoredParts, Values,
};

use super::{EntryFault, Server};
use crate::fault::Fault;
use crate::research::WEB_RESEARCH;
use crate::secret::{HeaderSource, SecretReader, SecretSource};

/// The placeholder of a URL whose secret is not known.
const UNKNOWN_URL: &str = "https://secret.invalid/";

/// The URL for a text without a scheme, if it begins with a host. What comes after the path may be a secret,
/// and is not repeated.
pub fn with_scheme(text: &str) -> Option<String> {
    if text.contains("://") || text.contains('@') {
        return None;
    }
    let text = text.split(['?', '#']).next().unwrap_or(text);
    let host = text.split('/').next().unwrap_or(text);
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let is_local = name == "localhost" || name.starts_with("127.");
    if !is_local && (!name.contains('.') || name.starts_with('.')) {
        return None;
    }
    let scheme = if is_local { "http" } else { "https" };
    let url = url::Url::parse(&format!("{scheme}://{text}")).ok()?;
    Some(url.as_str().trim_end_matches('/').to_owned())
}

/// What is wrong with the entry, apart from missing secrets.
pub(crate) fn check(server: &Server, name: &str, assuming: &SecretReader<'_>) -> Vec<EntryFault> {
    let mut faults = Vec::new();
    // An entry of the config file may replace the built-in web tools.
    if name != WEB_RESEARCH
        && let Err(why) = proto::check_server_name(name)
    {
        faults.push(EntryFault { keys: Vec::new(), message: why.to_string() });
    }
    if server.shared && server.instances.is_some_and(|instances| instances != Instances::Shared) {
        let message = "contradicts `instances`; remove one of the two".to_owned();
        faults.push(EntryFault { keys: vec!["shared".to_owned()], message });
    }
    let (config, unusable) = resolve(server, assuming);
    // A bad token section is reported with its own key.
    let about_auth =
        unusable.iter().any(|fault| fault.keys.first().is_some_and(|key| key == "auth"));
    faults.extend(unusable);
    if let Err(why) = config.check(name)
        && !(about_auth && why.key == "auth")
    {
        let keys = (why.key != "name").then(|| why.key.to_owned()).into_iter().collect();
        let plain = server.url.as_ref().filter(|url| url.source().is_none()).and(config.url);
        let hint = plain.filter(|_| why.key == "url").and_then(|url| with_scheme(&url));
        let hint = hint.map(|url| format!("a URL begins with its scheme: write `{url}`"));
        faults.push(EntryFault { keys, message: hint.unwrap_or(why.reason) });
    }
    faults
}

/// An entry that is wrong, as the gateway shows it.
pub(crate) fn unusable(server: &Server, name: &str, faults: &[Fault]) -> ServerConfig {
    let entry = format!("servers.{name}");
    let invalid = faults.iter().map(|fault| {
        let below = fault.key.strip_prefix(&entry).unwrap_or(&fault.key);
        InvalidKey {
            place: fault.place(),
            key: below.trim_start_matches('.').to_owned(),
            message: fault.message.clone(),
        }
    });
    let names_url = server.url.is_some() || !server.urls.is_empty() || server.document.is_some();
    ServerConfig {
        command: server.command.clone(),
        url: names_url.then(|| UNKNOWN_URL.to_owned()),
        disabled: server.disabled,
        prefix: server.prefix,
        invalid: invalid.collect(),
        ..ServerConfig::default()
    }
}

/// The entry as a [`ServerConfig`], and the secrets that cannot be fetched.
pub(crate) fn resolve(
    server: &Server,
    reader: &SecretReader<'_>,
) -> (ServerConfig, Vec<EntryFault>) {
    let mut faults = Vec::new();
    let mut fetch = |section: &str, sources: &BTreeMap<String, HeaderSource>| {
        let (mut values, mut personal) = (BTreeMap::new(), BTreeMap::new());
        for (key, source) in sources {
            let of_person =
                source.source().and_then(|(source, prefix)| Some((source.personal()?, prefix)));
            if let Some((secret, prefix)) = of_person {
                if let Some(value) = reader.for_listing(secret) {
                    values.insert(key.clone(), format!("{prefix}{}", value.expose()));
                }
                let (secret, prefix) = (secret.to_owned(), prefix.to_owned());
                personal.insert(key.clone(), PersonalSecret { secret, prefix });
                continue;
            }
            match source.fetch(reader) {
                Ok(secret) => {
                    values.insert(key.clone(), secret.expose().to_owned());
                }
                Err(why) => faults.push(EntryFault {
                    keys: vec![section.to_owned(), key.clone()],
                    message: why.to_string(),
                }),
            }
        }
        (values, personal)
    };
    let (env, personal_env) = fetch("env", &server.env);
    let (headers, personal_headers) = fetch("headers", &server.headers);
    let (args, url) =
        (fetch_args(server, reader, &mut faults), fetch_url(server, reader, &mut faults));
    let auth = server.auth.as_ref().map(|auth| auth.resolve(reader)).transpose();
    let auth = auth.unwrap_or_else(|unusable| {
        faults.extend(unusable.into_iter().map(|(key, message)| EntryFault {
            keys: vec!["auth".to_owned(), key.to_owned()],
            message,
        }));
        None
    });
    let personal = Personal { env: personal_env, headers: personal_headers };
    let missing =
        faults.iter().map(|fault| format!("{}: {}", fault.keys.join("."), fault.message)).collect();
    let hidden = server.args.iter().zip(&args).chain(server.url.iter().zip(&url));
    let hidden = hidden.filter_map(|(source, value)| {
        let (_, prefix) = source.source()?;
        value.strip_prefix(prefix).map(str::to_owned)
    });
    let hidden = hidden.filter(|secret| !secret.is_empty()).collect();
    let timeout = server.timeout.map(|span| span.0);
    let references =
        StoredParts { large: server.references.stores(), inline: server.references.limits() };
    let values = Values { args, env, url, headers, auth, timeout, references };
    (ServerConfig { personal, missing, hidden, ..server.with_values(values) }, faults)
}

fn fetch_args(
    server: &Server,
    reader: &SecretReader<'_>,
    faults: &mut Vec<EntryFault>,
) -> Vec<String> {
    let fetch = |(at, source): (usize, &HeaderSource)| match source.fetch(reader) {
        Ok(secret) => secret.expose().to_owned(),
        Err(why) => {
            let keys = vec!["args".to_owned(), at.to_string()];
            faults.push(EntryFault { keys, message: why.to_string() });
            String::new()
        }
    };
    server.args.iter().enumerate().map(fetch).collect()
}

fn fetch_url(
    server: &Server,
    reader: &SecretReader<'_>,
    faults: &mut Vec<EntryFault>,
) -> Option<String> {
    let source = server.url.as_ref()?;
    let fetched = source.fetch(reader);
    let fetched = fetched.map(|secret| secret.expose().to_owned()).map_err(|why| {
        let keys = vec!["url".to_owned()];
        faults.push(EntryFault { keys, message: why.to_string() });
    });
    // The placeholder of a secret need not be a URL.
    let is_known = source.source().is_none() || !reader.is_assuming();
    Some(match fetched {
        Ok(url) if is_known || url::Url::parse(&url).is_ok() => url,
        _ => UNKNOWN_URL.to_owned(),
    })
}

/// Every value that may be a secret, with its keys.
pub(crate) fn sources(server: &Server) -> impl Iterator<Item = (Vec<String>, &SecretSource)> {
    let named = [("env", &server.env), ("headers", &server.headers)].into_iter();
    let named = named.flat_map(|(section, values)| {
        values.iter().map(move |(key, value)| (vec![section.to_owned(), key.clone()], value))
    });
    let args = server.args.iter().enumerate();
    let args = args.map(|(at, value)| (vec!["args".to_owned(), at.to_string()], value));
    let url = server.url.iter().map(|value| (vec!["url".to_owned()], value));
    let values = named.chain(args).chain(url);
    values.filter_map(|(keys, value)| Some((keys, value.source()?.0)))
}

/// The secrets that come from variables and files and cannot be fetched.
pub(crate) fn missing_outside_vault(server: &Server, reader: &SecretReader<'_>) -> Vec<EntryFault> {
    let values = sources(server).map(|(keys, source)| (keys, source.clone()));
    let tokens = server.auth.iter().flat_map(|auth| auth.secrets());
    let tokens =
        tokens.map(|(key, source)| (vec!["auth".to_owned(), key.to_owned()], source.clone()));
    let outside =
        values.chain(tokens).filter(|(_, source)| !matches!(source, SecretSource::Vault { .. }));
    outside
        .filter_map(|(keys, source)| {
            let message = source.fetch(reader).err()?.to_string();
            Some(EntryFault { keys, message })
        })
        .collect()
}

/// The secrets of which each person has a value of their own.
pub(crate) fn personal_secrets(server: &Server) -> impl Iterator<Item = &str> {
    let sources = server.env.values().chain(server.headers.values());
    sources.filter_map(|source| source.source()?.0.personal())
}
