#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;

#[test]
fn each_property_of_a_form_is_a_question() {
    let asked = json!({"method": "elicitation/create", "params": {
        "message": "Book a table?",
        "requestedSchema": {"type": "object", "required": ["day"], "properties": {
            "day": {"type": "string", "title": "Day", "description": "when"},
            "persons": {"type": "integer"},
            "outside": {"type": "boolean"},
            "menu": {"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b"}]},
            "extras": {"type": "array", "items": {"enum": ["x", "y"]}},
        }},
    }});
    let drafts = drafts(&asked).unwrap();
    let mut kinds: Vec<_> = drafts
        .iter()
        .map(|d| (d.property.as_deref().unwrap(), d.slot_type.as_str(), d.options.join(",")))
        .collect();
    kinds.sort_unstable();
    let text = String::new;
    assert_eq!(
        kinds,
        [
            ("day", "text", text()),
            ("extras", "multi", "x,y".to_owned()),
            ("menu", "choice", "a,b".to_owned()),
            ("outside", "confirm", text()),
            ("persons", "number", text()),
        ]
    );
    let day = drafts.iter().find(|draft| draft.property.as_deref() == Some("day")).unwrap();
    assert_eq!((day.prompt.as_str(), day.required), ("Book a table?\n\nDay: when", true));
    assert_ne!(day.slot("w/a/1", 0, "q"), day.slot("w/a/1", 1, "q"), "asked again");
    assert_ne!(day.slot("w/a/1", 0, "q"), day.slot("w/b/1", 0, "q"));
}

#[test]
fn what_is_no_form_is_refused() {
    let url = json!({"method": "elicitation/create", "params": {"mode": "url", "url": "x"}});
    let object = json!({"method": "elicitation/create", "params": {
        "message": "?", "requestedSchema": {"properties": {"a": {"type": "object"}}},
    }});
    for asked in [url, json!({"method": "sampling/createMessage"}), object] {
        assert_eq!(drafts(&asked).unwrap_err().code, Code::Unsupported, "{asked}");
    }
}
