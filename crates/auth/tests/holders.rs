//! Whose token is whose: people, the gateway itself, and servers that take over another's name.
#![allow(clippy::disallowed_methods, reason = "tests")]
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use auth::client::{Bearer, ClientConfig, Fault, Holder, Keyring, ServerTokens};
use auth::vault::KeySource;
use egress::http::{AddressPolicy, Client};
use proto::{Clock, Principal, TenantId};
use store::Database;
use testkit::{CANARY, ProtectedServer};

fn person(tenant: &str, subject: &str) -> Holder {
    Holder::person(&Principal {
        tenant: TenantId::new(tenant),
        subject: subject.to_owned(),
        agent: None,
        scopes: Vec::new(),
    })
}

struct House {
    keyring: Arc<Keyring>,
    protected: ProtectedServer,
    _folder: tempfile::TempDir,
}

impl House {
    async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let database = Database::open(folder.path()).await.unwrap();
        let key = KeySource::File(folder.path().join("vault.key"));
        let keyring = Keyring::new(database, key, Clock::default());
        keyring.listens_at("http://127.0.0.1:7777");
        Self { keyring, protected: ProtectedServer::start().await, _folder: folder }
    }

    fn server(&self, url: &str, shared: bool) -> Arc<ServerTokens> {
        let issuer = Some(self.protected.issuer.clone());
        let config = ClientConfig { issuer, ..ClientConfig::default() };
        let http = Client::new(AddressPolicy::default()).unwrap();
        self.keyring.server("crm", vec![url.to_owned()], shared, Some(config), &http)
    }

    async fn challenge(&self, tokens: &Arc<ServerTokens>, who: &Holder) -> Result<(), Fault> {
        tokens.challenged(who, &self.protected.url, Bearer::default(), None).await
    }

    /// Opens the link and agrees to go on; gives the cookies, and the query with which the browser would come back.
    async fn go(&self, link: &str, who: &str) -> Option<(String, String)> {
        let (page, query) = link.split_once('?').unwrap();
        assert_eq!(page, "http://127.0.0.1:7777/oauth/login");
        let invitation = self.keyring.invite(query, "").ok()?;
        let cookies = invitation.cookie.split(';').next().unwrap().to_owned();
        let form = format!("state={}&check={}", invitation.state, invitation.check);
        let away = self.keyring.depart(&form, &cookies).unwrap();
        let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
        let sent = client.build().unwrap().get(format!("{away}&login_hint={who}")).send().await;
        let back = sent.unwrap().headers()["location"].to_str().unwrap().to_owned();
        let (place, query) = back.split_once('?').unwrap();
        assert_eq!(place, "http://127.0.0.1:7777/oauth/callback");
        Some((cookies, query.to_owned()))
    }

    async fn log_in(&self, link: &str, who: &str) -> bool {
        let Some((cookies, query)) = self.go(link, who).await else { return false };
        self.keyring.land(&query, &cookies).await.accepted
    }
}

fn link(outcome: Result<(), Fault>) -> String {
    match outcome {
        Err(Fault::Login { link: Some(link), .. }) => link.to_string(),
        other => panic!("no link: {other:?}"),
    }
}

#[tokio::test]
async fn each_person_has_a_token_of_their_own_and_nobody_elses() {
    let house = House::new().await;
    let tokens = house.server(&house.protected.url, false);
    let (ada, bob, other_ada) = (person("a", "ada"), person("a", "bob"), person("b", "ada"));
    assert!(matches!(
        house.challenge(&tokens, &Holder::Gateway).await,
        Err(Fault::Login { link: None, .. })
    ));
    let (of_ada, of_bob) =
        (link(house.challenge(&tokens, &ada).await), link(house.challenge(&tokens, &bob).await));
    assert_ne!(of_ada, of_bob);
    assert!(house.log_in(&of_ada, "ada").await);
    assert!(!house.log_in(&of_ada, "ada").await, "a state counts once");
    let token = tokens.bearer(&ada).await.unwrap();
    assert!(token.is_sensitive() && token.to_str().unwrap().contains(CANARY));
    for stranger in [&bob, &other_ada] {
        assert_eq!(tokens.bearer(stranger).await, None, "{stranger:?}");
        link(house.challenge(&tokens, stranger).await);
    }
    assert_eq!(tokens.bearer(&Holder::Gateway).await, Some(token.clone()), "for the list of tools");
    assert!(house.log_in(&of_bob, "bob").await);
    assert_ne!(tokens.bearer(&bob).await, Some(token));

    // A later process finds them in the vault, and each again under its own name.
    let later = house.server(&house.protected.url, false);
    assert_eq!(later.bearer(&ada).await, tokens.bearer(&ada).await);
    assert_eq!(later.bearer(&bob).await, tokens.bearer(&bob).await);
    assert_eq!(later.bearer(&other_ada).await, None);
}

#[tokio::test]
async fn a_token_does_not_follow_a_name_to_another_server() {
    let house = House::new().await;
    let ada = person("a", "ada");
    let tokens = house.server(&house.protected.url, false);
    let link = link(house.challenge(&tokens, &ada).await);
    assert!(house.log_in(&link, "ada").await);
    let moved = house.server("http://127.0.0.1:9/mcp", false);
    assert_eq!(moved.bearer(&ada).await, None);
    assert_eq!(moved.bearer(&Holder::Gateway).await, None);
    assert!(!format!("{:?}", moved.bearer(&ada).await).contains(CANARY));
}

#[tokio::test]
async fn a_shared_server_has_one_login_for_everybody() {
    let house = House::new().await;
    let tokens = house.server(&house.protected.url, true);
    let link = link(house.challenge(&tokens, &Holder::Gateway).await);
    assert!(house.log_in(&link, "ada").await);
    let token = tokens.bearer(&Holder::Gateway).await;
    assert!(token.is_some());
    assert_eq!(tokens.bearer(&person("a", "bob")).await, token);
}

/// What one person's token shows is not for others to see.
#[tokio::test]
async fn a_token_is_lent_where_there_are_more_people_than_the_local_user() {
    let house = House::new().await;
    let local = person("local", "local");
    for (who, lent) in
        [(local.clone(), false), (person("local", "key:ci"), true), (person("a", "ada"), true)]
    {
        let url = format!("{}?{lent}{who:?}", house.protected.url);
        let tokens = house.server(&url, false);
        assert!(!tokens.lends(), "nobody has logged in");
        let outcome = tokens.challenged(&who, &url, Bearer::default(), None).await;
        assert!(house.log_in(&link(outcome), "x").await);
        assert_eq!(tokens.lends(), lent, "{who:?}");
    }
    let shared = house.server(&house.protected.url, true);
    assert!(house.log_in(&link(house.challenge(&shared, &Holder::Gateway).await), "x").await);
    house.keyring.serve_many();
    assert!(!shared.lends(), "it is everybody's");
    let tokens = house.server(&house.protected.url, false);
    let outcome = house.challenge(&tokens, &local).await;
    assert!(house.log_in(&link(outcome), "x").await);
    assert!(tokens.lends(), "the local user is one of many");
}
