use serde_json::json;

use super::*;

fn order() -> Value {
    json!({
        "type": "object",
        "properties": {
            "note": {"type": "string"},
            "amount": {"type": "number", "minimum": 0},
            "count": {"type": "integer", "default": 3},
            "express": {"type": "boolean"},
            "size": {"enum": ["s", "m", 3]},
            "address": {"$ref": "#/$defs/address"},
            "items": {"type": "array", "items": {"type": "object", "properties": {
                "sku": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}}, "required": ["sku"]}},
            "extra": {"oneOf": [{"type": "string"}, {"type": "object"}]},
            "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": null},
        },
        "required": ["amount", "note"],
        "$defs": {"address": {"type": "object", "properties": {"city": {"type": "string"}, "zip": {"type": "string"}},
            "required": ["city"]}},
    })
}

fn typed(pairs: &[(&str, &str)]) -> Draft {
    let pairs: Vec<_> = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Draft::of_fields(&pairs)
}

#[test]
fn required_fields_come_first_in_the_order_of_the_schema() {
    let text = json!({"type": "string"});
    let properties = json!({"body": text, "copies": text, "subject": text, "to": text});
    let required = ["to", "subject", "body"];
    let schema = json!({"type": "object", "properties": properties, "required": required});
    let form = Form::of(&schema);
    let listed = form.properties(&form.top()).into_iter();
    let listed: Vec<_> = listed.map(|(name, _, required)| (name, required)).collect();
    assert_eq!(listed, [("to", true), ("subject", true), ("body", true), ("copies", false)]);
}

#[test]
fn typed_texts_become_a_value() {
    let schema = order();
    let form = Form::of(&schema);
    let draft = typed(&[
        ("v/note", "two\nlines"),
        ("v/amount", " 12.50 "),
        ("v/count", "9007199254740993"),
        ("v/express", "false"),
        ("v/size", "2"),
        ("v/address/city", "Bern"),
        ("n/items", "2"),
        ("v/items/0/sku", "a"),
        ("v/items/1/sku", "b"),
        ("n/items/1/tags", "2"),
        ("v/items/1/tags/0", "x"),
        ("v/extra", "{\"a\": [1]}"),
        ("v/limit", ""),
        ("csrf", "ignored"),
    ]);
    let (value, faults) = draft.value(&form);
    assert!(faults.is_empty(), "{:?}", faults.lines());
    let expected = json!({
        "note": "two\nlines", "amount": 12.5, "count": 9_007_199_254_740_993_u64, "express": false, "size": 3,
        "address": {"city": "Bern"}, "extra": {"a": [1]},
        "items": [{"sku": "a"}, {"sku": "b", "tags": ["x", ""]}],
    });
    assert_eq!(value.unwrap(), expected);
    assert_eq!(Draft::of_value(&form, &expected).value(&form).0.unwrap(), expected, "and back");
}

#[test]
fn faults_belong_to_their_fields() {
    let schema = order();
    let form = Form::of(&schema);
    let draft = typed(&[
        ("v/amount", "much"),
        ("v/count", "1.5"),
        ("v/address/zip", "3000"),
        ("n/items", "1"),
        ("v/extra", "{"),
    ]);
    let (_, faults) = draft.value(&form);
    assert_eq!(faults.at("/amount"), ["is not a number"]);
    assert_eq!(faults.at("/count"), ["is not a whole number"]);
    assert_eq!(faults.at("/note"), ["is required"]);
    assert_eq!(faults.at("/address/city"), ["is required"]);
    assert_eq!(faults.at("/items/0/sku"), ["is required"]);
    assert_eq!(faults.at("/extra").len(), 1);
    assert!(faults.is_unreadable());
    let page = form.show(&draft, &faults).into_string();
    assert!(page.contains("id=\"ef/amount\""), "{page}");
}

#[test]
fn optional_parts_without_input_are_left_out() {
    let schema = order();
    let form = Form::of(&schema);
    let (value, faults) = typed(&[("v/note", "x"), ("v/amount", "1")]).value(&form);
    assert!(faults.is_empty(), "{:?}", faults.lines());
    assert_eq!(value.unwrap(), json!({"note": "x", "amount": 1}));
}

#[test]
fn missing_fields_are_reported_once() {
    let schema = order();
    let form = Form::of(&schema);
    let checker = schema::Schema::compile(&schema).unwrap();
    let (value, mut faults) = typed(&[("v/amount", "-1"), ("v/address/zip", "1")]).value(&form);
    faults.add_violations(checker.violations(&value.unwrap()));
    assert_eq!(faults.at("/note"), ["is required"]);
    assert_eq!(faults.at("/address/city"), ["is required"]);
    assert_eq!(faults.at("/amount").len(), 1, "{:?}", faults.lines());
    assert_eq!(faults.lines().len(), 3, "{:?}", faults.lines());
}

