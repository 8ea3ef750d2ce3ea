use std::net::SocketAddr;

use super::OwnListeners;

fn at(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

#[test]
fn a_bound_address_is_denied_in_every_spelling_until_forgotten() {
    let own = OwnListeners::default();
    let door = own.clone();
    door.register(at("127.0.0.1:8080"));
    assert!(own.contains(at("127.0.0.1:8080")));
    assert!(own.contains(at("[::ffff:127.0.0.1]:8080")));
    assert!(!own.contains(at("127.0.0.1:8081")));
    assert!(!own.contains(at("127.0.0.2:8080")));
    door.forget(at("127.0.0.1:8080"));
    assert!(!own.contains(at("127.0.0.1:8080")));
}

#[test]
fn a_wildcard_listener_covers_the_whole_machine() {
    for wildcard in ["0.0.0.0:8080", "[::]:8080"] {
        let own = OwnListeners::default();
        own.register(at(wildcard));
        for address in [
            "127.0.0.1:8080",
            "127.9.9.9:8080",
            "[::1]:8080",
            "0.0.0.0:8080",
            "[::ffff:127.0.0.1]:8080",
        ] {
            assert!(own.contains(at(address)), "{address} at {wildcard}");
        }
        assert!(!own.contains(at("127.0.0.1:80")));
        // The machine's public address shows only on an open connection, which has it at both ends.
        assert!(!own.contains(at("93.184.216.34:8080")));
        assert!(own.holds_connection(at("93.184.216.34:50000"), at("93.184.216.34:8080")));
        assert!(!own.holds_connection(at("93.184.216.35:50000"), at("93.184.216.34:8080")));
        assert!(!own.holds_connection(at("93.184.216.34:50000"), at("93.184.216.34:8081")));
    }
}

#[test]
fn every_change_makes_a_new_generation() {
    let own = OwnListeners::default();
    let before = own.generation();
    own.forget(at("127.0.0.1:1"));
    assert_eq!(own.generation(), before);
    own.register(at("127.0.0.1:1"));
    let opened = own.generation();
    assert_ne!(opened, before);
    own.forget(at("127.0.0.1:1"));
    assert_ne!(own.generation(), opened);
}
