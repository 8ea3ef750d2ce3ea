use proptest::prelude::{Just, Strategy, any, prop, prop_oneof, proptest};

use super::*;

fn plan(strategy: FileStrategy, schema: Value) -> (FilePlan, Value) {
    let Planned { plan, shown, .. } =
        FilePlan::of(&strategy.into(), &schema, Patterns::Required).unwrap().unwrap();
    (plan, shown)
}

#[test]
fn bytes_give_way_to_an_id() {
    let (plan, shown) = plan(
        FileStrategy::BinaryBase64,
        json!({"type": "object", "required": ["file_data", "file_type", "role"], "additionalProperties": false,
            "properties": {"file_data": {"type": "string"}, "file_type": {"type": "string"}, "role": {"type": "string"}}}),
    );
    assert_eq!(
        plan.slots,
        [Slot {
            id: "file_id".to_owned(),
            data: "file_data".to_owned(),
            media_type: Some("file_type".to_owned()),
            many: false,
            required: true,
            passes_id: false,
            plain: true,
        }]
    );
    assert_eq!(shown["required"], json!(["role", "file_id"]));
    let names: Vec<_> = shown["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["file_id", "role"]);
    assert_eq!(shown["additionalProperties"], false);
}

#[test]
fn every_strategy_has_its_own_names() {
    for (strategy, data, media_type) in [
        (FileStrategy::BinaryBase64, "file_data", Some("file_type")),
        (FileStrategy::PlainTextContent, "content", None),
        (FileStrategy::PlainTextText, "text", None),
        (FileStrategy::ImageBase64, "image_data", Some("image_type")),
        (FileStrategy::VideoS3PresignedUrl, "input_url", None),
    ] {
        let (plan, _) = plan(strategy, json!({"type": "object"}));
        let slot = &plan.slots[0];
        assert_eq!((slot.id.as_str(), slot.data.as_str()), ("file_id", data));
        assert_eq!(slot.media_type.as_deref(), media_type);
        assert!(slot.passes_id && !slot.required);
    }
    assert!(
        FilePlan::of(&FileStrategy::Passthrough.into(), &json!({}), Patterns::Required)
            .unwrap()
            .is_none()
    );
}

#[test]
fn lists_and_several_files_are_found_by_their_names() {
    let (plan, shown) = plan(
        FileStrategy::BinaryBase64,
        json!({"type": "object", "required": ["old_file_data"], "properties": {
            "file_data": {"type": "array", "items": {"type": "string"}},
            "old_file_data": {"type": "string", "pattern": "^[A-Z]"}, "my_content": {"type": "string"}}}),
    );
    let ids: Vec<_> =
        plan.slots.iter().map(|slot| (slot.id.as_str(), slot.many, slot.plain)).collect();
    assert_eq!(ids, [("file_ids", true, true), ("old_file_id", false, false)]);
    assert_eq!(shown["required"], json!(["old_file_id"]));
    assert_eq!(shown["properties"]["file_ids"]["type"], "array");
    assert!(shown["properties"].get("my_content").is_some());

    let optional = json!({"type": "object", "properties": {
        "file_data": {"type": ["array", "null"], "items": {"type": "string"}}}});
    let (plan, shown) = self::plan(FileStrategy::BinaryBase64, optional);
    assert!(plan.slots[0].many && shown["properties"]["file_ids"]["type"] == "array");
}

#[test]
fn names_can_be_chosen() {
    let args = vec![
        FileArgs { id: Some("cv".to_owned()), data: Some("cv_text".to_owned()), media_type: None },
        FileArgs {
            id: Some("job".to_owned()),
            data: Some("job_text".to_owned()),
            media_type: None,
        },
    ];
    let rule = FileRule { strategy: FileStrategy::PlainTextText, args };
    let schema = json!({"type": "object", "additionalProperties": false, "required": ["cv_text"],
        "properties": {"cv_text": {"type": "string"}, "job_text": {"type": "string"}, "text": {"type": "string"}}});
    let Planned { shown, .. } = FilePlan::of(&rule, &schema, Patterns::Required).unwrap().unwrap();
    let names: Vec<_> = shown["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["cv", "job", "text"]);
    assert_eq!(shown["required"], json!(["cv"]));
}

#[test]
fn a_reference_does_as_well_as_a_file() {
    let (plan, shown) = plan(
        FileStrategy::BinaryBase64,
        json!({"type": "object", "required": ["file_data", "target_role"], "properties": {
            "file_data": {"type": "string"}, "source_ref_id": {"type": "string"}, "target_role": {"type": "string"}}}),
    );
    assert_eq!(shown["required"], json!(["target_role"]));
    assert_eq!(plan.slot_for("source_ref_id", |_| false).unwrap().data, "file_data");
    assert!(plan.slot_for("source_id", |_| false).is_none());
}

#[test]
fn a_rule_that_does_not_fit_says_why() {
    let closed = json!({"type": "object", "properties": {"q": {}}, "additionalProperties": false});
    let refused =
        |rule: FileRule| FilePlan::of(&rule, &closed, Patterns::Required).unwrap_err().to_string();
    assert!(refused(FileStrategy::BinaryBase64.into()).contains("takes no `file_data`"));
    let args =
        vec![FileArgs { data: Some("q".to_owned()), id: Some("q".to_owned()), media_type: None }];
    let twice = FileRule { strategy: FileStrategy::PlainTextText, args: args.clone() };
    assert!(refused(twice).contains("`q` is used for two things"));
    let nothing = FileRule { strategy: FileStrategy::Passthrough, args: args.clone() };
    assert!(refused(nothing).contains("has no effect"));
    let crowd = FileRule { strategy: FileStrategy::PlainTextText, args: vec![args[0].clone(); 40] };
    assert!(refused(crowd).contains("names 40 files"));
}

fn schemas() -> impl Strategy<Value = Value> {
    let name = prop_oneof![
        Just("file_data".to_owned()),
        Just("file_type".to_owned()),
        Just("file_id".to_owned()),
        Just("a_file_data".to_owned()),
        Just("source_ref_id".to_owned()),
        "[a-z_]{1,8}",
    ];
    let property = prop_oneof![
        Just(json!({"type": "string"})),
        Just(json!({"type": "array"})),
        Just(json!({"type": "integer"})),
        Just(json!(true)),
    ];
    let properties = prop::collection::btree_map(name.clone(), property, 0..6);
    (properties, prop::collection::vec(name, 0..4), any::<bool>()).prop_map(|(properties, required, open)| {
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": open})
    })
}

#[test]
fn a_tool_that_names_no_media_type_gets_none() {
    let schema = json!({"type": "object", "additionalProperties": false, "required": ["old_file_data"],
        "properties": {"old_file_data": {"type": "string"}, "file_data": {"type": "string"}}});
    let (plan, shown) = plan(FileStrategy::BinaryBase64, schema);
    assert!(plan.slots.iter().all(|slot| slot.media_type.is_none()), "{plan:?}");
    assert_eq!(shown["required"], json!(["old_file_id"]));
}

proptest! {
    #[test]
    fn callers_never_see_what_is_put_in(schema in schemas()) {
        let Ok(Some(Planned { plan, shown, .. })) = FilePlan::of(&FileStrategy::BinaryBase64.into(), &schema, Patterns::Required) else { return Ok(()) };
        let named = |key: &str| -> Vec<String> { match &shown[key] {
            Value::Object(map) => map.keys().cloned().collect(),
            Value::Array(names) => names.iter().filter_map(|name| name.as_str().map(str::to_owned)).collect(),
            _ => Vec::new(),
        }};
        for slot in &plan.slots {
            for key in ["properties", "required"] {
                assert!(!named(key).contains(&slot.data));
                assert!(slot.media_type.as_ref().is_none_or(|name| !named(key).contains(name)));
            }
            assert!(named("properties").contains(&slot.id));
        }
        Schema::compile(&shown).unwrap();
    }
}
