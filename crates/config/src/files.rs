//! `files` and `storage`: limits and lifetimes of stored files, and where files and records are stored.

use std::path::Path;
use std::time::Duration;

use environment::Environment;
use files::FileRules;
use proto::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::BucketOptions;
use url::Url;

use crate::references::References;
use crate::secret::{HeaderSource, SecretFault, SecretReader, SecretSource};
use crate::units::{Size, Span};

/// Limits of stored files.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Files {
    /// The largest file.
    pub max_bytes: Size,
    /// How long files and artifacts are kept; if unset, until they are deleted.
    pub ttl: Option<Span>,
    /// How long a download link is valid.
    pub link_ttl: Span,
    /// The total size of all files of one tenant; unlimited if unset.
    pub quota: Option<Size>,
}

impl Default for Files {
    fn default() -> Self {
        let rules = FileRules::default();
        Self {
            max_bytes: Size(usize::try_from(rules.max_bytes).unwrap_or(usize::MAX)),
            ttl: None,
            link_ttl: Span(rules.link_ttl),
            quota: None,
        }
    }
}

impl Files {
    /// The rules as the strip takes them.
    pub fn rules(&self, references: &References) -> FileRules {
        FileRules {
            max_bytes: self.max_bytes.0 as u64,
            ttl: self.ttl.map(|ttl| ttl.0),
            reference_ttl: references.ttl.0,
            link_ttl: self.link_ttl.0.min(Duration::from_secs(7 * 24 * 60 * 60)),
            quota: self.quota.map(|quota| quota.0 as u64),
            ..FileRules::default()
        }
    }
}

/// Where files and records are stored.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Storage {
    /// A PostgreSQL database, as in `postgres://user@host:5432/name`; if unset, a SQLite file in the data folder. A URL
    /// with a password is written `{env: NAME}` or `{file: PATH}`.
    pub database: Option<HeaderSource>,
    /// A bucket, as in `s3://bucket/prefix`; if unset, the folder `objects` in the data folder.
    pub objects: Option<String>,
    /// Endpoint and credentials of the bucket.
    pub s3: Option<S3>,
}

/// An S3-compatible service.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct S3 {
    /// The URL of the service, such as `https://minio.example.com:9000`; if unset, Amazon S3.
    #[serde(default)]
    pub endpoint: Option<String>,
    /// The region of the bucket.
    #[serde(default = "region")]
    pub region: String,
    /// Whether the bucket's name is part of the path instead of the host; by default only with an `endpoint`.
    #[serde(default)]
    pub path_style: Option<bool>,
    /// The id of the access key.
    pub access_key: SecretSource,
    /// The secret of the access key.
    pub secret_key: SecretSource,
    /// The session token of temporary keys.
    #[serde(default)]
    pub session_token: Option<SecretSource>,
}

fn region() -> String {
    "us-east-1".to_owned()
}

