use super::*;

fn ranked(input: Value) -> Value {
    let input = serde_json::from_value(input).expect("an input");
    serde_json::to_value(answer(input).expect("results")).expect("JSON")
}

#[test]
fn hits_of_a_search_keep_their_fields() {
    let output = ranked(json!({
        "query": "tides",
        "lists": [[
            {"rank": 1, "title": "Cake", "url": "https://b.test/", "snippet": "Flour.", "source": "b.test"},
            {"rank": 2, "title": "Tides", "url": "https://a.test/", "snippet": "Tides rise.", "source": "A",
             "publishedAt": "2024-05-03"},
        ]],
        "limit": 1,
    }));
    assert_eq!(output["method"], "features");
    let results = output["results"].as_array().expect("a list");
    assert_eq!(results.len(), 1);
    let first = &results[0];
    assert_eq!(
        (&first["source"], &first["rank"], &first["previous_rank"]),
        (&json!("A"), &json!(1), &json!(2))
    );
    assert_eq!(first["publishedAt"], "2024-05-03");
    assert!(first["parts"]["contentQuality"].is_number(), "{first}");
}

#[test]
fn a_result_without_a_text_is_refused() {
    let input = json!({"query": "x", "lists": [[{"text": "a"}], [{"snippet": "b"}, {"url": "https://a.test/"}]]});
    let failure = answer(serde_json::from_value(input).expect("an input")).expect_err("refused");
    assert!(failure.message.starts_with("/lists/1/1: "), "{}", failure.message);
    let fused = ranked(json!({"query": "x", "lists": [[{"text": "a"}]], "features": false}));
    assert_eq!(fused["method"], "fusion");
    assert!(fused["results"][0].get("parts").is_none());
}
