use std::collections::BTreeSet;
use std::time::Duration;

use async_trait::async_trait;
use proto::{Failure, Principal, TenantId, Via};
use serde_json::{Map, Value, json};

use super::*;
use crate::{AskMode, Job, Output};

/// A server that lists resources and answers nothing.
struct Lister {
    name: &'static str,
    offering: Arc<Offering>,
}

#[async_trait]
impl Server for Lister {
    fn name(&self) -> &str {
        self.name
    }

    fn offering(&self) -> Arc<Offering> {
        Arc::clone(&self.offering)
    }

    fn timeout(&self) -> Option<Duration> {
        None
    }

    async fn request(&self, _method: &str, _call: &Job) -> Result<Output, Failure> {
        Ok(Output::new(json!({})))
    }

    fn watch(&self, _client: Option<&ClientIdentity>, _uris: BTreeSet<String>) {}
}

fn lister(name: &'static str, announced: bool, template: &str) -> Arc<dyn Server> {
    let offering = Offering {
        resources: vec![Arc::new(json!({"uri": "crm://customers", "name": "customers"}))],
        templates: vec![Arc::new(json!({"uriTemplate": template, "name": "any"}))],
        capabilities: json!({"resources": {}}),
        prefix: true,
        announced,
        ..Offering::default()
    };
    Arc::new(Lister { name, offering: Arc::new(offering) })
}

fn client() -> Arc<ClientIdentity> {
    let principal = Principal {
        tenant: TenantId::new("acme"),
        subject: "ada".to_owned(),
        agent: None,
        scopes: Vec::new(),
        via: Via::Local,
    };
    Arc::new(ClientIdentity {
        principal: Arc::new(principal),
        capabilities: Map::new(),
        asking: AskMode::Rounds,
        session: None,
    })
}

#[test]
fn a_server_that_named_itself_takes_no_resource_from_one_that_the_operator_named() {
    let servers = Servers::default();
    servers.publish(lister("aa", true, "{+all}"));
    servers.publish(lister("crm", false, "crm://customers/{id}"));
    let listing = servers.listing();
    let owner = |uri: &str| listing.resource(uri).map(|found| found.server.name().to_owned());
    assert_eq!(owner("crm://customers").as_deref(), Some("crm"));
    assert_eq!(owner("aa+crm://customers").as_deref(), Some("aa"), "its own is still there");
    assert_eq!(owner("crm://customers/7").as_deref(), Some("crm"));
    assert_ne!(owner("notes://own").as_deref(), Some("aa"), "nor does it get what no server has");
    assert_eq!(owner("crm+"), None, "a server alone is no resource");
}

#[test]
fn a_subscriber_is_notified_of_its_resource_and_what_is_below_it_only() {
    let servers = Arc::new(Servers::default());
    servers.publish(lister("crm", false, "crm://customers/{id}"));
    let client = client();
    let watch = servers.watch(&client, "crm://customers").unwrap();
    let notified = |server: &str, uri: &str| {
        let kind = NoticeKind::Updated(uri.into());
        watch.concerns(&Notice { server: server.into(), instance: None, kind })
    };
    assert_eq!(notified("crm", "crm://customers").as_deref(), Some("crm://customers"));
    assert_eq!(notified("crm", "crm://customers/7").as_deref(), Some("crm://customers/7"));
    assert_eq!(notified("crm", "crm://customers-of-others"), None, "it only begins alike");
    assert_eq!(notified("aa", "crm://customers"), None, "it is another server's");
    assert!(servers.watch(&client, "crm+").is_none(), "a whole server cannot be subscribed to");
}

fn since(now_ms: u64) -> OfferedAt {
    OfferedAt { now_ms, start_ms: now_ms }
}

/// A server that the operator named, with resources, templates and prompts that it first offered at `since`.
fn offerer(
    name: &'static str,
    since: u64,
    (uris, templates, prompts): (&[&str], &[&str], &[&str]),
) -> Arc<dyn Server> {
    let list = |key: &str, names: &[&str]| -> Vec<Arc<Value>> {
        names.iter().map(|name| Arc::new(json!({key: name, "title": "t"}))).collect()
    };
    let (resources, templates) = (list("uri", uris), list("uriTemplate", templates));
    let prompts = list("name", prompts);
    let claims = Claims::default().renew(
        &prompts,
        &resources,
        &templates,
        &[],
        OfferedAt { now_ms: since, start_ms: since },
    );
    let capabilities = json!({"resources": {}});
    let offering =
        Offering { prompts, resources, templates, capabilities, claims, ..Offering::default() };
    Arc::new(Lister { name, offering: Arc::new(offering) })
}