/// A fault: the keys below `storage`, and the message.
pub(crate) type StorageFault = (Vec<&'static str>, String);

impl Storage {
    /// Makes relative paths relative to the folder of the config file.
    pub(super) fn anchor(&mut self, base: &Path) {
        let s3 = self.s3.iter_mut().flat_map(|s3| {
            [&mut s3.access_key, &mut s3.secret_key].into_iter().chain(&mut s3.session_token)
        });
        let database = self.database.iter_mut().filter_map(|database| match database {
            HeaderSource::Plain(_) => None,
            HeaderSource::Secret(source) | HeaderSource::Prefixed { source, .. } => Some(source),
        });
        for secret in s3.chain(database) {
            if let SecretSource::File { file } = secret {
                *file = base.join(&*file);
            }
        }
    }

    /// What is wrong with the section apart from missing secrets.
    pub(super) fn check(&self, environment: &Environment) -> Vec<StorageFault> {
        let mut faults = Vec::new();
        let s3 = self.s3.iter().flat_map(|s3| {
            [("access_key", &s3.access_key), ("secret_key", &s3.secret_key)]
                .into_iter()
                .chain(s3.session_token.as_ref().map(|token| ("session_token", token)))
        });
        let database = self.database.as_ref().and_then(|database| database.source());
        let database = database.map(|(source, _)| (vec!["database"], source));
        let s3 = s3.map(|(key, source)| (vec!["s3", key], source));
        for (keys, source) in database.into_iter().chain(s3) {
            // The vault is in the database, and files must not wait for it.
            if matches!(source, SecretSource::Vault { .. }) {
                faults.push((keys, SecretFault::BeforeVault.to_string()));
            }
        }
        if !faults.is_empty() {
            return faults;
        }
        let assuming = SecretReader::assuming(environment, Path::new(""));
        if matches!(self.database, Some(HeaderSource::Plain(_))) {
            faults.extend(self.database_url(environment).err());
        }
        faults.extend(self.bucket_with(&assuming).err().into_iter().flatten());
        faults
    }

    /// The URL of the PostgreSQL database, if one is configured.
    pub fn database_url(&self, environment: &Environment) -> Result<Option<Secret>, StorageFault> {
        let Some(database) = &self.database else { return Ok(None) };
        let fault = |why: String| (vec!["database"], why);
        let reader = SecretReader::without_vault(environment, Path::new(""));
        let secret = database.fetch(&reader).map_err(|why| fault(why.to_string()))?;
        let url: Option<Url> = secret.expose().parse().ok();
        let url = url.filter(|url| matches!(url.scheme(), "postgres" | "postgresql"));
        let Some(url) = url.filter(Url::has_host) else {
            return Err(fault("is a URL of the form `postgres://user@host:5432/name`".to_owned()));
        };
        let has_password =
            url.password().is_some() || url.query_pairs().any(|(key, _)| key == "password");
        if has_password && matches!(database, HeaderSource::Plain(_)) {
            let why = "has a password: write the whole URL to an environment variable or a file, and here \
                       `{env: NAME}` or `{file: PATH}`";
            return Err(fault(why.to_owned()));
        }
        Ok(Some(secret))
    }

    /// The bucket with its secrets fetched, if one is configured.
    pub fn bucket(
        &self,
        environment: &Environment,
    ) -> Result<Option<BucketOptions>, Vec<StorageFault>> {
        self.bucket_with(&SecretReader::without_vault(environment, Path::new("")))
    }

    fn bucket_with(
        &self,
        reader: &SecretReader<'_>,
    ) -> Result<Option<BucketOptions>, Vec<StorageFault>> {
        let (location, s3) = match (&self.objects, &self.s3) {
            (None, None) => return Ok(None),
            (Some(_), None) => {
                let why = "is required with `objects`: it has the keys of the bucket";
                return Err(vec![(vec!["s3"], why.to_owned())]);
            }
            (None, Some(_)) => {
                let why = "is required with `s3`: it names the bucket, as in `s3://bucket/prefix`";
                return Err(vec![(vec!["objects"], why.to_owned())]);
            }
            (Some(location), Some(s3)) => (location, s3),
        };
        let mut faults = Vec::new();
        let mut fetch = |key: &'static str, source: &SecretSource| match source.fetch(reader) {
            Ok(secret) => secret.expose().to_owned(),
            Err(why) => {
                faults.push((vec!["s3", key], why.to_string()));
                String::new()
            }
        };
        let access_key = fetch("access_key", &s3.access_key);
        let secret_key = fetch("secret_key", &s3.secret_key);
        let session_token = s3.session_token.as_ref().map(|token| fetch("session_token", token));
        let (bucket, prefix) = parse_location(location).unwrap_or_else(|| {
            let why = "must be a bucket and an optional prefix: `s3://bucket/prefix`";
            faults.push((vec!["objects"], why.to_owned()));
            (String::new(), String::new())
        });
        let path_style = s3.path_style.unwrap_or(s3.endpoint.is_some());
        let endpoint = s3.endpoint.as_deref().map(|text| read_endpoint(text, &bucket, path_style));
        let endpoint = endpoint.transpose().unwrap_or_else(|why| {
            faults.push((vec!["s3", "endpoint"], why));
            None
        });
        if !faults.is_empty() {
            return Err(faults);
        }
        let region = s3.region.clone();
        Ok(Some(BucketOptions {
            bucket,
            prefix,
            region,
            endpoint,
            path_style,
            access_key,
            secret_key,
            session_token,
        }))
    }
}

