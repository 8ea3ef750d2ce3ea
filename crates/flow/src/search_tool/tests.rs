use serde_json::json;

use super::*;

#[test]
fn a_hit_names_its_publisher_or_its_host() {
    let page = |publisher: Option<&str>, published: Option<&str>| FoundPage {
        title: "Heat".to_owned(),
        url: "https://a.test/heat".to_owned(),
        snippet: "Hot.".to_owned(),
        host: "a.test".to_owned(),
        publisher: publisher.map(str::to_owned),
        published: published.map(str::to_owned),
    };
    let pages = vec![page(Some("The News"), Some("2024-05-03")), page(None, None)];
    let output = answer("heat".to_owned(), pages, Vec::new());
    assert_eq!(
        serde_json::to_value(output).unwrap(),
        json!({
            "query": "heat",
            "results": [
                {"rank": 1, "title": "Heat", "url": "https://a.test/heat", "snippet": "Hot.", "source": "The News",
                 "publishedAt": "2024-05-03"},
                {"rank": 2, "title": "Heat", "url": "https://a.test/heat", "snippet": "Hot.", "source": "a.test"},
            ],
            "resultCount": 2,
        })
    );
}

#[test]
fn without_the_web_tools_the_setting_is_named() {
    let off: CurrentResearch = Arc::new(|| None);
    let failure = web_tools(&off).err().expect("no web tools");
    assert_eq!(failure.code, Code::Unsupported);
    assert!(failure.message.contains("research.tools"), "{}", failure.message);
}

#[test]
fn unknown_inputs_are_refused() {
    let read = |input| serde_json::from_value::<Input>(input);
    assert_eq!(read(json!({"query": "heat"})).unwrap().limit, 10);
    assert!(read(json!({"query": "heat", "num_results": 3})).is_err());
    assert!(read(json!({"query": "heat", "time_range": "hour"})).is_err());
}
