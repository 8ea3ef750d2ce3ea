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
        let failure = error_status(status, &HeaderMap::new());
        assert_eq!(failure.code, code, "{status}");
        assert_eq!(failure.details.unwrap()["status"], status);
    }
    let mut headers = HeaderMap::new();
    headers.insert(RETRY_AFTER, HeaderValue::from_static("7"));
    let failure = error_status(429, &headers);
    assert_eq!(failure.retry_after, Some(Duration::from_secs(7)));
}

#[test]
fn failures_of_the_fetch_have_codes() {
    let timeout = FetchError::Timeout { phase: Phase::Total, after: Duration::from_secs(1) };
    assert_eq!(unreachable(timeout).code, Code::Timeout);
    assert_eq!(unreachable(FetchError::Refused(Refusal::Userinfo)).code, Code::InvalidInput);
    let loops = unreachable(FetchError::Refused(Refusal::Redirects { limit: 5 }));
    assert_eq!((loops.code, loops.retryable), (Code::Unavailable, false));
}
