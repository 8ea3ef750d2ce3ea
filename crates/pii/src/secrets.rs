//! Access keys, tokens and passwords.

use std::sync::LazyLock;

use regex::Regex;

use super::network::regex;
use super::surroundings::Surroundings;
use super::{Finding, Kind};

/// Keys whose issuers give them a prefix of their own.
static PREFIXED: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"\b(?:(?:AKIA|ASIA|AROA|AIDA)[A-Z0-9]{16}|gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,}|glpat-[A-Za-z0-9_-]{20,40}|xox[abeoprs]-[A-Za-z0-9-]{10,}|(?:sk|pk|rk)_(?:live|test)_[A-Za-z0-9]{16,}|sk-(?:proj-|ant-|or-)?[A-Za-z0-9_-]{20,}|AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,}|SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{16,64}|npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,}|hf_[A-Za-z0-9]{30,50}|dop_v1_[a-f0-9]{64}|shpat_[a-fA-F0-9]{32}|key-[a-f0-9]{32}|EAACEdEose0cBA[A-Za-z0-9]+|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]{8,})",
    )
});
static PRIVATE_KEY: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----[A-Za-z0-9+/=\s:,.\-]{0,}?-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----",
    )
});
/// A name of a secret, a sign of assignment, and a value.
static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?i)(?:password|passwd|passphrase|passcode|pwd|_pass|(?:api|access|account|encryption|master|private|secret|session|shared|signing)[ _.-]?key|secret|token|kennwort|passwort|mot de passe|contraseña|senha|hasło|wachtwoord)(?:[_-](?:key|base|value|hash|text|string|prod|dev|test|live|old|new|primary|secondary|[0-9]{1,2})){0,2}["']?(?:\s{0,2}(?:=>|:=|[:=])\s{0,2}|\s+is:?\s+)["'`]?([^\s"'`,;<>]{6,})"#,
    )
});
static BEARER: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)\b(?:bearer|basic|token)\s+([A-Za-z0-9._~+/=-]{16,})"));
static IN_URL: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@]{1,}:([^\s/@]{3,})@"));

pub(super) fn find(around: &Surroundings<'_>, found: &mut Vec<Finding>) {
    let text = around.text;
    for hit in PREFIXED.find_iter(text) {
        found.push(Finding::new(Kind::Secret, hit.range(), 0.99, "form of an issuer's keys"));
    }
    for hit in PRIVATE_KEY.find_iter(text) {
        found.push(Finding::new(Kind::Secret, hit.range(), 1.0, "private key"));
    }
    for (pattern, reason) in
        [(&ASSIGNED, "value of a field for secrets"), (&BEARER, "authorization header")]
    {
        for hit in pattern.captures_iter(text) {
            let Some(value) = hit.get(1) else { continue };
            let written = value.as_str().trim_end_matches(['.', ')', ']', '}']);
            if is_random(written) {
                let place = value.start()..value.start() + written.len();
                found.push(Finding::new(Kind::Secret, place, 0.9, reason));
            }
        }
    }
    for hit in IN_URL.captures_iter(text) {
        if let Some(value) = hit.get(1) {
            found.push(Finding::new(Kind::Secret, value.range(), 0.99, "password in an address"));
        }
    }
}

/// Whether a value looks chosen or generated, not like a word, a variable or a placeholder.
fn is_random(value: &str) -> bool {
    let has = |test: fn(&char) -> bool| value.chars().any(|c| test(&c));
    let classes = [
        has(char::is_ascii_lowercase),
        has(char::is_ascii_uppercase),
        has(char::is_ascii_digit),
        has(|c| !c.is_alphanumeric()),
    ];
    let placeholder = value.starts_with(['$', '{', '<', '%', '*'])
        || value.chars().all(|c| c == 'x' || c == 'X' || c == '*' || c == '.')
        || value.contains("::")
        || value.contains("()");
    let different: std::collections::BTreeSet<char> = value.chars().collect();
    !placeholder
        && value.len() >= 6
        && different.len() >= 5
        && classes.iter().filter(|class| **class).count() >= 2
        && classes[2]
}
