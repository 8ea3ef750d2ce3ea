use super::*;

#[test]
fn the_id_of_a_broken_message_is_found_if_it_is_there() {
    for (text, id) in [
        (r#"{"jsonrpc":"2.0","id": 12,"result":{"#, Some(12)),
        (r#"{"id":7"#, Some(7)),
        (r#"{"id":"7""#, None),
        (r#"{"id"#, None),
        (r#"{"id":99999999999999999999999"#, None),
    ] {
        assert_eq!(named_id(text), id, "{text}");
    }
}
