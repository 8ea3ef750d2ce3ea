use http::HeaderValue;

use super::*;

fn page(status: u16, body: &str, text: &str) -> bool {
    is_challenge(status, &HeaderMap::new(), body.as_bytes(), Some(text))
}

#[test]
fn challenges_are_found_by_header_script_and_sentence() {
    let mut headers = HeaderMap::new();
    headers.insert("cf-mitigated", HeaderValue::from_static("challenge"));
    assert!(is_challenge(200, &headers, b"", None));
    assert!(is_challenge(405, &headers, b"", None));
    let script = "<script src=/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1></script>";
    assert!(page(403, script, "") && page(200, script, "One moment."));
    assert!(page(403, "<div id=px-captcha></div>", "Press & Hold to confirm you are a human"));
    assert!(is_challenge(403, &HeaderMap::new(), b"<p>Press and hold the button.</p>", None));
    assert!(page(503, "<title>Just a moment...</title>", "Please wait"));
    assert!(page(200, "<h1>x</h1>", "Verify you are human by completing the action below."));
    assert!(page(
        429,
        "<p>",
        "Our systems have detected unusual traffic from your computer network."
    ));
    assert!(page(200, "<script>window._cf_chl_opt={}</script>", ""));
    // It explains itself at length, with the status of a page.
    let anubis = "<title>Making sure you’re not a bot!</title><script src=/.within.website/x/cmd/anubis/main.mjs>";
    assert!(page(200, anubis, &"This site is protected from scrapers. ".repeat(25)));
}

/// Cloudflare's JavaScript detections, which it adds to ordinary pages.
const DETECTION: &str = "<script>a.src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'</script>";

#[test]
fn ordinary_pages_behind_a_protection_are_not_challenges() {
    assert!(!page(200, DETECTION, "Contact us by mail or telephone."));
    assert!(!page(403, DETECTION, "Members only"));
    // What is neither a page nor a refusal is an error, whatever it loads or says.
    let challenge = "<title>Just a moment...</title><script>window._cf_chl_opt={}</script>";
    for status in [301, 404, 410, 500] {
        assert!(!is_challenge(status, &HeaderMap::new(), challenge.as_bytes(), None), "{status}");
        assert!(!page(status, challenge, "Verify you are human"), "{status}");
    }
}

#[test]
fn sentences_of_challenges_may_be_content() {
    let manual = "To turn the device off, press and hold the power button for five seconds. ";
    assert!(!page(200, "<title>Press and hold</title>", manual));
    let review =
        format!("Are you human? asks the title. {}", "It is a film about robots. ".repeat(12));
    assert!(!page(200, "<h1>Are you human?</h1>", &review));
}

#[test]
fn content_and_plain_refusals_are_not_challenges() {
    let article =
        format!("Sites ask: are you a robot? {}", "A sentence about captchas. ".repeat(80));
    assert!(!page(200, "<script>window._cf_chl_opt={}</script>", &article));
    assert!(!page(403, "<h1>Forbidden</h1>", "Forbidden"));
    assert!(!page(503, "<h1>Down for maintenance</h1>", "Down for maintenance"));
    let form = "<script src=https://www.google.com/recaptcha/api.js></script>";
    assert!(!page(200, form, "Contact us by mail or telephone."));
}
