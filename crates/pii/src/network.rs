//! Addresses of the network: email, URL, host name, IP, MAC.

use std::collections::HashSet;
use std::net::IpAddr;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

use super::lists;
use super::surroundings::{Surroundings, has_word};
use super::{Finding, Kind};

/// Endings of file names that are also top-level domains.
static FILE_ENDINGS: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("file-ending"));

/// Endings that are names of files and methods far more often than of hosts.
static CODE_ENDINGS: LazyLock<HashSet<&str>> = LazyLock::new(|| lists::named("code-ending"));

/// Domains reserved for documents and private networks (RFC 2606, RFC 6762).
const RESERVED: &[&str] =
    &["example", "test", "invalid", "localhost", "local", "internal", "onion"];

static URL: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"(?i)\b(?:(?:https?|ftps?|sftp|ssh|wss?)://|www\d?\.)[^\s<>"'`{}|\\^\[\]]+"#)
});
static HOST: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?i)\b(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.){1,8}[a-z][a-z0-9-]{1,62}(?::\d{2,5})?(?:/[^\s<>"'`{}|\\^\[\]]*)?"#,
    )
});
static IPV4: LazyLock<Regex> = LazyLock::new(|| regex(r"\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b"));
static IPV6: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)[0-9a-f:]*:[0-9a-f:]*:[0-9a-f:.]*[0-9a-f:]"));
static MAC: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(?:[0-9a-f]{2}(?::[0-9a-f]{2}){5}|[0-9a-f]{2}(?:-[0-9a-f]{2}){5}|[0-9a-f]{4}\.[0-9a-f]{4}\.[0-9a-f]{4})\b",
    )
});

/// An address that is written for people only: `anna (at) example [dot] org`.
static WRITTEN_OUT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)[a-z0-9][a-z0-9._%+-]{0,63} ?[\[({] ?(?:at|ät) ?[\])}] ?[a-z0-9-]{1,63}(?:(?:\.| ?[\[({] ?(?:dot|punkt|point|punto) ?[\])}] ?)[a-z0-9-]{2,63}){1,5}",
    )
});

/// Compiles a pattern that is part of our code; a wrong one panics.
///
/// Digits and word boundaries are those of ASCII: the Unicode ones make patterns large and slow.
pub fn regex(pattern: &str) -> Regex {
    let pattern = pattern.replace(r"\d", "[0-9]").replace(r"\b", r"(?-u:\b)");
    Regex::new(&pattern).expect("the patterns of our code are valid")
}

pub(super) fn find(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    emails(around, found);
    urls(around, found);
    hosts(around, found);
    addresses(around, found);
    macs(around, found);
}

fn emails(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    for (at, _) in around.text.match_indices('@') {
        let Some(place) = email_around(around.text, at) else { continue };
        let (confidence, reason) = if has_known_suffix(&around.text[at + 1..place.end]) {
            (0.99, "local part and a domain with a public suffix")
        } else {
            (0.6, "local part and a domain")
        };
        found.push(Finding::new(Kind::EmailAddress, place, confidence, reason));
    }
    for hit in WRITTEN_OUT.find_iter(around.text) {
        let reason = "address whose sign is written out";
        found.push(Finding::new(Kind::EmailAddress, hit.range(), 0.9, reason));
    }
}

/// The local part (at most 64 characters) and the domain (at most 253) around an `@`.
fn email_around(text: &str, at: usize) -> Option<Range<usize>> {
    let local = |c: char| c.is_alphanumeric() || "._%+-'&=!#$*?^~".contains(c);
    let before: usize =
        text[..at].chars().rev().take(64).take_while(|c| local(*c)).map(char::len_utf8).sum();
    let written =
        text[at - before..at].trim_start_matches(|c: char| !c.is_alphanumeric() && c != '_');
    let host = |c: char| c.is_alphanumeric() || c == '-' || c == '.';
    let after: usize =
        text[at + 1..].chars().take(253).take_while(|c| host(*c)).map(char::len_utf8).sum();
    let domain = text[at + 1..at + 1 + after].trim_end_matches(['.', '-']);
    let mut labels = domain.rsplit('.');
    let ending = labels
        .next()
        .filter(|ending| ending.chars().count() > 1 && ending.chars().all(char::is_alphabetic))?;
    let fits = !written.is_empty()
        && !written.ends_with('.')
        && domain.len() > ending.len()
        && labels
            .all(|label| !label.is_empty() && !label.starts_with('-') && !label.ends_with('-'));
    fits.then(|| at - written.len()..at + 1 + domain.len())
}

fn urls(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    for hit in URL.find_iter(around.text) {
        let place = hit.start()..trimmed_end(around.text, hit.range());
        let rest = around.text[place.clone()].split("://").last().unwrap_or_default();
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if host.contains('.') || host.starts_with("localhost") || host.starts_with('[') {
            found.push(Finding::new(Kind::DomainName, place, 0.98, "address with a scheme or www"));
        }
    }
}

fn hosts(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    for hit in HOST.find_iter(around.text) {
        let place = hit.start()..trimmed_end(around.text, hit.range());
        let Some((confidence, reason)) = judge_host(around, &place) else { continue };
        found.push(Finding::new(Kind::DomainName, place, confidence, reason));
    }
}

