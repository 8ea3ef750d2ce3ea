use std::collections::BTreeSet;

use super::*;

#[test]
fn a_body_cannot_name_another_workflow_than_the_path() {
    let read = |body: &str| {
        let text = format!(r#"{{"id":"path",{body}}}"#);
        serde_json::from_str::<RouteInput<Abort>>(&text)
            .map(|input| input.fields["id"].clone())
            .map_err(|error| error.to_string())
    };
    assert_eq!(read(r#""reason":"x""#), Ok(json!("path")));
    for body in
        [r#""reason":"x","id":"body""#, r#""\u0069d":"body","reason":"x""#, r#""id":"path""#]
    {
        let error = read(body).expect_err(body);
        assert!(error.contains("duplicate field `id`"), "{body}: {error}");
    }
    let twice = read(r#""reason":"x","reason":"y""#).expect_err("twice");
    assert!(twice.contains("duplicate field `reason`"), "{twice}");
}

#[test]
fn the_outline_of_a_task_names_all_its_fields() {
    let schema = schemars::schema_for!(TaskOutline).to_value();
    let listed = schema["properties"].as_object().expect("properties");
    let listed: BTreeSet<_> = listed.keys().cloned().collect();
    let refused =
        dag::Task::deserialize(json!({"id": "a", "?": 1})).expect_err("unknown").to_string();
    let known = refused.split('`').skip(1).step_by(2).skip(1).map(str::to_owned).collect();
    assert_eq!(listed, known, "{refused}");
}
