//! An entry as the gateway uses it.

use std::net::IpAddr;

use egress::http::{Rule, Target};
use http::{HeaderMap, HeaderName, HeaderValue};
use proto::{Digest, digest};

use crate::choices::{Instances, Reach};
use crate::entry::ServerConfig;

impl ServerConfig {
    /// A number that changes with the server's command or URLs.
    pub fn location_number(&self) -> u64 {
        self.origin()
            .as_bytes()
            .iter()
            .take(8)
            .fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// Every URL, `url` first.
    pub fn all_urls(&self) -> impl Iterator<Item = &str> {
        self.url.iter().chain(&self.urls).map(String::as_str)
    }

    /// Whether the entry has an `authorization` header.
    pub fn sends_authorization(&self) -> bool {
        let names = self.headers.keys().chain(self.personal.headers.keys());
        names.into_iter().any(|name| name.eq_ignore_ascii_case("authorization"))
    }

    /// The configured headers. They are credentials: they do not follow a redirect to another origin.
    pub fn header_map(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            if let (Ok(name), Ok(mut value)) =
                (name.parse::<HeaderName>(), HeaderValue::try_from(value))
            {
                value.set_sensitive(true);
                headers.insert(name, value);
            }
        }
        headers
    }

    /// Whether all callers use one session or process.
    pub fn is_shared(&self) -> bool {
        self.instances() == Instances::Shared
    }

    /// The egress rules for its URLs.
    pub fn rules(&self) -> Vec<Rule> {
        let opened = |url: &&str| match self.reach {
            Reach::Named => true,
            Reach::Loopback => Target::parse(url).is_ok_and(|target| is_this_machine(&target)),
            Reach::Policy => false,
        };
        self.all_urls().filter(opened).filter_map(|url| Rule::for_url(url).ok()).collect()
    }

    /// Whether the server registered itself, and stays as long as its leases.
    pub fn is_announced(&self) -> bool {
        self.reach != Reach::Named
    }

    /// Identifies the server behind a name: a stored list counts only for the same origin.
    pub fn origin(&self) -> Digest {
        let mut text = String::new();
        let described = self.document.iter().chain(&self.base_url).map(String::as_str);
        for part in self
            .command
            .iter()
            .chain(&self.args)
            .map(String::as_str)
            .chain(self.all_urls())
            .chain(described)
        {
            text.push_str(part);
            text.push('\0');
        }
        digest(text.as_bytes())
    }
}

fn is_this_machine(target: &Target) -> bool {
    let host = target.host().to_string();
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || literal.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
