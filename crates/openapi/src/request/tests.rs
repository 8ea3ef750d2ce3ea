use http::HeaderMap;
use serde_json::{Value, json};

use super::{Location, Operation, Parameter, Style, build};

fn parameter(name: &str, location: Location, style: Style, explode: bool) -> Parameter {
    Parameter { input: name.to_owned(), name: name.to_owned(), location, style, explode }
}

fn url(path: &str, one: Parameter, value: Value) -> Result<String, String> {
    let input = json!({(one.input.clone()): value});
    let operation = Operation {
        method: http::Method::GET,
        path: path.to_owned(),
        parameters: vec![one],
        body: None,
    };
    build(&operation, "http://h/v1", &HeaderMap::new(), &input, None)
        .map(|request| request.url["http://h/v1".len()..].to_owned())
        .map_err(|failure| failure.message)
}

#[test]
fn values_are_written_as_their_style_says() {
    let (list, map) = (json!(["a b", "c,d"]), json!({"a": 1, "g": "x&y"}));
    for (style, explode, of_list, of_map) in [
        (Style::Form, true, "?c=a%20b&c=c%2Cd", "?a=1&g=x%26y"),
        (Style::Form, false, "?c=a%20b,c%2Cd", "?c=a,1,g,x%26y"),
        (Style::Space, false, "?c=a%20b%20c%2Cd", "?c=a%201%20g%20x%26y"),
        (Style::Pipe, false, "?c=a%20b%7Cc%2Cd", "?c=a%7C1%7Cg%7Cx%26y"),
        (Style::Deep, true, "?c=a%20b&c=c%2Cd", "?c%5Ba%5D=1&c%5Bg%5D=x%26y"),
    ] {
        let one = || parameter("c", Location::Query, style, explode);
        assert_eq!(url("", one(), list.clone()).expect("a URL"), of_list, "{style:?} {explode}");
        assert_eq!(url("", one(), map.clone()).expect("a URL"), of_map, "{style:?} {explode}");
    }
    for (style, explode, of_one, of_list, of_map) in [
        (Style::Simple, false, "/5", "/a%20b,c%2Cd", "/a,1,g,x%26y"),
        (Style::Simple, true, "/5", "/a%20b,c%2Cd", "/a=1,g=x%26y"),
        (Style::Label, false, "/.5", "/.a%20b,c%2Cd", "/.a,1,g,x%26y"),
        (Style::Label, true, "/.5", "/.a%20b.c%2Cd", "/.a=1.g=x%26y"),
        (Style::Matrix, false, "/;c=5", "/;c=a%20b,c%2Cd", "/;c=a,1,g,x%26y"),
        (Style::Matrix, true, "/;c=5", "/;c=a%20b;c=c%2Cd", "/;a=1;g=x%26y"),
    ] {
        let one = || parameter("c", Location::Path, style, explode);
        assert_eq!(url("/{c}", one(), json!(5)).expect("a URL"), of_one, "{style:?} {explode}");
        assert_eq!(
            url("/{c}", one(), list.clone()).expect("a URL"),
            of_list,
            "{style:?} {explode}"
        );
        assert_eq!(url("/{c}", one(), map.clone()).expect("a URL"), of_map, "{style:?} {explode}");
    }
    let json_text = parameter("c", Location::Query, Style::Json, false);
    assert_eq!(url("", json_text, json!({"a": [1]})).expect("a URL"), "?c=%7B%22a%22%3A%5B1%5D%7D");
}

#[test]
fn no_value_leaves_its_segment() {
    for (value, expected) in [
        ("a?b=c#d", "/pets/a%3Fb%3Dc%23d/x"),
        ("a\r\nHost: evil", "/pets/a%0D%0AHost%3A%20evil/x"),
        ("{other}", "/pets/%7Bother%7D/x"),
        ("%2f", "/pets/%252f/x"),
        ("@evil.com:80", "/pets/%40evil.com%3A80/x"),
        ("é", "/pets/%C3%A9/x"),
    ] {
        let one = parameter("id", Location::Path, Style::Simple, false);
        assert_eq!(url("/pets/{id}/x", one, json!(value)).expect("a URL"), expected);
    }
    // Some servers decode a path before they resolve dots, some twice.
    for value in ["", ".", "..", "../../admin", "..\\..", "%2e%2e", "a/%2E."] {
        let one = parameter("id", Location::Path, Style::Simple, false);
        assert!(url("/pets/{id}/x", one.clone(), json!(value)).is_err(), "{value:?}");
        assert!(url("/pets/{id}", one, json!(value)).is_err(), "{value:?}");
    }
    // A label of one dot is `..` in the end.
    let label = parameter("id", Location::Path, Style::Label, false);
    assert!(url("/pets/{id}", label, json!(".")).is_err());
    let header = parameter("X-A", Location::Header, Style::Simple, false);
    assert!(url("/", header, json!("a\r\nX-B: c")).is_err());
}
