//! Texts that stand for a page that is still to come: "Loading…", or a request to accept cookies.

use std::sync::LazyLock;

use regex::Regex;
use regex::bytes::Regex as BytesRegex;

/// Longer texts are content, even if a part of them is loading.
const LONGEST_LOADING: usize = 250;
/// Requests for consent list purposes and partners.
const LONGEST_CONSENT: usize = 4_000;
/// The share of a text that is about consent, in percent, where that is all of the page.
const MOSTLY: usize = 60;
/// Pages with fewer characters have few words.
const FEW_WORDS: usize = 250;
/// Inline scripts of so many bytes make a page themselves.
const LARGE_SCRIPTS: usize = 20_000;

/// Lines that begin like this announce content.
const LOADING: &str = r"(?im)^[\W_]*(loading|please wait|wait\b|one moment|just a moment|initiali[sz]ing|starting up|redirecting|you are being redirected|(please )?(enable|turn on) javascript|you need to enable javascript|javascript (is )?(required|disabled|must be enabled)|this (app|site|page) (requires|needs) javascript|(wird|seite wird) geladen|lade(n|t)?\b|bitte warten|einen moment|chargement|veuillez patienter|cargando|por favor,? espere|caricamento|attendere|carregando|aguarde|even geduld|laden\b|ładowanie|proszę czekać|загрузка|подождите|読み込み中|加载中|正在加载|로딩)";

/// Words about consent to cookies.
const CONSENT: &str = r"(?i)cookie|consent|gdpr|tracking|personal data|personalis|personaliz|privacy|our partners|vendors|datenschutz|einwilligung|zustimm|partnern|donn[ée]es personnelles|confidentialit|consentement|privacidad|consentimiento|datos personales|consenso|dati personali|privacidade|toestemming|согласи|クッキー";

/// Labels of buttons that accept a consent dialog.
const ACCEPT: &str = r"(?i)\b(accept|agree|allow|consent|akzeptier|zustimm|einverstanden|accepter|j'accepte|acepta|acett|accetta|aceitar|akkoord|accepteer|zgadzam|принять)|同意";

/// What a page shows instead of its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placeholder {
    /// The content is being loaded.
    Loading,
    /// Cookies are to be accepted first.
    Consent,
}

impl Placeholder {
    pub(super) fn describe(self) -> &'static str {
        match self {
            Self::Loading => "the page was still loading",
            Self::Consent => "the page shows its content only to those who accept its cookies",
        }
    }
}

/// The kind of a text that is no content.
pub(super) fn placeholder(text: &str) -> Option<Placeholder> {
    static LOADS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(LOADING).ok());
    let text = text.trim();
    let characters = text.chars().count();
    if characters <= LONGEST_LOADING && matches(&LOADS, text) {
        return Some(Placeholder::Loading);
    }
    (characters <= LONGEST_CONSENT && asks_for_consent(text)).then_some(Placeholder::Consent)
}

/// Whether most of a text is about cookies, and it can be accepted.
fn asks_for_consent(text: &str) -> bool {
    static MENTIONS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(CONSENT).ok());
    static ACCEPTS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(ACCEPT).ok());
    let mentions = MENTIONS.as_ref().map_or(0, |pattern| pattern.find_iter(text).count());
    let (mut about, mut all) = (0, 0);
    for paragraph in text.lines() {
        all += paragraph.len();
        if matches(&MENTIONS, paragraph) || matches(&ACCEPTS, paragraph) {
            about += paragraph.len();
        }
    }
    mentions >= 2 && about * 100 >= all * MOSTLY && matches(&ACCEPTS, text)
}

/// Whether a page has few words and scripts that may make more of them.
pub(super) fn is_shell(text: &str, html: &[u8]) -> bool {
    static SCRIPTS: LazyLock<Option<BytesRegex>> =
        LazyLock::new(|| BytesRegex::new(r"(?is-u)<script\b[^>]*>.*?</script>").ok());
    if text.trim().chars().count() >= FEW_WORDS {
        return false;
    }
    let Some(scripts) = &*SCRIPTS else { return false };
    scripts.find_iter(html).map(|script| script.len()).sum::<usize>() >= LARGE_SCRIPTS
}

fn matches(pattern: &LazyLock<Option<Regex>>, text: &str) -> bool {
    pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
}

#[cfg(test)]
mod tests {
    use super::{Placeholder, is_shell, placeholder};

    #[test]
    fn announcements_are_no_content() {
        for text in [
            "wait",
            "Loading your dashboard…",
            "# App\n\nPlease wait while we fetch your data.",
            "You need to enable JavaScript to run this app.",
            "Bitte warten …",
            "読み込み中です",
        ] {
            assert_eq!(placeholder(text), Some(Placeholder::Loading), "{text}");
        }
        let wall = "We value your privacy\n\nWe and our partners store cookies on your device to personalise ads.\n\n\
            Accept all\n\nMore options";
        assert_eq!(placeholder(wall), Some(Placeholder::Consent));
        let german = "Datenschutz\nMit Ihrer Einwilligung verwenden wir Cookies und teilen Daten mit unseren Partnern.\n\
            Alle akzeptieren";
        assert_eq!(placeholder(german), Some(Placeholder::Consent));
    }

    #[test]
    fn content_about_loading_and_cookies_stays_content() {
        let recipe = "Mix flour and sugar, bake the cookies for ten minutes, and allow them to cool before you eat them.";
        let privacy = format!(
            "How cookies work\n{}",
            "A browser sends them back with each request. ".repeat(200)
        );
        for text in ["Just a few words.", "The waiting room is open.", recipe, &privacy] {
            assert_eq!(placeholder(text), None, "{text}");
        }
        let long = format!(
            "Loading docks in Hamburg\n{}",
            "They are busy by day and by night. ".repeat(20)
        );
        assert_eq!(placeholder(&long), None);
    }

    #[test]
    fn few_words_among_large_scripts_are_a_shell() {
        let html = format!("<p>Sign in</p><script>{}</script>", "x".repeat(30_000));
        assert!(is_shell("Sign in", html.as_bytes()));
        assert!(!is_shell("Sign in", b"<p>Sign in</p><script>x</script>"));
        assert!(!is_shell(&"A sentence of some words. ".repeat(20), html.as_bytes()));
    }
}
