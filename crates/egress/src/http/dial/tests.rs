use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpSocket};

use super::{dial, in_turn};

#[test]
fn families_take_turns() {
    let read =
        |list: &[&str]| list.iter().map(|text| text.parse().unwrap()).collect::<Vec<SocketAddr>>();
    let mixed = in_turn(read(&["[2606::1]:1", "[2606::2]:1", "[2606::3]:1", "1.1.1.1:1"]));
    assert_eq!(mixed, read(&["[2606::1]:1", "1.1.1.1:1", "[2606::2]:1", "[2606::3]:1"]));
    assert!(in_turn(Vec::new()).is_empty());
}

#[tokio::test]
async fn a_refusing_address_gives_way_to_the_next() {
    // Bound and not listening: no other process can listen there.
    let silent = TcpSocket::new_v4().unwrap();
    silent.bind(SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    let closed = silent.local_addr().unwrap();
    let open = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = open.local_addr().unwrap();
    let (_stream, reached) = dial(&[closed, address]).await.unwrap();
    assert_eq!(reached, address);
    assert!(dial(&[closed]).await.is_err());
}
