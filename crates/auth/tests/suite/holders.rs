//! Owners of tokens: people, the gateway itself, and servers that take over another's name.

use std::sync::Arc;

use auth::client::{
    BearerChallenge, ClientConfig, Fault, Holder, OAuthClient, ServerTokens, TokenServer,
};
use auth::vault::KeySource;
use egress::http::{AddressPolicy, Client};
use proto::{Clock, Principal, TenantId, Via};
use store::Database;
use testkit::{CANARY, ProtectedServer};

fn person(tenant: &str, subject: &str) -> Holder {
    Holder::person(&Principal {
        tenant: TenantId::new(tenant),
        subject: subject.to_owned(),
        agent: None,
        scopes: Vec::new(),
        via: Via::Local,
    })
}

struct Setup {
    oauth: Arc<OAuthClient>,
    protected: ProtectedServer,
    _folder: tempfile::TempDir,
}

impl Setup {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(folder.path()).await.unwrap();
        let key = KeySource::File(folder.path().join("vault.key"));
        let oauth = OAuthClient::new(database, key, Clock::default());
        oauth.set_base_url("http://127.0.0.1:7777");
        Self { oauth, protected: ProtectedServer::start().await, _folder: folder }
    }

    fn server(&self, url: &str, shared: bool) -> Arc<ServerTokens> {
        let issuer = Some(self.protected.issuer.clone());
        let config = ClientConfig { issuer, ..ClientConfig::default() };
        let http = Client::new(AddressPolicy::default()).unwrap();
        let urls = vec![url.to_owned()];
        let server = TokenServer { name: "crm", urls, shared, config: Some(config) };
        ServerTokens::new(Arc::clone(&self.oauth), server, &http)
    }

    async fn challenge(&self, tokens: &Arc<ServerTokens>, who: &Holder) -> Result<(), Fault> {
        tokens.answer_challenge(who, &self.protected.url, BearerChallenge::default(), None).await
    }

    /// Opens the link and confirms; returns the cookies and the query with which the browser would return.
    async fn authorize(&self, link: &str, who: &str) -> Option<(String, String)> {
        let (page, query) = link.split_once('?').unwrap();
        assert_eq!(page, "http://127.0.0.1:7777/oauth/login");
        let prompt = self.oauth.open_login(query, "").ok()?;
        let cookies = prompt.cookie.split(';').next().unwrap().to_owned();
        let form = format!("state={}&check={}", prompt.state, prompt.check);
        let url = self.oauth.confirm_login(&form, &cookies).unwrap();
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        let sent = client.build().unwrap().get(format!("{url}&login_hint={who}")).send().await;
        let back = sent.unwrap().headers()["location"].to_str().unwrap().to_owned();
        let (callback, query) = back.split_once('?').unwrap();
        assert_eq!(callback, "http://127.0.0.1:7777/oauth/callback");
        Some((cookies, query.to_owned()))
    }

    async fn log_in(&self, link: &str, who: &str) -> bool {
        let Some((cookies, query)) = self.authorize(link, who).await else { return false };
        self.oauth.finish_login(&query, &cookies).await.accepted
    }
}

fn link(outcome: Result<(), Fault>) -> String {
    match outcome {
        Err(Fault::LoginRequired { link: Some(link), .. }) => link.to_string(),
        other => panic!("no link: {other:?}"),
    }
}

#[tokio::test]
async fn each_person_has_only_their_own_token() {
    let setup = Setup::new().await;
    let tokens = setup.server(&setup.protected.url, false);
    let (ada, bob, other_ada) = (person("a", "ada"), person("a", "bob"), person("b", "ada"));
    assert!(matches!(
        setup.challenge(&tokens, &Holder::Gateway).await,
        Err(Fault::LoginRequired { link: None, .. })
    ));
    let (of_ada, of_bob) =
        (link(setup.challenge(&tokens, &ada).await), link(setup.challenge(&tokens, &bob).await));
    assert_ne!(of_ada, of_bob);
    assert!(setup.log_in(&of_ada, "ada").await);
    assert!(!setup.log_in(&of_ada, "ada").await, "a state is accepted once");
    let token = tokens.authorization(&ada).await.unwrap();
    assert!(token.is_sensitive() && token.to_str().unwrap().contains(CANARY));
    for other in [&bob, &other_ada] {
        assert_eq!(tokens.authorization(other).await, None, "{other:?}");
        link(setup.challenge(&tokens, other).await);
    }
    assert_eq!(
        tokens.authorization(&Holder::Gateway).await,
        Some(token.clone()),
        "for the list of tools"
    );
    assert!(setup.log_in(&of_bob, "bob").await);
    assert_ne!(tokens.authorization(&bob).await, Some(token));

    // A later process loads them from the vault, each for its owner.
    let later = setup.server(&setup.protected.url, false);
    assert_eq!(later.authorization(&ada).await, tokens.authorization(&ada).await);
    assert_eq!(later.authorization(&bob).await, tokens.authorization(&bob).await);
    assert_eq!(later.authorization(&other_ada).await, None);
}

#[tokio::test]
async fn a_token_does_not_follow_a_name_to_another_server() {
    let setup = Setup::new().await;
    let ada = person("a", "ada");
    let tokens = setup.server(&setup.protected.url, false);
    let link = link(setup.challenge(&tokens, &ada).await);
    assert!(setup.log_in(&link, "ada").await);
    let moved = setup.server("http://127.0.0.1:9/mcp", false);
    assert_eq!(moved.authorization(&ada).await, None);
    assert_eq!(moved.authorization(&Holder::Gateway).await, None);
    assert!(!format!("{:?}", moved.authorization(&ada).await).contains(CANARY));
}

#[tokio::test]
async fn a_shared_server_has_one_login_for_everybody() {
    let setup = Setup::new().await;
    let tokens = setup.server(&setup.protected.url, true);
    let link = link(setup.challenge(&tokens, &Holder::Gateway).await);
    assert!(setup.log_in(&link, "ada").await);
    let token = tokens.authorization(&Holder::Gateway).await;
    assert!(token.is_some());
    assert_eq!(tokens.authorization(&person("a", "bob")).await, token);
}

/// Lists that one person's token shows must not be shown to other people.
#[tokio::test]
async fn one_of_many_tokens_is_used_where_there_are_more_users_than_the_local_one() {
    let setup = Setup::new().await;
    let local = person("local", "local");
    for (who, one_of_many) in
        [(local.clone(), false), (person("local", "key:ci"), true), (person("a", "ada"), true)]
    {
        let url = format!("{}?{one_of_many}{who:?}", setup.protected.url);
        let tokens = setup.server(&url, false);
        assert!(!tokens.uses_one_of_many(), "no login yet");
        let outcome = tokens.answer_challenge(&who, &url, BearerChallenge::default(), None).await;
        assert!(setup.log_in(&link(outcome), "x").await);
        assert_eq!(tokens.uses_one_of_many(), one_of_many, "{who:?}");
    }
    let shared = setup.server(&setup.protected.url, true);
    assert!(setup.log_in(&link(setup.challenge(&shared, &Holder::Gateway).await), "x").await);
    setup.oauth.set_multi_user();
    assert!(!shared.uses_one_of_many(), "all users share it");
    let tokens = setup.server(&setup.protected.url, false);
    let outcome = setup.challenge(&tokens, &local).await;
    assert!(setup.log_in(&link(outcome), "x").await);
    assert!(tokens.uses_one_of_many(), "the local user is one of many");
}
