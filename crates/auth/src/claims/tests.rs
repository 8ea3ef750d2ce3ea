use std::collections::BTreeMap;

use serde_json::json;

use super::*;

const NOW: u64 = 1_800_000_000_000;

fn issuer() -> IssuerOptions {
    IssuerOptions {
        issuer: "https://id.example".to_owned(),
        audience: Vec::new(),
        jwks_uri: None,
        tenant_claim: Some("org".to_owned()),
        agent_claim: Some("agent".to_owned()),
        roles_claim: Some("realm.roles".to_owned()),
        roles: BTreeMap::from([("analyst".to_owned(), vec!["tools:call".to_owned()])]),
        introspection: None,
        sign_in: None,
    }
}

fn rules(issuer: &IssuerOptions, scopes: ScopeNames) -> Rules {
    let options = AccessOptions {
        public_url: "https://gw.example".to_owned(),
        issuer: None,
        api_keys: true,
        scopes,
    };
    Rules::new(issuer, &options)
}

fn claims() -> Map<String, Value> {
    let claims = json!({
        "iss": "https://id.example", "aud": "https://gw.example/mcp", "sub": "ann", "org": "acme",
        "exp": NOW / 1000 + 60, "scope": "tools:read email",
    });
    claims.as_object().cloned().expect("an object")
}

fn with(changes: Value) -> Map<String, Value> {
    let mut claims = claims();
    for (name, value) in changes.as_object().expect("an object") {
        match value {
            Value::Null => claims.remove(name),
            value => claims.insert(name.clone(), value.clone()),
        };
    }
    claims
}

fn read(changes: Value) -> Result<Principal, TokenFault> {
    let rules = rules(&issuer(), ScopeNames::default());
    rules.bearer(&with(changes), NOW).map(|bearer| (*bearer.principal).clone())
}

#[test]
fn a_principal_has_the_values_of_the_claims() {
    let expected = Principal {
        tenant: TenantId::new("acme"),
        subject: "ann".to_owned(),
        agent: None,
        scopes: vec!["email".to_owned(), "tools:read".to_owned()],
        via: Via::Token {
            issuer: "https://id.example".to_owned(),
            client: None,
            audience: Audience::Gateway,
        },
    };
    assert_eq!(read(json!({})), Ok(expected.clone()));
    let agent = read(json!({"agent": "researcher"})).expect("an agent");
    assert_eq!(agent.agent.as_deref(), Some("researcher"));
    let roles = read(json!({"realm": {"roles": ["analyst", "unknown"]}})).expect("roles");
    assert_eq!(roles.scopes, ["email", "tools:call", "tools:read"]);
    let listed = read(json!({"scope": null, "scp": ["tools:read", "tools:read"]})).expect("a list");
    assert_eq!(listed.scopes, ["tools:read"]);
    assert_eq!(read(json!({"scope": null})).expect("no scopes").scopes, [""; 0]);
    let program = read(json!({"sub": null, "client_id": "ci"})).expect("a program");
    assert_eq!(program.subject, "client:ci");
}

#[test]
fn tokens_for_another_audience_or_time_are_refused() {
    let seconds = NOW / 1000;
    for (changes, fault) in [
        (json!({"iss": "https://id.example/"}), TokenFault::Issuer),
        (json!({"iss": null}), TokenFault::Issuer),
        (json!({"iss": ["https://id.example"]}), TokenFault::Issuer),
        (json!({"aud": "https://other.example"}), TokenFault::Audience),
        (json!({"aud": ["https://gw.example.evil"]}), TokenFault::Audience),
        (json!({"aud": "https://gw.example/other-service"}), TokenFault::Audience),
        (json!({"aud": null}), TokenFault::Audience),
        (json!({"aud": {"https://gw.example": 1}}), TokenFault::Audience),
        (json!({"exp": seconds - 30}), TokenFault::Expired),
        (json!({"exp": -1}), TokenFault::Expired),
        (json!({"exp": null}), TokenFault::Claim("exp".to_owned())),
        (json!({"exp": "tomorrow"}), TokenFault::Claim("exp".to_owned())),
        (json!({"nbf": seconds + 31}), TokenFault::Early),
        (json!({"nbf": "now"}), TokenFault::Claim("nbf".to_owned())),
    ] {
        assert_eq!(read(changes.clone()), Err(fault), "{changes}");
    }
    for good in [
        json!({"aud": ["x", "https://gw.example/"]}),
        json!({"aud": "https://gw.example/agents/bot/mcp"}),
        json!({"exp": seconds - 29}),
        json!({"exp": 1e300}),
        json!({"nbf": seconds + 29}),
    ] {
        assert!(read(good.clone()).is_ok(), "{good}");
    }
}

