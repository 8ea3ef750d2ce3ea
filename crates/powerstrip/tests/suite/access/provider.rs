//! A real authorization server, `oidc-provider`, on loopback: the gateway accepts its tokens.

use serde_json::{Value, json};
use testkit::{Gateway, OidcProvider, send};

use crate::access::support::{Caller, challenge};

struct Provider(OidcProvider);

impl Provider {
    /// A token for a resource, by client credentials.
    async fn token(&self, client: &str, resource: &str, scope: &str) -> String {
        let form = format!(
            "grant_type=client_credentials&resource={}&scope={}",
            resource.replace(':', "%3A").replace('/', "%2F"),
            scope.replace(' ', "+")
        );
        let request = reqwest::Client::new()
            .post(format!("{}/token", self.0.issuer()))
            .basic_auth(client, Some(format!("{client}-secret")))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(form);
        let answer = send(request).await;
        answer.body["access_token"].as_str().unwrap_or_else(|| panic!("{answer:?}")).to_owned()
    }
}

#[tokio::test]
async fn tokens_of_a_real_authorization_server_are_accepted() {
    let Some(provider) = OidcProvider::start().await.map(Provider) else { return };
    let gateway = Gateway::with()
        .env("CLIENT_SECRET", "gateway-secret")
        .config(&format!(
            "auth:\n  issuer: {0}\n  tenant_claim: org\n  introspection: {{ url: '{0}/token/introspection', \
             client_id: gateway, client_secret: {{ env: CLIENT_SECRET }} }}",
            provider.0.issuer()
        ))
        .start()
        .await;
    // As specified: the challenge names the metadata, which names the authorization server and the resource.
    let anonymous = Caller::new(&gateway, None);
    let refused = anonymous.get("/mcp").await;
    let path = challenge(&refused).split("resource_metadata=\"").nth(1).unwrap();
    let path = path.split('"').next().unwrap().replace(&gateway.url(""), "");
    let metadata = anonymous.get(&path).await.body;
    assert_eq!(metadata["authorization_servers"], json!([provider.0.issuer()]));
    let resource = metadata["resource"].as_str().unwrap();

    for client in ["signed", "opaque"] {
        let token = provider.token(client, resource, "tools:read tools:call").await;
        assert_eq!(token.contains('.'), client == "signed", "{token}");
        let caller = Caller::new(&gateway, Some(token));
        let called = caller.call("demo.echo", &json!({"message": client})).await;
        assert_eq!(called.body["data"], json!({"message": client}), "{called:?}");
        let listed = caller.modern("tools/list", json!({})).await;
        assert!(matches!(listed.body["result"]["tools"], Value::Array(_)), "{listed:?}");

        let narrow = provider.token(client, resource, "tools:read").await;
        let called = Caller::new(&gateway, Some(narrow)).call("demo.echo", &json!({})).await;
        assert_eq!(called.status, 403, "{client}");
        let foreign = provider.token(client, "https://other.example/mcp", "tools:read").await;
        let refused = Caller::new(&gateway, Some(foreign)).get("/mcp/discover").await;
        assert_eq!(refused.status, 401, "{client}");
        assert!(challenge(&refused).contains("another audience"), "{refused:?}");
    }
}
