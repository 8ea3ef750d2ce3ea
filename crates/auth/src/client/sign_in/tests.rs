use std::collections::BTreeMap;

use super::*;
use crate::options::ScopeNames;

fn options(roles_claim: Option<&str>, scopes: &[&str]) -> AccessOptions {
    AccessOptions {
        public_url: "https://strip.example".to_owned(),
        issuer: Some(IssuerOptions {
            issuer: "https://id.example/realms/a".to_owned(),
            audience: Vec::new(),
            jwks_uri: None,
            tenant_claim: None,
            agent_claim: None,
            roles_claim: roles_claim.map(str::to_owned),
            roles: BTreeMap::new(),
            introspection: None,
            sign_in: Some(SignInOptions {
                client_id: "dashboard".to_owned(),
                client_secret: None,
                scopes: scopes.iter().map(|&scope| scope.to_owned()).collect(),
                resource: Resource::FromMetadata,
            }),
        }),
        api_keys: true,
        scopes: ScopeNames { read: "look".to_owned(), call: "call".to_owned() },
    }
}

fn scopes_for(options: &AccessOptions) -> Vec<String> {
    let issuer = options.issuer.as_ref().unwrap();
    requested_scopes(issuer.sign_in.as_ref().unwrap(), issuer, options).into_iter().collect()
}

#[test]
fn sign_in_requests_the_scopes_of_the_dashboard_by_their_token_names() {
    assert_eq!(scopes_for(&options(None, &[])), ["call", "look", "openid"]);
    assert_eq!(scopes_for(&options(Some("roles"), &[])), ["openid"]);
    assert_eq!(scopes_for(&options(None, &["openid", "x"])), ["openid", "x"]);
}

fn authority() -> Arc<Authority> {
    let metadata = serde_json::json!({
        "issuer": "https://id.example/realms/a", "token_endpoint": "https://id.example/token",
        "authorization_endpoint": "https://id.example/auth?tenant=1",
    });
    Arc::new(authority::of(metadata).unwrap())
}

fn sign_in(clock: &Clock) -> Arc<SignIn> {
    let options = options(None, &[]);
    let policy =
        egress::http::AddressPolicy::new(Vec::new(), egress::http::OwnListeners::default());
    let client = Client::new(policy).unwrap();
    let issuer = Issuer::new(options.issuer.as_ref().unwrap(), &options, &client, clock.clone());
    let sign_in = SignIn::new(&options, &issuer, clock.clone()).unwrap();
    let known = CachedAuthority { authority: Ok(authority()), at_ms: clock.unix_ms() };
    *sign_in.known.try_lock().unwrap() = Some(known);
    sign_in
}

fn state(redirect: &SignInRedirect) -> String {
    let url: Url = redirect.url.parse().unwrap();
    url.query_pairs().find(|(name, _)| name == "state").unwrap().1.into_owned()
}

#[tokio::test]
async fn a_sign_in_ends_once_in_its_own_browser_and_within_ten_minutes() {
    let clock = Clock::manual(1_000_000_000_000);
    let sign_in = sign_in(&clock);
    let one = sign_in.begin("/dashboard").await.unwrap();
    let two = sign_in.begin("/dashboard").await.unwrap();
    assert!(one.url.starts_with("https://id.example/auth?tenant=1&response_type=code&"), "{one:?}");
    assert_eq!(state(&one).len(), 43, "256 bits");
    assert_eq!(SignIn::tag(&format!("state={}&code=x", state(&one))).as_ref(), Some(&one.tag));

    let finish = async |state: &str, key: Option<&Secret>| {
        let query = format!("state={state}");
        sign_in.finish(&query, key.map(Secret::expose)).await.unwrap_err()
    };
    assert_eq!(finish(&state(&one), Some(&two.key)).await, SignInFault::OtherBrowser);
    assert_eq!(finish(&state(&one), None).await, SignInFault::OtherBrowser);
    assert_eq!(finish("x", Some(&one.key)).await, SignInFault::Unknown);
    assert_eq!(
        finish(&state(&one), Some(&one.key)).await,
        SignInFault::NoCode,
        "it was still there"
    );
    assert_eq!(finish(&state(&one), Some(&one.key)).await, SignInFault::Unknown, "and is used up");

    clock.advance(SIGN_IN_TIMEOUT);
    assert_eq!(finish(&state(&two), Some(&two.key)).await, SignInFault::Unknown);
}

#[tokio::test]
async fn pending_sign_ins_are_bounded_and_the_oldest_is_dropped_first() {
    let clock = Clock::manual(1_000_000_000_000);
    let sign_in = sign_in(&clock);
    let first = sign_in.begin("/dashboard").await.unwrap();
    clock.advance(Duration::from_secs(1));
    for _ in 0..MAX_PENDING {
        sign_in.begin("/dashboard").await.unwrap();
    }
    assert_eq!(sign_in.pending().len(), MAX_PENDING);
    assert!(!sign_in.pending().contains_key(&digest(state(&first).as_bytes())));
}

#[test]
fn only_standard_error_codes_of_the_provider_are_repeated() {
    assert_eq!(SignInFault::refused("access_denied"), SignInFault::Denied);
    assert_eq!(SignInFault::refused("invalid_scope"), SignInFault::Refused("invalid_scope"));
    let odd = SignInFault::refused("<script>alert(1)</script>").to_string();
    assert!(!odd.contains("script"), "{odd}");
}
