#![allow(clippy::unwrap_used, reason = "tests")]

use std::time::Duration;

use super::*;

#[test]
fn routing_lists_groups_in_order() {
    use ProviderName::{Brave, Duckduckgo, Exa, Serper};
    let routing = parse_routing("brave, serper+exa+serper,duckduckgo").unwrap();
    assert_eq!(routing, [vec![Brave], vec![Serper, Exa], vec![Duckduckgo]]);
    assert!(parse_routing("bing").unwrap_err().to_string().contains("duckduckgo"));
    assert!(parse_routing("arxiv").is_err());
}

#[test]
fn quotas_are_requests_in_a_period() {
    let quota: Quota = "1000/1d".parse().unwrap();
    assert_eq!(quota, Quota { requests: 1_000, period: Duration::from_secs(86_400) });
    assert!("1000".parse::<Quota>().is_err());
    assert!("x/1d".parse::<Quota>().is_err());
}
