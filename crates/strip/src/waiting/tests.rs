use std::sync::Arc;

use proto::{Principal, TenantId, Via};
use serde_json::Value;

use super::*;
use crate::{Door, Request};

fn job(timeout: Option<Duration>) -> Job {
    let tenant = TenantId::new("acme");
    let (subject, scopes) = ("ann".to_owned(), Vec::new());
    let ann = Arc::new(Principal { tenant, subject, agent: None, scopes, via: Via::Local });
    let mut request = Request::new("t", Value::Null, ann, Door::Http);
    request.timeout = timeout;
    let mut job = Job::new(request);
    job.time_limit = LONGEST;
    job
}

#[test]
fn the_timeout_of_the_caller_is_used_up() {
    let seconds = Duration::from_secs;
    let unasked = WaitOptions::default();
    for (timeout, waits) in [
        (None, seconds(25)),
        (Some(seconds(2)), Duration::from_millis(1_500)),
        (Some(seconds(120)), seconds(119)),
        (Some(seconds(7_200)), seconds(599)),
    ] {
        assert_eq!(longest_wait(&job(timeout), unasked), waits, "{timeout:?}");
    }
    let asks = WaitOptions { asks: true, wait: None };
    assert_eq!(longest_wait(&job(Some(seconds(60))), asks), seconds(59));
    assert_eq!(longest_wait(&job(None), asks), seconds(599));
}

#[test]
fn the_time_that_the_input_asks_for_ends_before_every_timeout() {
    let seconds = Duration::from_secs;
    let wait = |asked: u64| WaitOptions { asks: false, wait: Some(seconds(asked)) };
    assert_eq!(longest_wait(&job(None), wait(3)), seconds(3));
    assert_eq!(longest_wait(&job(Some(seconds(10))), wait(60)), seconds(9));
    assert_eq!(longest_wait(&job(None), wait(6_000)), seconds(599));
    let mut short = job(None);
    short.time_limit = seconds(20);
    assert_eq!(longest_wait(&short, WaitOptions::default()), seconds(19));
}

#[tokio::test]
async fn waiting_ends_with_the_work_or_after_the_longest_wait() {
    let (job, message) = (job(None), || "waiting".to_owned());
    let ready = wait_for(&job, LONGEST, message, async { 1 });
    assert_eq!(ready.await, Some(1));
    let never = wait_for(&job, Duration::from_millis(5), message, std::future::pending::<()>());
    assert_eq!(never.await, None);
}
