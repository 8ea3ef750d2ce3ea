//! Pages that ask a visitor to prove that they are a person. They are never content.

use http::HeaderMap;

/// Headers that only challenges have: name and value.
const HEADERS: [(&str, &str); 4] = [
    ("cf-mitigated", "challenge"),
    ("x-vercel-mitigated", "challenge"),
    ("x-amzn-waf-action", "challenge"),
    ("x-amzn-waf-action", "captcha"),
];

/// Parts of the scripts of challenges. A page may load such a script next to its content, so they count only on short pages
/// and with the status of a refusal.
const SCRIPTS: [&str; 16] = [
    "/cdn-cgi/challenge-platform/",
    "_cf_chl_opt",
    "cf-browser-verification",
    "cf-turnstile",
    "captcha-delivery.com",
    "px-captcha",
    "_incapsula_resource",
    "awswafcookiedomainlist",
    "sucuri_cloudproxy_js",
    "/.well-known/.git.gammaspectra.live",
    "/.within.website/x/cmd/anubis",
    "ips.js?timestamp",
    "google.com/recaptcha",
    "hcaptcha.com/1/api.js",
    "anomaly-modal",
    "bm-verify",
];

/// Sentences of challenges, in lower case.
const SENTENCES: [&str; 24] = [
    "just a moment...",
    "checking your browser before",
    "checking if the site connection is secure",
    "enable javascript and cookies to continue",
    "attention required! | cloudflare",
    "ddos protection by",
    "needs to review the security of your connection",
    "verify you are human",
    "verifying you are human",
    "verify that you are human",
    "verify you are not a robot",
    "making sure you're not a bot",
    "are you a robot?",
    "are you human?",
    "i'm not a robot",
    "press & hold to confirm",
    "press and hold",
    "request unsuccessful. incapsula incident",
    "unusual traffic from your computer network",
    "complete the security check to access",
    "complete the captcha",
    "pardon our interruption",
    "vercel security checkpoint",
    "please turn javascript on and reload the page",
];

/// Texts above this length are content, whatever script the page also loads.
const LONGEST: usize = 1_500;
/// The part of a page that is examined.
const EXAMINED: usize = 300_000;

/// Whether an answer is a challenge. `text` is the page's text, if it has been extracted.
pub(crate) fn is_challenge(
    status: u16,
    headers: &HeaderMap,
    body: &[u8],
    text: Option<&str>,
) -> bool {
    let by_header = HEADERS.iter().any(|(name, value)| {
        headers
            .get(*name)
            .is_some_and(|found| found.as_bytes().eq_ignore_ascii_case(value.as_bytes()))
    });
    if by_header {
        return true;
    }
    let refusal = matches!(status, 401 | 403 | 405 | 429 | 503);
    let short = text.is_none_or(|text| text.chars().count() < LONGEST);
    if !short {
        return false;
    }
    let page = String::from_utf8_lossy(&body[..body.len().min(EXAMINED)]).to_lowercase();
    let scripts = || SCRIPTS.iter().any(|script| page.contains(script));
    let text = text.map(|text| text.to_lowercase().replace('’', "'"));
    let sentences = || {
        let shown = text.as_deref().unwrap_or(&page);
        // A title is no part of the text, and often the only sentence.
        let title = title(&page);
        SENTENCES.iter().any(|sentence| shown.contains(sentence) || title.contains(sentence))
    };
    if refusal {
        return scripts() || sentences();
    }
    // With another status, a page that loads the script of a captcha for its form is content.
    let hardly_any = text.as_deref().is_none_or(|text| text.trim().chars().count() < 300);
    sentences() || hardly_any && SCRIPTS[..10].iter().any(|script| page.contains(script))
}

fn title(page: &str) -> &str {
    let Some((_, rest)) = page.split_once("<title") else { return "" };
    let rest = rest.split_once('>').map_or("", |(_, rest)| rest);
    rest.split_once("</title").map_or("", |(title, _)| title)
}

#[cfg(test)]
mod tests;
