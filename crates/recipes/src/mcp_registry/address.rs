//! Whether an address of a registry's entry leads into a private network.

use std::io;

use egress::http::{AddressPolicy, Class, Resolve as _, SystemResolver, Target, classify};

/// Endings of names that are never public.
const PRIVATE_ENDINGS: [&str; 10] = [
    "localhost",
    "local",
    "localdomain",
    "internal",
    "intranet",
    "lan",
    "home",
    "corp",
    "private",
    "home.arpa",
];

/// Parses a URL, and refuses one whose host is a private address or a name of a private network.
pub(super) fn check(url: &str, allow_private: bool) -> Result<Target, String> {
    let shown = terminal::shown(url);
    let target = Target::parse(url)
        .map_err(|why| format!("the URL `{shown}` of the registry is not accepted: {why}"))?;
    match private_reason(&target).filter(|_| !allow_private) {
        None => Ok(target),
        Some(why) => Err(format!(
            "the registry names `{}`: {why}; add --allow-private if it is yours",
            target.url()
        )),
    }
}

fn private_reason(target: &Target) -> Option<String> {
    if let Err(refused) = AddressPolicy::default().check_literal(target) {
        return Some(refused.to_string());
    }
    let name = target.url().host_str()?.trim_end_matches('.').to_ascii_lowercase();
    let is_address = name.starts_with('[') || name.parse::<std::net::IpAddr>().is_ok();
    let private = !is_address
        && (!name.contains('.')
            || PRIVATE_ENDINGS.iter().any(|ending| {
                name.strip_suffix(ending).is_some_and(|before| before.ends_with('.'))
            }));
    private.then(|| format!("`{name}` is a name of a private network"))
}

/// Resolves the host of a URL, and returns the first of its addresses that is not public, with what it is.
pub async fn find_private_address(url: &str) -> io::Result<Option<String>> {
    let target = Target::parse(url).map_err(io::Error::other)?;
    let Some(name) = target.url().host_str() else { return Ok(None) };
    let found = SystemResolver::new()?.resolve(name).await?;
    let private = found.into_iter().find(|address| classify(*address) != Class::Global);
    Ok(private.map(|address| format!("{address}, {}", classify(address))))
}

#[cfg(test)]
mod tests {
    use super::check;

    #[test]
    fn private_addresses_need_consent() {
        for url in [
            "http://127.0.0.1:8080/mcp",
            "http://0x7f.1/",
            "http://2130706433/",
            "http://[::1]/",
            "http://[::ffff:10.0.0.1]/",
            "http://169.254.169.254/latest/meta-data/",
            "http://metadata.google.internal/",
            "http://localhost/",
            "http://LOCALHOST./",
            "https://a.localhost/",
            "https://printer/",
            "https://nas.local/",
            "https://x.home.arpa/",
        ] {
            let why = check(url, false).map(|target| target.url().to_string());
            assert!(why.as_ref().is_err_and(|why| why.contains("--allow-private")), "{why:?}");
            assert!(check(url, true).is_ok(), "{url}");
        }
        for url in
            ["https://mcp.example.com/mcp", "https://localhost.example.com/", "https://8.8.8.8/"]
        {
            assert!(check(url, false).is_ok(), "{url}");
        }
        for url in ["ftp://x.example/", "https://user:pass@x.example/", "https://", "file:///etc"] {
            assert!(check(url, true).is_err(), "{url}");
        }
    }

    #[test]
    fn look_alike_characters_of_a_host_are_visible() {
        let target = check("https://mcp.g\u{456}thub.com/", false);
        let url = target.map(|target| target.url().to_string());
        assert_eq!(url.as_deref(), Ok("https://mcp.xn--gthub-n2e.com/"));
    }
}
