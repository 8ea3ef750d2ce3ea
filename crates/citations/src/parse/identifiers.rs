//! DOIs and addresses, and whether they can be right.

use url::Url;

use super::Clean;

/// Domains under which addresses are written without a scheme.
const DOMAINS: [&str; 24] = [
    "at", "au", "ca", "ch", "co", "com", "de", "edu", "es", "eu", "fr", "gov", "info", "int", "io",
    "it", "jp", "net", "nl", "no", "org", "se", "uk", "us",
];

/// Schemes as they are mistyped.
const MISTYPED: [&str; 12] = [
    "htp:", "htps:", "htpp:", "htpps:", "hhtp:", "hhtps:", "ttp:", "ttps:", "http;", "https;",
    "http//", "https//",
];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Identifiers {
    pub(super) doi: Option<String>,
    pub(super) url: Option<String>,
    /// Where the first of them begins in the text, its prefix included.
    pub(super) start: Option<usize>,
    pub(super) problems: Vec<String>,
}

impl Identifiers {
    pub(super) fn find(clean: &Clean) -> Self {
        let mut found = Self::default();
        let text = clean.text.as_str();
        let mut at = 0;
        for word in text.split(' ') {
            let next = text[at + word.len()..].trim_start().split(' ').next().unwrap_or_default();
            found.word(word, next, at);
            at += word.len() + 1;
        }
        for link in &clean.links {
            found.address(link, None);
        }
        found
    }

    fn word(&mut self, word: &str, next: &str, at: usize) {
        let lower = word.to_ascii_lowercase();
        let open = lower.len() - lower.trim_start_matches(['(', '<', '[', '"']).len();
        let lower = &lower[open..];
        let word = &word[open..];
        if lower.starts_with("http://") || lower.starts_with("https://") {
            self.address(word, Some(at + open));
        } else if MISTYPED.iter().any(|wrong| lower.starts_with(wrong)) && lower.contains('/')
            || (lower.starts_with("http:/") || lower.starts_with("https:/"))
        {
            self.begin(at + open);
            self.problems.push(format!("has an address that is mistyped: {word}"));
        } else if let Some(rest) = lower.strip_prefix("doi:") {
            self.begin(at + open);
            let doi = if rest.is_empty() { next } else { &word[4..] };
            self.doi(doi.trim_start_matches("https://doi.org/"));
        } else if lower == "doi" && next.starts_with("10.") {
            self.begin(at + open);
            self.doi(next);
        } else if lower.starts_with("doi.org/") || lower.starts_with("dx.doi.org/") {
            self.begin(at + open);
            self.doi(word.split_once('/').map_or("", |(_, doi)| doi));
        } else if lower.starts_with("10.")
            && lower.contains('/')
            && self.doi.is_none()
            && valid_doi(trim(word))
        {
            self.begin(at + open);
            self.doi(word);
        } else if self.url.is_none() && is_bare_address(lower) {
            self.begin(at + open);
            self.url = Some(trim(word).to_owned());
        }
    }

    fn address(&mut self, word: &str, at: Option<usize>) {
        if let Some(at) = at {
            self.begin(at);
        }
        let address = trim(word);
        let host_and_path = address.split_once("://").map_or("", |(_, rest)| rest);
        let (host, path) = host_and_path.split_once('/').unwrap_or((host_and_path, ""));
        let host = host.to_ascii_lowercase();
        if matches!(host.as_str(), "doi.org" | "dx.doi.org" | "www.doi.org") {
            self.doi(path);
            self.url.get_or_insert_with(|| address.to_owned());
        } else if is_address(address) {
            self.url.get_or_insert_with(|| address.to_owned());
        } else if at.is_some() {
            self.problems.push(format!("has an address that cannot be right: {address}"));
        }
    }

    fn doi(&mut self, text: &str) {
        let doi = trim(text);
        if valid_doi(doi) {
            self.doi.get_or_insert_with(|| doi.to_owned());
        } else {
            self.problems.push(format!("has a DOI that cannot be right: {doi}"));
        }
    }

    fn begin(&mut self, at: usize) {
        self.start.get_or_insert(at);
    }
}

/// Without the punctuation of the sentence around it.
fn trim(word: &str) -> &str {
    let mut word = word.trim_end_matches(['.', ',', ';', ':', '>', '"', '”', '’', '\'', ']']);
    while word.ends_with(')') && word.matches(')').count() > word.matches('(').count() {
        word = word[..word.len() - 1].trim_end_matches(['.', ',', ';']);
    }
    word
}

/// `10.`, a registrant of four to nine digits, a slash and a suffix.
fn valid_doi(doi: &str) -> bool {
    let Some((prefix, suffix)) = doi.split_once('/') else { return false };
    let Some(registrant) = prefix.strip_prefix("10.") else { return false };
    let number = registrant.split('.').next().unwrap_or_default();
    (4..=9).contains(&number.len())
        && registrant.bytes().all(|b| b.is_ascii_digit() || b == b'.')
        && suffix.chars().any(char::is_alphanumeric)
        && !suffix.contains("://")
}

fn is_address(address: &str) -> bool {
    let Ok(url) = Url::parse(address) else { return false };
    let Some(host) = url.domain() else { return url.host().is_some() };
    is_host(host)
}

fn is_host(host: &str) -> bool {
    let labels: Vec<_> = host.split('.').collect();
    let last = labels.last().copied().unwrap_or_default();
    let least = if labels[0] == "www" { 3 } else { 2 };
    let encoded = last.starts_with("xn--");
    labels.len() >= least
        && labels.iter().all(|label| !label.is_empty())
        && (last.len() >= 2 && last.chars().all(char::is_alphabetic) || encoded)
}

/// `www.example.org/page` or `example.org/page`.
fn is_bare_address(word: &str) -> bool {
    let word = trim(word);
    let (host, path) = word.split_once('/').unwrap_or((word, ""));
    let domain = host.rsplit('.').next().unwrap_or_default();
    let plain = host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-'));
    let known = DOMAINS.contains(&domain);
    plain
        && known
        && is_host(host)
        && (host.starts_with("www.") || word.len() > host.len() || path.len() > 1)
}
