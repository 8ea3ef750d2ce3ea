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
    assert!(page(403, "<script src=/cdn-cgi/challenge-platform/x.js></script>", ""));
    assert!(page(503, "<title>Just a moment...</title>", "Please wait"));
    assert!(page(200, "<h1>x</h1>", "Verify you are human by completing the action below."));
    assert!(page(
        429,
        "<p>",
        "Our systems have detected unusual traffic from your computer network."
    ));
    assert!(page(200, "<script>window._cf_chl_opt={}</script>", ""));
}

#[test]
fn content_and_plain_refusals_are_not_challenges() {
    let article =
        format!("Sites ask: are you a robot? {}", "A sentence about captchas. ".repeat(80));
    assert!(!page(200, "<script src=/cdn-cgi/challenge-platform/x.js></script>", &article));
    assert!(!page(403, "<h1>Forbidden</h1>", "Forbidden"));
    assert!(!page(503, "<h1>Down for maintenance</h1>", "Down for maintenance"));
    let form = "<script src=https://www.google.com/recaptcha/api.js></script>";
    assert!(!page(200, form, "Contact us by mail or telephone."));
}
