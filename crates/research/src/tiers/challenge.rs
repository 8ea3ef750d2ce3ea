//! Pages that ask a visitor to prove that they are a person. They are never content.

use http::HeaderMap;

/// Headers that only challenges have: name and value.
const HEADERS: [(&str, &str); 4] = [
    ("cf-mitigated", "challenge"),
    ("x-vercel-mitigated", "challenge"),
    ("x-amzn-waf-action", "challenge"),
    ("x-amzn-waf-action", "captcha"),
];

/// Parts of the scripts of challenges. Below `/cdn-cgi/challenge-platform/` ordinary pages have scripts, too.
const SCRIPTS: [&str; 11] = [
    "/cdn-cgi/challenge-platform/h/b/orchestrate/",
    "/cdn-cgi/challenge-platform/h/g/orchestrate/",
    "_cf_chl_opt",
    "cf-browser-verification",
    "captcha-delivery.com",
    "px-captcha",
    "_incapsula_resource",
    "awswafcookiedomainlist",
    "sucuri_cloudproxy_js",
    "/.well-known/.git.gammaspectra.live",
    "/.within.website/x/cmd/anubis",
];

/// Parts of scripts that other pages load, too, often for a form: signs of a challenge only in a refusal.
const COMMON_SCRIPTS: [&str; 6] = [
    "cf-turnstile",
    "ips.js?timestamp",
    "google.com/recaptcha",
    "hcaptcha.com/1/api.js",
    "anomaly-modal",
    "bm-verify",
];

/// Sentences of challenges, in lower case.
const SENTENCES: [&str; 22] = [
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
    "request unsuccessful. incapsula incident",
    "unusual traffic from your computer network",
    "complete the security check to access",
    "complete the captcha",
    "pardon our interruption",
    "vercel security checkpoint",
    "please turn javascript on and reload the page",
];

/// Sentences that other pages have, too: signs of a challenge only in a refusal.
const COMMON_SENTENCES: [&str; 2] = ["press & hold", "press and hold"];

/// Texts of this many characters are content, whatever script the page also loads.
const LONGEST: usize = 1_500;
/// Pages with fewer characters have hardly any text.
const HARDLY_ANY: usize = 300;
/// The part of a page that is examined.
const EXAMINED: usize = 300_000;

/// Whether a text, with its title, says what challenges say.
pub(super) fn names_challenge(text: &str) -> bool {
    let text = text.to_lowercase().replace('’', "'");
    text.chars().count() < LONGEST && SENTENCES.iter().any(|sentence| text.contains(sentence))
}

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
    let refusal = matches!(status, 403 | 429 | 503);
    let characters = text.map_or(0, |text| text.trim().chars().count());
    if by_header || !refusal && !(200..300).contains(&status) || characters >= LONGEST {
        return by_header;
    }
    let plain = |text: &str| text.to_lowercase().replace('’', "'");
    let page = plain(&String::from_utf8_lossy(&body[..body.len().min(EXAMINED)]));
    let text = text.map(plain);
    let shown = text.as_deref().unwrap_or(&page);
    // A title is no part of the text, and often the only sentence.
    let title = title(&page);
    let says = |sentences: &[&str]| {
        sentences.iter().any(|sentence| shown.contains(sentence) || title.contains(sentence))
    };
    let loads = |scripts: &[&str]| scripts.iter().any(|script| page.contains(script));
    if refusal {
        let common = says(&COMMON_SENTENCES) || loads(&COMMON_SCRIPTS);
        return common || says(&SENTENCES) || loads(&SCRIPTS);
    }
    // One of these alone may be content: a page about challenges, one that loads such a script, a short one.
    let signs = [characters < HARDLY_ANY, says(&SENTENCES), loads(&SCRIPTS)];
    signs.into_iter().filter(|sign| *sign).count() >= 2
}

fn title(page: &str) -> &str {
    let Some((_, rest)) = page.split_once("<title") else { return "" };
    let rest = rest.split_once('>').map_or("", |(_, rest)| rest);
    rest.split_once("</title").map_or("", |(title, _)| title)
}

#[cfg(test)]
mod tests;
