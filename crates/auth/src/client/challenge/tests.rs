use http::HeaderValue;
use proptest::collection::vec;
use proptest::prelude::{any, proptest};

use super::*;

fn bearer(status: u16, headers: &[&str]) -> Option<BearerChallenge> {
    let mut map = HeaderMap::new();
    for header in headers {
        map.append(WWW_AUTHENTICATE, HeaderValue::from_str(header).unwrap());
    }
    BearerChallenge::from_response(StatusCode::from_u16(status).unwrap(), &map)
}

fn with(metadata: Option<&str>, scopes: &[&str], error: Option<&str>) -> Option<BearerChallenge> {
    Some(BearerChallenge {
        resource_metadata: metadata.map(str::to_owned),
        scopes: scopes.iter().map(|&scope| scope.to_owned()).collect(),
        error: error.map(str::to_owned),
        wants_proof: false,
    })
}

#[test]
fn a_bound_token_is_used_only_where_nothing_else_is_accepted() {
    let proof = r#"DPoP error="use_dpop_nonce", resource_metadata="https://a/x""#;
    let only = bearer(401, &[proof]).unwrap();
    assert!(only.wants_proof && only.lacks_nonce(), "{only:?}");
    assert_eq!(only.resource_metadata.as_deref(), Some("https://a/x"));
    assert!(!bearer(401, &[proof, "Bearer"]).unwrap().wants_proof);
}

#[test]
fn challenges_are_read_as_servers_write_them() {
    let url = Some("https://a/.well-known/oauth-protected-resource");
    for (headers, expected) in [
        (
            &[r#"Bearer resource_metadata="https://a/.well-known/oauth-protected-resource""#][..],
            with(url, &[], None),
        ),
        (
            &[
                r#"bearer  realm = "x, y" ,scope="a b",error=invalid_token,resource_metadata=https://a/.well-known/oauth-protected-resource"#,
            ],
            with(url, &["a", "b"], Some("invalid_token")),
        ),
        (
            &[r#"Basic realm="Bearer", Bearer scope="one", Digest qop="auth""#],
            with(None, &["one"], None),
        ),
        (&["Negotiate abc==", "Bearer"], with(None, &[], None)),
        (
            &[
                "Bearer error=first",
                r#"Bearer resource_metadata="https://a/.well-known/oauth-protected-resource""#,
            ],
            with(url, &[], None),
        ),
        (&[r#"Bearer scope="with \"quotes\" and end"#], with(None, &["with", "and", "end"], None)),
        (&[r#"Bearer error="insuff\icient_scope""#], with(None, &[], Some("insufficient_scope"))),
        (&[",,, ;=Bearer=, scope=x"], with(None, &[], None)),
        (&[], with(None, &[], None)),
    ] {
        assert_eq!(bearer(401, headers), expected, "{headers:?}");
    }
}

#[test]
fn a_403_is_a_challenge_only_if_it_is_about_scopes() {
    assert_eq!(bearer(403, &["Bearer error=invalid_token"]), None);
    assert_eq!(bearer(403, &[]), None);
    assert!(bearer(403, &["Bearer error=insufficient_scope"]).unwrap().lacks_scopes());
    assert_eq!(bearer(200, &["Bearer"]), None);
}

proptest! {
    #[test]
    fn any_header_is_read_without_harm(bytes in vec(any::<u8>(), 0..400)) {
        let found = parse(&bytes);
        assert!(found.len() <= bytes.len());
    }

    #[test]
    fn quoted_values_are_unescaped(value in "[ -~]{0,60}", spaces in "[ \t]{0,3}") {
        let quoted = value.replace('\\', "\\\\").replace('"', "\\\"");
        let header = format!("Basic x=1 , Bearer{spaces} a=b{spaces},\terror{spaces}={spaces}\"{quoted}\"{spaces}, scope=s");
        assert_eq!(bearer(401, &[&header]), with(None, &["s"], Some(&value)));
    }
}