#[test]
fn items_can_be_added_and_removed() {
    let schema = order();
    let form = Form::of(&schema);
    let mut draft = typed(&[
        ("n/items", "3"),
        ("v/items/0/sku", "a"),
        ("v/items/1/sku", "b"),
        ("n/items/2/tags", "1"),
        ("v/items/2/tags/0", "t"),
        ("v/items/2/sku", "c"),
    ]);
    assert!(draft.change(&form, "remove:/items/1"));
    let (value, _) = draft.value(&form);
    assert_eq!(value.unwrap()["items"], json!([{"sku": "a"}, {"sku": "c", "tags": ["t"]}]));
    assert!(draft.change(&form, "add:/items"));
    assert_eq!(draft.length("/items"), 3);
    assert!(!draft.change(&form, "run"));
    assert!(draft.change(&form, "remove:/items/99"), "and nothing happens");
    assert_eq!(draft.length("/items"), 3);
}

#[test]
fn defaults_are_filled_in_and_unknown_values_are_edited_as_json() {
    let schema = order();
    let form = Form::of(&schema);
    let fresh = Draft::fresh(&form);
    assert_eq!(fresh.text("/count"), "3");
    assert!(Draft::of_value(&form, &json!({"unknown": 1})).is_raw());
    assert!(Draft::of_value(&form, &json!({"amount": "text"})).is_raw());
    let raw = typed(&[("raw", "{\"amount\": 1}")]);
    assert_eq!(raw.value(&form).0.unwrap(), json!({"amount": 1}));
    assert!(typed(&[("raw", "{")]).value(&form).1.is_unreadable());
}

#[test]
fn recursive_schemas_have_a_form() {
    let schema = json!({"$ref": "#/$defs/node", "$defs": {
        "node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "name": {"type": "string"}}},
        "loop": {"$ref": "#/$defs/loop"}}});
    let form = Form::of(&schema);
    let page = form.show(&Draft::fresh(&form), &Faults::default()).into_string();
    assert!(page.contains("v/next/next/next"), "{page}");
    let circle = json!({"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}});
    let form = Form::of(&circle);
    assert!(form.show(&Draft::fresh(&form), &Faults::default()).into_string().contains("textarea"));
    for odd in [json!(true), json!({}), json!({"type": "object"}), json!({"type": 7}), json!([])] {
        let form = Form::of(&odd);
        let (value, _) = Draft::fresh(&form).value(&form);
        assert_eq!(value, Some(json!({})), "{odd}");
    }
}

#[test]
fn texts_of_a_schema_are_escaped() {
    let nasty = "<script>alert(1)</script>\"'\u{202e}";
    let schema = json!({"type": "object", "properties": {
        nasty: {"type": "string", "title": nasty, "description": nasty, "examples": [nasty]},
        "e": {"enum": [nasty]}}});
    let form = Form::of(&schema);
    let page = form.show(&Draft::fresh(&form), &Faults::default()).into_string();
    assert!(!page.contains("<script"), "{page}");
    let visible = page.replace(&format!("v/{}", "<"), "");
    assert!(visible.contains("\\u{202e}"), "{page}");
}

#[test]
fn described_values_are_a_choice_with_a_default() {
    let schema = json!({
        "type": "object",
        "properties": {
            "look": {"$ref": "#/$defs/look", "default": "plain", "description": "How it looks."},
            "page": {"type": "object", "properties": {
                "look": {"$ref": "#/$defs/look", "default": "plain"}, "width": {"type": "integer"}}, "required": ["width"]},
        },
        "$defs": {"look": {"oneOf": [
            {"const": "classic", "type": "string", "description": "With rules."},
            {"const": "plain", "type": "string", "description": "Black on white."}]}},
    });
    let form = Form::of(&schema);
    let draft = Draft::fresh(&form);
    // The object is optional, so that its default alone must not make one.
    assert_eq!(draft.value(&form).0.unwrap(), json!({"look": "plain"}));
    let shown = form.show(&draft, &Faults::default()).into_string();
    for text in ["How it looks.", "classic: With rules.", "<option value=\"1\" selected>plain"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    let (value, faults) = typed(&[("v/look", "0")]).value(&form);
    assert!(faults.is_empty(), "{:?}", faults.lines());
    assert_eq!(value.unwrap(), json!({"look": "classic"}));
    assert_eq!(Draft::of_value(&form, &json!({"look": "classic"})), typed(&[("v/look", "0")]));
}