fn found(servers: &Servers, uri: &str) -> Option<(String, String)> {
    let found = servers.listing().resource(uri)?;
    Some((found.server.name().to_owned(), found.remote))
}

fn at(server: &str, uri: &str) -> Option<(String, String)> {
    Some((server.to_owned(), uri.to_owned()))
}

#[test]
fn the_first_server_to_offer_a_uri_owns_it_whatever_its_name() {
    let servers = Servers::default();
    servers.publish(offerer("crm", 1, (&["crm://a"], &["crm://b/{id}"], &[])));
    servers.publish(offerer("aa", 2, (&["crm://a"], &["crm://b/{id}", "{+all}"], &[])));
    assert_eq!(found(&servers, "crm://a"), at("crm", "crm://a"));
    assert_eq!(found(&servers, "crm://b/7"), at("crm", "crm://b/7"), "of the first template");
    assert_eq!(found(&servers, "aa+crm://a"), at("aa", "crm://a"));
    let listing = servers.listing();
    let uris: Vec<_> = listing.resources().map(|(_, shown)| shown["uri"].clone()).collect();
    assert_eq!(uris, ["aa+crm://a", "crm://a"]);
    let templates: Vec<_> = listing.templates().map(|(_, t)| t["uriTemplate"].clone()).collect();
    assert_eq!(templates, ["aa+crm://b/{id}", "{+all}", "crm://b/{id}"]);

    // Another order of arrival, as after a restart, changes nothing.
    let servers = Servers::default();
    servers.publish(offerer("aa", 2, (&["crm://a"], &[], &[])));
    servers.publish(offerer("crm", 1, (&["crm://a"], &[], &[])));
    assert_eq!(found(&servers, "crm://a"), at("crm", "crm://a"));
}

#[test]
fn a_template_that_fits_everything_takes_nothing_from_one_that_says_what_it_fits() {
    let servers = Servers::default();
    servers.publish(offerer("aa", 1, (&[], &["{+all}"], &[])));
    servers.publish(offerer("crm", 2, (&[], &["crm://b/{id}"], &[])));
    assert_eq!(found(&servers, "crm://b/7"), at("crm", "crm://b/7"));
    assert_eq!(found(&servers, "else://x"), at("aa", "else://x"));
}

#[test]
fn a_qualified_uri_is_its_servers_only() {
    let servers = Servers::default();
    let forged = "crm+crm://secret";
    servers.publish(offerer("aa", 1, (&[forged], &["crm+crm://{id}"], &[])));
    servers.publish(offerer("crm", 2, (&["crm://a", "crm+own://x"], &[], &[])));
    assert_eq!(found(&servers, forged), at("crm", "crm://secret"));
    assert_eq!(found(&servers, "crm+crm://7"), at("crm", "crm://7"));
    assert_eq!(found(&servers, "aa+crm+crm://secret"), at("aa", forged));
    assert_eq!(found(&servers, "crm+own://x"), at("crm", "crm+own://x"), "its own, as listed");
    let listing = servers.listing();
    let of_aa = |(server, _): &(&str, &Arc<Value>)| *server == "aa";
    let (_, shown) = listing.resources().find(of_aa).unwrap();
    assert_eq!(shown["uri"], "aa+crm+crm://secret");
    let (_, shown) = listing.templates().find(of_aa).unwrap();
    assert_eq!(shown["uriTemplate"], "aa+crm+crm://{id}");
}

#[test]
fn a_uri_stays_with_its_server_while_that_does_not_list_it() {
    let servers = Servers::default();
    let claims =
        Claims::default().renew(&[], &[Arc::new(json!({"uri": "crm://a"}))], &[], &[], since(1));
    let gone =
        Offering { claims: claims.renew(&[], &[], &[], &[], since(2)), ..Offering::default() };
    assert_eq!(gone.claims, claims);
    servers.publish(Arc::new(Lister { name: "crm", offering: Arc::new(gone) }));
    servers.publish(offerer("aa", 2, (&["crm://a"], &[], &[])));
    assert_eq!(found(&servers, "crm://a"), at("crm", "crm://a"));
    assert_eq!(found(&servers, "aa+crm://a"), at("aa", "crm://a"));
    servers.remove("crm");
    assert_eq!(
        found(&servers, "crm://a"),
        at("aa", "crm://a"),
        "a server that is gone owns nothing"
    );
}