fn judge_host(around: &Surroundings<'_>, place: &Range<usize>) -> Option<(f32, &'static str)> {
    let written = &around.text[place.clone()];
    let attached = |c: char| c.is_alphanumeric() || matches!(c, '@' | '_' | '/' | '\\' | '.' | '-');
    if around.char_before(place.start).is_some_and(attached)
        || around.char_after(place.end).is_some_and(|c| matches!(c, '@' | '(' | '_'))
    {
        return None;
    }
    let host = written.split(['/', ':']).next().unwrap_or_default().to_lowercase();
    let ending = host.rsplit('.').next().unwrap_or_default();
    if !has_known_suffix(&host) {
        return None;
    }
    let has_path = written.len() > host.len();
    let labels = host.split('.').count();
    if CODE_ENDINGS.contains(ending) && !has_path {
        return None;
    }
    let mixed = written.chars().any(char::is_uppercase) && written.chars().any(char::is_lowercase);
    // `end.It`, `e.g.` and `self.name` are prose and code.
    if FILE_ENDINGS.contains(ending) && labels == 2 && !has_path && !host_cue(around, place) {
        return (!mixed && host.len() > 6).then_some((0.5, "name with a top-level domain"));
    }
    // `1.5.de` is a version, `self.items.map` is code.
    if host.split('.').next().is_some_and(|first| {
        ["self", "this"].contains(&first) || first.chars().all(|c| c.is_ascii_digit())
    }) {
        return None;
    }
    Some((0.85, "host with a public suffix"))
}

fn host_cue(around: &Surroundings<'_>, place: &Range<usize>) -> bool {
    static CUES: LazyLock<Vec<&str>> = LazyLock::new(|| lists::named("host"));
    around.introduced_by(place.start, &CUES)
}

/// Whether a host ends in a suffix of the public list, or in one that is reserved, below which it has a name.
fn has_known_suffix(host: &str) -> bool {
    let host = host.to_lowercase();
    let Some((_, ending)) = host.rsplit_once('.') else { return false };
    if RESERVED.contains(&ending) {
        return true;
    }
    psl::domain(host.as_bytes()).is_some_and(|domain| domain.suffix().is_known())
}

/// The end without the punctuation of the sentence.
fn trimmed_end(text: &str, place: Range<usize>) -> usize {
    let written = &text[place.clone()];
    let mut kept = written.trim_end_matches(['.', ',', ';', ':', '!', '?', '*', '_', '\'']);
    let opened = kept.matches('(').count();
    let mut closed = kept.matches(')').count();
    while kept.ends_with(')') && closed > opened {
        kept = kept[..kept.len() - 1].trim_end_matches(['.', ',', ';', ':']);
        closed -= 1;
    }
    place.start + kept.len()
}

fn addresses(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    for hit in IPV4.find_iter(around.text) {
        if hit.as_str().parse::<IpAddr>().is_err() || !is_apart(around, &hit.range(), ".") {
            continue;
        }
        let confidence = if is_version(around, &hit.range()) { 0.3 } else { 0.95 };
        found.push(Finding::new(Kind::IpAddress, hit.range(), confidence, "four octets"));
    }
    for hit in IPV6.find_iter(around.text) {
        if (hit.len() > 4 || is_loopback(around, &hit.range()))
            && is_apart(around, &hit.range(), ":")
            && hit.as_str().parse::<IpAddr>().is_ok_and(|address| address.is_ipv6())
        {
            found.push(Finding::new(Kind::IpAddress, hit.range(), 0.97, "IPv6 address"));
        }
    }
}

/// Four numbers that the words next to them call a version or a part of a document.
fn is_version(around: &Surroundings<'_>, place: &Range<usize>) -> bool {
    static VERSIONS: LazyLock<Vec<&str>> = LazyLock::new(|| lists::named("version"));
    let after = around.after(place.end);
    let next = after.split(|c: char| !c.is_alphabetic()).find(|word| !word.is_empty());
    around.introduced_by(place.start, &VERSIONS)
        || around.before(place.start).trim_end().ends_with("windows")
        || after.starts_with(' ')
            && next.is_some_and(|next| {
                ["build", "version", "release", "firmware", "update"].contains(&next)
            })
}

/// `::1`, but not the slice `rows[::1]`.
fn is_loopback(around: &Surroundings<'_>, place: &Range<usize>) -> bool {
    let mut back = around.text[..place.start].chars().rev();
    let slice = back.next() == Some('[') && back.next().is_some_and(char::is_alphanumeric);
    &around.text[place.clone()] == "::1" && !slice
}

fn is_apart(around: &Surroundings<'_>, place: &Range<usize>, joins: &str) -> bool {
    let joined = |c: char| c.is_alphanumeric() || c == '_' || joins.contains(c);
    let mut on = around.text[place.end..].chars();
    let next = on.next();
    // A full stop ends the sentence, unless another number follows it.
    let continues = match next {
        Some('.') => on.next().is_some_and(|c| c.is_ascii_digit()),
        Some(c) => c.is_alphanumeric() || c == '_',
        None => false,
    };
    !continues && !around.char_before(place.start).is_some_and(joined)
}

fn macs(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    for hit in MAC.find_iter(around.text) {
        let joins = |c: char| matches!(c, ':' | '-' | '.');
        let before = around.char_before(hit.start()).filter(|_| hit.start() > 0);
        let mut on = around.text[hit.end()..].chars();
        let goes_on = on.next().is_some_and(joins) && on.next().is_some_and(char::is_alphanumeric);
        let digits_only = hit.as_str().chars().all(|c| !c.is_ascii_alphabetic());
        let cued = has_word(&around.before(hit.start()), "mac");
        if before.is_some_and(joins) && !around.text[..hit.start()].ends_with(": ") || goes_on {
            continue;
        }
        if digits_only && hit.as_str().contains('.') && !cued {
            continue;
        }
        found.push(Finding::new(Kind::MacAddress, hit.range(), 0.95, "six octets"));
    }
}
