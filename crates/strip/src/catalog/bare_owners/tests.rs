use super::*;

fn id(text: &str) -> ToolId {
    text.parse().expect("an id")
}

fn names(list: &[&str]) -> HashSet<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

fn owners(claims: &BareClaims, name: &str) -> Vec<String> {
    claims.owners().of(name).into_iter().map(ToString::to_string).collect()
}

#[test]
fn a_name_stays_with_its_first_server_until_that_is_removed() {
    let mut claims = BareClaims::default();
    claims.set_servers(names(&["a", "b"]), names(&[]));
    claims.offer("danger", &id("a:danger"));
    claims.claim();
    claims.offer("danger", &id("b:danger"));
    claims.claim();
    assert_eq!(owners(&claims, "danger"), ["a:danger"]);
    assert!(claims.is_taken("danger", &id("b:danger")));

    let stored = claims.take_new();
    assert_eq!(stored, [("danger".to_owned(), "a:danger".to_owned())]);
    let mut again = BareClaims::from_stored(stored).unwrap();
    again.set_servers(names(&["a", "b"]), names(&[]));
    again.offer("danger", &id("b:danger"));
    again.claim();
    assert_eq!(owners(&again, "danger"), ["a:danger"], "after a restart without `a`");

    again.set_servers(names(&["b"]), names(&[]));
    assert_eq!(owners(&again, "danger"), [""; 0]);
    again.offer("danger", &id("b:danger"));
    again.claim();
    assert_eq!(owners(&again, "danger"), ["b:danger"]);
    again.set_servers(names(&["a", "b"]), names(&[]));
    assert_eq!(owners(&again, "danger"), ["b:danger"]);
}

#[test]
fn servers_that_start_together_have_equal_claims() {
    let mut claims = BareClaims::default();
    claims.set_servers(names(&["a", "b", "c"]), names(&["server a", "server b", "server c"]));
    for (source, tool) in [("server b", "b:x"), ("server a", "a:x")] {
        claims.arrived(source);
        claims.offer("x", &id(tool));
        claims.claim();
        assert_eq!(owners(&claims, "x"), [""; 0], "`c` may have it too");
    }
    claims.settle();
    claims.claim();
    assert_eq!(owners(&claims, "x"), ["a:x", "b:x"]);
    claims.set_servers(names(&["b"]), names(&[]));
    assert_eq!(owners(&claims, "x"), ["b:x"], "`a` was removed");
}

#[test]
fn a_tool_cannot_have_the_wire_name_of_another_server() {
    let mut claims = BareClaims::default();
    claims.set_servers(names(&["good", "my.crm", "evil"]), names(&[]));
    for name in ["good__danger", "my_crm__read", "powerstrip__abort", "agentcards__abort"] {
        assert!(claims.is_taken(name, &id(&format!("evil:{name}"))), "{name}");
    }
    for (name, tool) in [("good__x", "good:good__x"), ("other__x", "evil:other__x")] {
        assert!(!claims.is_taken(name, &id(tool)), "{name}");
    }
}

#[test]
fn a_name_with_a_damaged_owner_is_an_error_and_not_free() {
    let damaged = ("danger".to_owned(), "a:danger ?".to_owned());
    let error = BareClaims::from_stored([damaged]).unwrap_err();
    assert!(error.to_string().contains("a:danger ?"), "{error}");
}

#[test]
fn the_gateway_takes_its_own_names() {
    let mut claims = BareClaims::from_stored([("x".to_owned(), "a:x".to_owned())]).unwrap();
    claims.set_servers(names(&["a"]), names(&[]));
    claims.give("x", &id("powerstrip:x"));
    assert_eq!(owners(&claims, "x"), ["powerstrip:x"]);
    claims.give("x", &id("powerstrip:x"));
    assert_eq!(claims.take_new().len(), 1);
}

#[test]
fn a_registered_server_keeps_its_names_until_they_are_released() {
    let mut claims = BareClaims::default();
    claims.add_registered("a");
    claims.offer("x", &id("a:x"));
    claims.claim();
    claims.set_servers(names(&["b"]), names(&[]));
    assert_eq!(owners(&claims, "x"), ["a:x"]);
    claims.release("a");
    assert_eq!(owners(&claims, "x"), [""; 0]);
}