#[test]
fn servers_whose_names_look_alike_have_different_qualified_uris() {
    let servers = Servers::default();
    servers.publish(offerer("c.rm", 1, (&["a://x"], &[], &[])));
    servers.publish(offerer("c-rm", 2, (&["a://x"], &[], &[])));
    servers.publish(lister("c_rm", true, "t://{id}"));
    assert_eq!(found(&servers, "c-rm+a://y"), at("c-rm", "a://y"));
    let listing = servers.listing();
    for (server, shown) in listing.resources() {
        let uri = shown["uri"].as_str().unwrap();
        assert_eq!(listing.resource(uri).unwrap().server.name(), server, "{uri}");
    }
    let schemes = owners::Schemes::new(&[
        (listing.resource("a://x").unwrap().server, Arc::default()),
        (listing.resource("c-rm+a://x").unwrap().server, Arc::default()),
    ]);
    let of_dotted = schemes.qualify(0, "a://y");
    assert!(of_dotted.starts_with("c-rm."), "{of_dotted}");
    assert_eq!(found(&servers, &of_dotted), at("c.rm", "a://y"));
}

#[test]
fn a_prompt_takes_no_other_servers_name() {
    let servers = Servers::default();
    servers.publish(offerer("crm", 1, (&[], &[], &["greet"])));
    servers.publish(offerer("aa", 2, (&[], &[], &["greet", "crm__greet"])));
    let listing = servers.listing();
    let owner = |name: &str| listing.prompt(name).map(|found| found.server.name().to_owned());
    assert_eq!(owner("greet").as_deref(), Some("crm"));
    assert_eq!(owner("crm:greet").as_deref(), Some("crm"));
    assert_eq!(owner("aa__greet").as_deref(), Some("aa"));
}

/// A server whose tools name these apps, and that lists none of them.
fn app_server(name: &'static str, apps: &[&str]) -> Arc<dyn Server> {
    let apps: Vec<String> = apps.iter().map(|&app| app.to_owned()).collect();
    let claims = Claims::default().renew(&[], &[], &[], &apps, since(1));
    let capabilities = json!({"resources": {}});
    let offering = Offering { apps, claims, capabilities, prefix: true, ..Offering::default() };
    Arc::new(Lister { name, offering: Arc::new(offering) })
}

#[test]
fn apps_keep_their_scheme() {
    let servers = Servers::default();
    servers.set_order(["two", "one", "clock"].map(str::to_owned).into());
    servers.publish(app_server("one", &["ui://time/app.html", "ui://one/own.html"]));
    servers.publish(app_server("two", &["ui://time/app.html", "ui://clock/app.html"]));
    servers.publish(app_server("clock", &["ui://time/app.html", "ui://clock/time/app.html"]));
    let listing = servers.listing();
    for (server, remote, shown) in [
        ("two", "ui://time/app.html", "ui://time/app.html"),
        ("one", "ui://time/app.html", "ui://one/time/app.html"),
        ("one", "ui://one/own.html", "ui://one/own.html"),
        ("two", "ui://clock/app.html", "ui://two/clock/app.html"),
        ("clock", "ui://clock/time/app.html", "ui://clock/time/app.html"),
        // It is in no list: a tool's result named it.
        ("one", "ui://made/up.html", "ui://one/made/up.html"),
        ("one", "https://example.com/", "https://example.com/"),
    ] {
        assert_eq!(listing.shown(server, remote), shown, "{server} {remote}");
        let found = listing.resource(shown);
        let found = found.as_ref().map(|found| (found.server.name(), found.remote.as_str()));
        assert!(shown.starts_with("https:") || found == Some((server, remote)), "{shown}");
    }
    let third = listing.shown("clock", "ui://time/app.html");
    assert!(third.starts_with("ui://clock/"), "{third}");
    let found = listing.resource(&third).unwrap();
    assert_eq!((found.server.name(), found.remote.as_str()), ("clock", "ui://time/app.html"));
}
