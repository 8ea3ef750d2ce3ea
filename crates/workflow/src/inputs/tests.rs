use std::collections::BTreeSet;

use super::*;

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
