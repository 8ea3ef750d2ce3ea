//! The claims that an ID token must have (OpenID Connect Core, section 3.1.3.7), apart from its signature.

use serde_json::{Map, Value};

use crate::claims::check_time;
use crate::fault::TokenFault;

/// Checks issuer, client, nonce and time.
pub(super) fn check(
    claims: &Map<String, Value>,
    issuer: &str,
    client: &str,
    nonce: &str,
    now_ms: u64,
) -> Result<(), TokenFault> {
    let text = |name: &str| claims.get(name).and_then(Value::as_str);
    if text("iss") != Some(issuer) {
        return Err(TokenFault::Issuer);
    }
    let ours = match claims.get("aud") {
        Some(Value::String(one)) => one == client,
        Some(Value::Array(many)) => many.iter().any(|one| one.as_str() == Some(client)),
        _ => false,
    };
    // The authorized party must be us if it is named.
    let authorized = claims.get("azp").is_none_or(|party| party.as_str() == Some(client));
    if !ours || !authorized {
        return Err(TokenFault::Audience);
    }
    if text("nonce") != Some(nonce) {
        return Err(TokenFault::Claim("nonce".to_owned()));
    }
    check_time(claims, now_ms).map(drop)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check_patched(changes: Value) -> Result<(), TokenFault> {
        let mut claims = json!({"iss": "https://id", "aud": "strip", "nonce": "n", "exp": 1_000});
        for (name, value) in changes.as_object().unwrap() {
            claims[name] = value.clone();
        }
        check(claims.as_object().unwrap(), "https://id", "strip", "n", 900_000)
    }

    #[test]
    fn an_id_token_is_for_one_client_and_one_sign_in() {
        for good in [json!({}), json!({"aud": ["x", "strip"], "azp": "strip"})] {
            assert_eq!(check_patched(good.clone()), Ok(()), "{good}");
        }
        for (bad, why) in [
            (json!({"iss": "https://id/"}), TokenFault::Issuer),
            (json!({"iss": null}), TokenFault::Issuer),
            (json!({"aud": "other"}), TokenFault::Audience),
            (json!({"aud": ["other"]}), TokenFault::Audience),
            (json!({"aud": null}), TokenFault::Audience),
            (json!({"aud": ["x", "strip"], "azp": "x"}), TokenFault::Audience),
            (json!({"azp": 7}), TokenFault::Audience),
            (json!({"nonce": "m"}), TokenFault::Claim("nonce".to_owned())),
            (json!({"nonce": null}), TokenFault::Claim("nonce".to_owned())),
            (json!({"exp": 800}), TokenFault::Expired),
            (json!({"exp": null}), TokenFault::Claim("exp".to_owned())),
        ] {
            assert_eq!(check_patched(bad.clone()), Err(why), "{bad}");
        }
    }
}
