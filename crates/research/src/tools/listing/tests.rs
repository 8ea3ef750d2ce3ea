use serde_json::json;

use super::*;

fn listing(name: &str) -> Listing {
    all(Duration::from_secs(60)).into_iter().find(|tool| tool.name == name).unwrap()
}

#[test]
fn inputs_are_listed_with_defaults_ranges_and_choices() {
    let schema = listing("web_search").input_schema;
    assert_eq!(schema["required"], json!(["query"]));
    assert_eq!(schema["additionalProperties"], json!(false));
    let fields = &schema["properties"];
    assert_eq!(fields["query"]["minLength"], 1);
    assert_eq!(fields["query"]["maxLength"], 500);
    assert_eq!(fields["num_results"]["default"], 5);
    assert_eq!(fields["num_results"]["maximum"], 10);
    assert_eq!(fields["num_results"].get("format"), None);
    assert_eq!(fields["safe"]["default"], "medium");
    assert_eq!(fields["safe"]["enum"], json!(["off", "medium", "high"]));
    assert_eq!(fields["time_range"]["enum"], json!(["day", "week", "month", "year"]));
    assert_eq!(fields["time_range"]["type"], "string");
    assert_eq!(fields["time_range"].get("default"), None);

    let patents = listing("patent_search").input_schema;
    let offices = &patents["properties"]["patent_office"];
    assert_eq!(offices["enum"], json!(["all", "US", "EP", "WO", "JP", "CN", "KR"]));
    assert_eq!(offices["default"], "all");
    let images = listing("image_search").input_schema;
    assert_eq!(
        images["properties"]["size"]["enum"],
        json!(["huge", "icon", "large", "medium", "small", "xlarge", "xxlarge"])
    );
    let steps = listing("sequential_search").input_schema;
    assert_eq!(steps["required"], json!(["searchStep", "stepNumber", "nextStepNeeded"]));
    assert_eq!(steps["properties"]["source"]["type"], "object");
}

#[test]
fn outputs_require_what_is_always_written() {
    let schema = listing("scrape_page").output_schema;
    assert_eq!(
        schema["required"],
        json!([
            "url",
            "content",
            "contentType",
            "contentLength",
            "truncated",
            "estimatedTokens",
            "sizeCategory"
        ])
    );
    assert_eq!(schema["properties"]["citation"]["type"], "object");
    assert!(!schema.to_string().contains("null"), "{schema}");
}

#[test]
fn hints_say_which_tool_keeps_state() {
    for tool in all(Duration::from_secs(60)) {
        assert_eq!(tool.annotations.open_world_hint, Some(true));
        let keeps_state = tool.name == "sequential_search";
        assert_eq!(tool.annotations.read_only_hint, Some(!keeps_state));
    }
}

#[test]
fn unknown_fields_are_refused() {
    let input = json!({"query": "rust", "page": 2});
    assert!(serde_json::from_value::<WebSearch>(input).is_err());
}