#[test]
fn claims_that_name_no_user_or_tenant_are_refused() {
    let claim = |name: &str| Err(TokenFault::Claim(name.to_owned()));
    for sub in [json!(""), json!(7), json!(" ann"), json!("a\u{0}"), json!("x".repeat(300))] {
        assert_eq!(read(json!({"sub": sub})), claim("sub"), "{sub}");
    }
    assert_eq!(read(json!({"sub": null})), claim("sub"));
    for org in [json!(null), json!(""), json!(["acme"]), json!({"a": 1}), json!("local")] {
        assert_eq!(read(json!({"org": org})), claim("org"), "{org}");
    }
    assert_eq!(read(json!({"agent": 7})), claim("agent"));
}

#[test]
fn without_a_tenant_claim_the_issuer_is_one_tenant() {
    let issuer = IssuerOptions { tenant_claim: None, ..issuer() };
    let bearer = rules(&issuer, ScopeNames::default()).bearer(&claims(), NOW).expect("a bearer");
    assert_eq!(bearer.principal.tenant.as_str(), "https://id.example");
}

#[test]
fn scopes_may_be_renamed() {
    let names = ScopeNames { read: "mcp.read".to_owned(), call: "mcp.call".to_owned() };
    let rules = rules(&issuer(), names);
    let scopes = |scope: &str| {
        let claims = with(json!({"scope": scope}));
        rules.bearer(&claims, NOW).expect("a bearer").principal.scopes.clone()
    };
    assert_eq!(scopes("mcp.read mcp.call other"), ["other", "tools:call", "tools:read"]);
    assert_eq!(scopes("tools:read tools:call"), [""; 0]);
}

#[test]
fn a_token_for_the_door_of_an_agent_is_for_nothing_else() {
    let audience = |aud: Value| match read(json!({"aud": aud})).expect("a door of ours").via {
        Via::Token { audience, .. } => audience,
        other => panic!("{other:?}"),
    };
    let agents = |names: &[&str]| Audience::Agents(names.iter().map(ToString::to_string).collect());
    let tiny = "https://gw.example/agents/tiny/mcp";
    assert_eq!(audience(json!(tiny)), agents(&["tiny"]));
    assert_eq!(audience(json!([tiny, "https://gw.example/agents/a/mcp"])), agents(&["a", "tiny"]));
    for wide in ["https://gw.example", "https://gw.example/", "https://gw.example/mcp"] {
        assert_eq!(audience(json!([tiny, wide])), Audience::Gateway, "{wide}");
    }
    for other in ["https://gw.example/agents/mcp", "https://gw.example/agents/a/b/mcp"] {
        assert_eq!(read(json!({"aud": other})), Err(TokenFault::Audience), "{other}");
    }
    let mut named = issuer();
    named.audience = vec![tiny.to_owned(), "api://gateway".to_owned()];
    let rules = rules(&named, ScopeNames::default());
    let via = |aud: &str| {
        rules.bearer(&with(json!({"aud": aud})), NOW).expect("named").principal.via.clone()
    };
    assert!(matches!(via(tiny), Via::Token { audience: Audience::Agents(_), .. }));
    assert!(matches!(via("api://gateway"), Via::Token { audience: Audience::Gateway, .. }));
}

#[test]
fn subjects_of_keys_and_programs_are_reserved() {
    for subject in ["key:ci", "client:ci"] {
        let refused = read(json!({"sub": subject, "client_id": "ci"}));
        assert_eq!(refused, Err(TokenFault::Claim("sub".to_owned())), "{subject}");
    }
    assert_eq!(read(json!({"sub": "monkey:ci"})).expect("a person").subject, "monkey:ci");
}