/// The bucket and the prefix of `s3://bucket/prefix`.
fn parse_location(text: &str) -> Option<(String, String)> {
    let rest = text.strip_prefix("s3://")?;
    let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    let named = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | '/');
    let prefix = prefix.trim_matches('/');
    let fits = (3..=63).contains(&bucket.len())
        && bucket.chars().all(named)
        && prefix.chars().all(plain)
        && !prefix.split('/').any(|part| part.starts_with('.'));
    fits.then(|| (bucket.to_owned(), prefix.to_owned()))
}

/// The service's URL, with the bucket's name in the host unless `path_style` is set.
fn read_endpoint(text: &str, bucket: &str, path_style: bool) -> Result<Url, String> {
    let wrong = || "must be a URL with `http` or `https`, a host and nothing else".to_owned();
    let mut url: Url = text.parse().map_err(|_| wrong())?;
    let plain = matches!(url.scheme(), "http" | "https")
        && url.path() == "/"
        && url.query().is_none()
        && url.username().is_empty();
    let host = url.host_str().filter(|_| plain).ok_or_else(wrong)?.to_owned();
    if !path_style {
        url.set_host(Some(&format!("{bucket}.{host}"))).map_err(|_| {
            "has a host that cannot be prefixed with the bucket's name; set `path_style: true`"
                .to_owned()
        })?;
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_not_written_in_the_config() {
        let url = |text: &str| {
            let database = Some(HeaderSource::Plain(text.to_owned()));
            let storage = Storage { database, ..Storage::default() };
            let url = storage.database_url(&Environment::default());
            url.map(|url| url.unwrap().expose().to_owned()).map_err(|(_, why)| why)
        };
        for good in ["postgres://me@db.example.com/x", "postgresql://db:5433/x?sslmode=require"] {
            assert_eq!(url(good).as_deref(), Ok(good));
        }
        for bad in ["postgres://me:geheim@db/x", "postgres://db/x?password=geheim"] {
            let why = url(bad).unwrap_err();
            assert!(why.contains("{env: NAME}") && !why.contains("geheim"), "{why}");
        }
        for bad in ["mysql://db/x", "db", "postgres:x", "/var/lib/x.db"] {
            assert!(url(bad).unwrap_err().contains("postgres://"), "{bad}");
        }
        assert!(Storage::default().database_url(&Environment::default()).unwrap().is_none());
    }

    #[test]
    fn a_location_is_a_bucket_and_a_prefix() {
        let expected = |bucket: &str, prefix: &str| Some((bucket.to_owned(), prefix.to_owned()));
        assert_eq!(parse_location("s3://files"), expected("files", ""));
        assert_eq!(parse_location("s3://files/a/b/"), expected("files", "a/b"));
        for bad in [
            "files",
            "s3://",
            "s3://ab",
            "s3://Files",
            "s3://files/../x",
            "s3://files/a b",
            "http://files",
        ] {
            assert_eq!(parse_location(bad), None, "{bad}");
        }
    }

    #[test]
    fn an_endpoint_is_a_host_and_nothing_else() {
        let url = |text, path_style| read_endpoint(text, "files", path_style).map(String::from);
        assert_eq!(url("https://s3.example.com", true).unwrap(), "https://s3.example.com/");
        assert_eq!(
            url("https://s3.example.com:9000", false).unwrap(),
            "https://files.s3.example.com:9000/"
        );
        for bad in ["s3.example.com", "ftp://x", "https://x/y", "https://x?y", "https://me@x"] {
            assert!(url(bad, true).is_err(), "{bad}");
        }
        assert!(url("http://127.0.0.1:9000", false).is_err());
    }
}
