#![allow(clippy::unwrap_used, reason = "tests")]

use serde_json::json;

use super::*;

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

    async fn request(&self, _method: &str, _call: &Call) -> Result<Output, Failure> {
        Ok(Output::new(json!({})))
    }

    fn watch(&self, _uris: BTreeSet<String>) {}
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

#[test]
fn a_server_that_named_itself_takes_no_resource_from_one_that_the_operator_named() {
    let servers = Servers::default();
    servers.publish(lister("aa", true, "{+all}"));
    servers.publish(lister("crm", false, "crm://customers/{id}"));
    let shelf = servers.shelf();
    let owner = |uri: &str| shelf.resource(uri).map(|found| found.server.name().to_owned());
    assert_eq!(owner("crm://customers").as_deref(), Some("crm"));
    assert_eq!(owner("aa+crm://customers").as_deref(), Some("aa"), "its own is still there");
    assert_eq!(owner("crm://customers/7").as_deref(), Some("crm"));
    assert_ne!(owner("notes://mine").as_deref(), Some("aa"), "nor does it get what nobody has");
    assert_eq!(owner("crm+"), None, "a server alone is no resource");
}

#[test]
fn a_listener_hears_of_its_resource_and_what_is_below_it_alone() {
    let servers = Arc::new(Servers::default());
    servers.publish(lister("crm", false, "crm://customers/{id}"));
    let watch = servers.watch("crm://customers").unwrap();
    let heard = |server: &str, uri: &str| {
        watch.concerns(&Update { server: server.into(), uri: uri.into() })
    };
    assert_eq!(heard("crm", "crm://customers").as_deref(), Some("crm://customers"));
    assert_eq!(heard("crm", "crm://customers/7").as_deref(), Some("crm://customers/7"));
    assert_eq!(heard("crm", "crm://customers-of-others"), None, "it only begins alike");
    assert_eq!(heard("aa", "crm://customers"), None, "it is another server's");
    assert!(servers.watch("crm+").is_none(), "nobody listens to a whole server");
}
