//! URLs of results: which are the same page, and of which site they are.

use url::Url;

/// Parameters that say where a visitor came from, not what the page is.
const TRACKING: [&str; 20] = [
    "fbclid", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "twclid",
    "ttclid", "igshid", "mc_cid", "mc_eid", "_ga", "_gl", "_hsenc", "_hsmi", "mkt_tok", "ref_src",
    "srsltid",
];

/// Longer addresses are not shown.
const MAX_URL_BYTES: usize = 8_192;

/// A web address that may be shown: http or https, with a host, without a password.
pub fn web_url(text: &str) -> Option<Url> {
    let text = text.trim();
    let url = Url::parse(text).ok().filter(|_| text.len() <= MAX_URL_BYTES)?;
    let usable = matches!(url.scheme(), "http" | "https")
        && url.has_host()
        && url.username().is_empty()
        && url.password().is_none();
    usable.then_some(url)
}

/// What is equal for two addresses of one page: no fragment, default port, `www.` and tracking parameters.
pub fn canonical_url(text: &str) -> Option<String> {
    let mut url = web_url(text)?;
    url.set_fragment(None);
    if let Some(host) = url.host_str().and_then(|host| host.strip_prefix("www.")).map(str::to_owned)
        && host.contains('.')
    {
        url.set_host(Some(&host)).ok()?;
    }
    if let Some(query) = url.query() {
        let kept: Vec<_> = query.split('&').filter(|pair| !is_tracking(pair)).collect();
        let kept = kept.join("&");
        url.set_query(Some(kept.as_str()).filter(|query| !query.is_empty()));
    }
    Some(url.into())
}

fn is_tracking(pair: &str) -> bool {
    let name = pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
    name.is_empty() || name.starts_with("utm_") || TRACKING.contains(&name.as_str())
}

/// The host as people read it, without `www.`.
pub fn display_host(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    host.strip_prefix("www.").unwrap_or(host).to_owned()
}

/// Whether a page is of a domain or one of its subdomains.
pub fn is_of_site(url: &Url, domain: &str) -> bool {
    let host = display_host(url);
    host == domain || host.strip_suffix(domain).is_some_and(|front| front.ends_with('.'))
}

/// Reads a domain as callers write it: `example.com`, also with a scheme, `www.`, a path or in capitals.
pub fn parse_domain(text: &str) -> Option<String> {
    let text = text.trim();
    let text = text.split_once("://").map_or(text, |(_, rest)| rest);
    let text = text.split(['/', '?', '#']).next()?;
    let host = url::Host::parse(text).ok()?.to_string();
    let host = host.strip_prefix("www.").unwrap_or(&host).trim_end_matches('.').to_owned();
    let valid = host.len() <= 253
        && host.contains('.')
        && host.split('.').all(|label| {
            !label.is_empty()
                && label
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
        });
    valid.then_some(host)
}

#[cfg(test)]
mod tests;
