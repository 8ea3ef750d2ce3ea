//! Which organisation a host belongs to.

use url::{Host, Url};

/// The registrable domain of a URL, such as `example.co.uk` for `https://news.example.co.uk/`; the address itself if the
/// host is an IP address. `None` for a public suffix.
pub fn registrable(url: &Url) -> Option<String> {
    match url.host()? {
        Host::Domain(host) => {
            psl::domain_str(host.trim_end_matches('.')).map(str::to_ascii_lowercase)
        }
        address => Some(address.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_one_owner_have_one_domain() {
        let of = |url: &str| registrable(&Url::parse(url).expect("a URL"));
        let some = |domain: &str| Some(domain.to_owned());
        assert_eq!(of("https://www.example.com/a"), some("example.com"));
        assert_eq!(of("https://news.bbc.co.uk./"), some("bbc.co.uk"));
        assert_eq!(of("https://a.github.io/"), some("a.github.io"));
        assert_eq!(of("https://b\u{fc}cher.de/"), some("xn--bcher-kva.de"));
        assert_eq!(of("http://127.0.0.1:8080/"), some("127.0.0.1"));
        assert_eq!(of("http://[::1]/"), some("[::1]"));
        assert_eq!(of("https://co.uk/"), None);
        assert_eq!(of("http://localhost/"), None);
    }
}
