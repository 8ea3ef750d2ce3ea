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
fn requests_without_a_form_are_refused() {
    let url = json!({"method": "elicitation/create", "params": {"mode": "url", "url": "x"}});
    let object = json!({"method": "elicitation/create", "params": {
        "message": "?", "requestedSchema": {"properties": {"a": {"type": "object"}}},
    }});
    for asked in [url, json!({"method": "sampling/createMessage"}), object] {
        assert_eq!(drafts(&asked).unwrap_err().code, Code::Unsupported, "{asked}");
    }
}

/// Taken for declined, it would send the tool an answer that no person gave.
#[tokio::test]
async fn a_question_that_is_missing_from_its_run_fails_the_task() {
    let folder = tempfile::tempdir().unwrap();
    let database = store::Database::open(folder.path()).await.unwrap();
    let commits = store::CommitQueue::start(database.clone());
    let runs = Runs::new(database, commits, proto::Clock::default());
    let principal = proto::Principal {
        tenant: proto::TenantId::new("acme"),
        subject: "ann".to_owned(),
        agent: None,
        scopes: Vec::new(),
        via: proto::Via::Local,
    };
    let run = runs.begin_batch(&principal, "report".to_owned());
    let field =
        Field { property: Some("day".to_owned()), slot: "day-1".to_owned(), required: false };
    let forms = vec![Form { name: "q".to_owned(), fields: vec![field] }];
    let interruption =
        Interruption { process: *PROCESS, asked_unix_ms: runs.now(), round: 0, state: None, forms };
    let kept = serde_json::to_value(&interruption).unwrap();
    let failed = repeat(&runs, &run, &kept).err().unwrap();
    assert_eq!(failed.code, Code::Internal);
    assert!(failed.message.contains("`day-1`"), "{}", failed.message);
    let question = NewQuestion {
        slot_id: "day-1",
        slot_type: SlotType::Text,
        prompt: "Day".to_owned(),
        options: Vec::new(),
        check: None,
    };
    runs.ask(&run, question).await.unwrap();
    assert!(matches!(repeat(&runs, &run, &kept), Ok(Repeated::Wait(_))));
}
