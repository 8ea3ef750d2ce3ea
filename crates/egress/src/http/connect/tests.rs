use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::{TcpListener, TcpStream};
use url::Host;

use super::Connector;
use crate::http::error::{FetchError, Refusal};
use crate::http::listeners::OwnListeners;
use crate::http::policy::AddressPolicy;
use crate::http::resolve::SystemResolver;
use crate::http::tls::Tls;

fn connector(allow: &[&str], own: &OwnListeners) -> Connector {
    let allow = allow.iter().map(|rule| rule.parse().unwrap()).collect();
    Connector {
        policy: AddressPolicy::new(allow, own.clone()),
        resolver: Arc::new(SystemResolver::new().unwrap()),
        tls: Arc::new(Tls::new(Vec::new())),
    }
}

/// What a redirecting firewall or a moved route would do: the socket is somewhere else than we dialled.
#[tokio::test]
async fn the_peer_must_be_the_checked_address_and_pass_the_policy_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let reached = listener.local_addr().unwrap();
    let stream = TcpStream::connect(reached).await.unwrap();
    let host = Host::parse("site.test").unwrap();
    let own = OwnListeners::default();

    let open = connector(&["127.0.0.1"], &own);
    assert_eq!(open.check_peer(&host, reached, &stream), Ok(()));
    for dialled in [
        SocketAddr::new(reached.ip(), reached.port() ^ 1),
        SocketAddr::from(([93, 184, 216, 34], reached.port())),
    ] {
        let refused = FetchError::Refused(Refusal::Peer { dialled, reached });
        assert_eq!(open.check_peer(&host, dialled, &stream), Err(refused));
    }
    let closed = connector(&[], &own).check_peer(&host, reached, &stream);
    assert!(matches!(closed, Err(FetchError::Refused(Refusal::Address { .. }))), "{closed:?}");
    own.register(reached);
    let door = FetchError::Refused(Refusal::OwnListener { address: reached });
    assert_eq!(open.check_peer(&host, reached, &stream), Err(door));
}
