use egress::http::Phase;

use super::*;

#[test]
fn statuses_become_codes_with_the_status_in_details() {
    for (status, code) in [
        (404, Code::NotFound),
        (408, Code::Timeout),
        (429, Code::RateLimit),
        (403, Code::InvalidInput),
        (410, Code::InvalidInput),
        (500, Code::Unavailable),
    ] {
        let failure = error_status(status, None);
        assert_eq!(failure.code, code, "{status}");
        assert_eq!(failure.details.unwrap()["status"], status);
    }
    let mut headers = HeaderMap::new();
    headers.insert(RETRY_AFTER, HeaderValue::from_static("7"));
    let wait = retry_after(429, &headers, 0);
    let failure = error_status(429, wait);
    assert_eq!(failure.retry_after, Some(Duration::from_secs(7)));
    assert_eq!(failure.details.unwrap()["retryAfterMs"], 7_000);
    assert_eq!(retry_after(404, &headers, 0), None);
    headers.insert(RETRY_AFTER, HeaderValue::from_static("Thu, 01 Jan 1970 00:01:00 GMT"));
    assert_eq!(retry_after(503, &headers, 30_000), Some(Duration::from_secs(30)));
}

#[test]
fn failures_of_the_fetch_have_codes() {
    let timeout = FetchError::Timeout { phase: Phase::Total, after: Duration::from_secs(1) };
    assert_eq!(unreachable(timeout).code, Code::Timeout);
    assert_eq!(unreachable(FetchError::Refused(Refusal::Userinfo)).code, Code::InvalidInput);
    let loops = unreachable(FetchError::Refused(Refusal::Redirects { limit: 5 }));
    assert_eq!((loops.code, loops.retryable), (Code::Unavailable, false));
}
