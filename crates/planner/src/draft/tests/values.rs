//! No value of an intent is dropped silently: it becomes an argument, or the plan waits and names it.

use proptest::collection::vec;
use proptest::prelude::{ProptestConfig, Strategy, prop_oneof, proptest};
use proptest::sample::select;
use serde_json::{Value, json};

use super::{Argument, Catalog, Draft, Items, argument, capability, catalog, literal, text, tools};

const A: &str = "file_0123456789abcdef0123456789abcdef";
const B: &str = "file_fedcba9876543210fedcba9876543210";

/// All literal values of a plan.
pub(super) fn literals(draft: &Draft) -> Vec<&Value> {
    let arguments = draft.tasks.iter().flat_map(|task| &task.arguments);
    let given = arguments.filter_map(|(_, argument)| match argument {
        Argument::Literal(value) => Some(value),
        _ => None,
    });
    let lists = draft.tasks.iter().filter_map(|task| match &task.for_each {
        Some(Items::Values(values)) => Some(values.iter()),
        _ => None,
    });
    given.chain(lists.flatten()).collect()
}

fn has(draft: &Draft, value: &str) -> bool {
    literals(draft).iter().any(|literal| literal.to_string().contains(value))
}

fn names(draft: &Draft, value: &str) -> bool {
    draft.notes.iter().any(|note| note.contains(value))
}

/// What must hold of each value of an intent.
fn assert_kept(draft: &Draft, value: &str, intent: &str) {
    let kept = has(draft, value) || draft.confidence < 0.5 && names(draft, value);
    assert!(kept, "`{value}` of `{intent}` is dropped: {draft:#?}");
}

fn plan(intent: &str) -> Draft {
    capability::catalog().plan(intent).unwrap_or_else(|none| panic!("{intent}: {none:?}"))
}

#[test]
fn the_id_of_a_file_becomes_the_argument_for_files() {
    for intent in [
        format!("Tailor the resume {A} to the role \"Data Engineer\""),
        format!("Tailor the resume file {A} to the role \"Data Engineer\""),
        format!("Tailor the résumé '{A}' to the role \"Data Engineer\"."),
        format!("For the role \"Data Engineer\", tailor my resume ({A})"),
    ] {
        let draft = plan(&intent);
        assert_eq!(tools(&draft), ["resume-profile-mcp:tailor_resume"], "{intent}: {draft:#?}");
        assert_eq!(argument(&draft, 0, "file_id"), &literal(json!(A)), "{intent}");
        assert_eq!(
            argument(&draft, 0, "target_role"),
            &literal(json!("Data Engineer")),
            "{intent}"
        );
        assert!(draft.confidence >= 0.5, "{intent}: {draft:#?}");
    }
    let stored = "doc_0123456789abcdef0123456789abcdef";
    let draft = plan(&format!("Tailor the resume {stored} to the role \"Data Engineer\""));
    assert_eq!(argument(&draft, 0, "source_ref_id"), &literal(json!(stored)));
}

#[test]
fn a_file_that_no_tool_takes_is_named_and_the_plan_waits() {
    let tools = [
        (
            "mail:send",
            "Send an e-mail message.",
            json!({"recipient_email": text(), "message": text()}),
            json!({}),
        ),
        (
            "role:tailor_resume",
            "Tailors a resume to a role.",
            json!({"target_role": text()}),
            json!({}),
        ),
    ];
    let catalog = Catalog::new(&tools);
    for intent in [
        format!("Tailor the resume {A} to the role \"Data Engineer\""),
        format!("Send the message 'See you' to ann@example.com with {A}"),
    ] {
        let Ok(draft) = catalog.plan(&intent) else { continue };
        assert!(!has(&draft, A), "{draft:#?}");
        assert_kept(&draft, A, &intent);
    }
}

#[test]
fn two_files_have_two_places_or_two_calls() {
    let draft = plan(&format!("Compare the document {A} with {B}"));
    assert_eq!(argument(&draft, 0, "old_file_id"), &literal(json!(A)), "{draft:#?}");
    assert_eq!(argument(&draft, 0, "new_file_id"), &literal(json!(B)), "{draft:#?}");
    let draft = plan(&format!("Redact the personal data in {A} and {B}"));
    assert_eq!(
        draft.tasks[0].for_each,
        Some(Items::Values(vec![json!(A), json!(B)])),
        "{draft:#?}"
    );
    let draft = plan(&format!("Merge the two PDF files {A} and {B}"));
    assert_eq!(argument(&draft, 0, "file_ids"), &literal(json!([A, B])), "{draft:#?}");
    assert_eq!(draft.notes, [""; 0], "the number of files is no value of its own");
}

#[test]
fn a_file_is_known_to_the_other_tools_of_its_server_and_by_a_pronoun() {
    let draft =
        plan(&format!("Extract the profile of {A}, then tailor the resume to the role \"Baker\""));
    let tailor = draft.tasks.iter().position(|task| task.tool.ends_with("tailor_resume")).unwrap();
    let takes_file = draft.tasks[tailor].arguments.iter().any(|(path, argument)| {
        path[0] == "file_id" && *argument == literal(json!(A))
            || path[0] == "source_ref_id" && matches!(argument, Argument::Output { .. })
    });
    assert!(takes_file, "{draft:#?}");
    // An attachment that no step asks for would give the file away.
    let draft = plan(&format!("Summarize {A}, then send the message 'Done' to ann@example.com"));
    let send = draft.tasks.iter().find(|task| task.tool == "mail:send_message").unwrap();
    assert!(!format!("{:?}", send.arguments).contains(A), "{draft:#?}");
}

#[test]
fn a_second_value_for_one_argument_is_named() {
    for (intent, left) in [
        ("Get the weather in Paris, no, in London", "London"),
        ("Tailor the resume to the role \"Baker\" and the role \"Cook\"", "Cook"),
        ("Get the weather in Paris for 3 days, I mean 5 days", "5"),
        ("Fetch https://a.example/x instead of https://b.example/y", "https://b.example/y"),
    ] {
        let draft = plan(intent);
        assert!(has(&draft, left) || names(&draft, left) && draft.confidence < 0.5, "{draft:#?}");
        assert!(
            draft.confidence < 0.5 || draft.tasks[0].for_each.is_some(),
            "{intent}: {draft:#?}"
        );
    }
}

#[test]
fn numbers_that_count_or_order_are_no_values() {
    let catalog = catalog();
    for intent in ["Parse the two files a.xml and b.xml", "1. Parse a.xml", "Step 1: Parse a.xml"] {
        let draft = catalog.plan(intent).unwrap();
        assert_eq!(draft.notes, [""; 0], "{intent}: {draft:#?}");
    }
    let draft = catalog.plan("Parse a.xml 4711 times").unwrap();
    assert_kept(&draft, "4711", "Parse a.xml 4711 times");
}

#[test]
fn parts_of_other_values_are_no_numbers() {
    let city = json!({"city": text(), "count": {"type": "integer"}});
    let catalog = Catalog::new(&[("weather:get", "Get the weather of a city.", city, json!({}))]);
    for value in ["10.0.0.1", "550e8400-e29b-41d4-a716-446655440000", "v1.2.3", "covid-19"] {
        let intent = format!("Get the weather of the city 'Rome' for {value}");
        let draft = catalog.plan(&intent).unwrap();
        assert_eq!(draft.tasks[0].missing, ["count"], "{intent}: {draft:#?}");
        assert!(names(&draft, value), "{intent}: {draft:#?}");
    }
}

#[test]
fn a_value_too_many_costs_confidence() {
    let plain = plan(&format!("Tailor the resume {A} to the role \"Data Engineer\""));
    for more in ["\"with love\"", "ann@example.com", "https://a.example/x", "4711"] {
        let intent = format!("Tailor the resume {A} to the role \"Data Engineer\" and {more}");
        let draft = plan(&intent);
        assert_kept(&draft, more.trim_matches('"'), &intent);
        assert!(draft.confidence < plain.confidence.min(0.5), "{intent}: {draft:#?}");
    }
}

#[test]
fn the_end_of_a_very_long_intent_is_named() {
    let catalog = catalog();
    // More steps than are planned.
    let many: String = (0..40).map(|number| format!("Parse f{number}.xml. ")).collect();
    let draft = catalog.plan(&many).unwrap();
    for number in 0..40 {
        assert_kept(&draft, &format!("f{number}.xml"), &many);
    }
    // More values than are read, and a quote behind them.
    let numbers: String = (1000..1120).map(|number| format!("{number} ")).collect();
    let intent =
        format!("Parse a.xml {numbers}. Then parse \"q. Send a message to ann@example.com\"");
    let draft = catalog.plan(&intent).unwrap();
    assert!(draft.confidence < 0.5 && names(&draft, "No task was planned"), "{draft:#?}");
    assert!(tools(&draft).iter().all(|tool| *tool == "xml:parse"), "{draft:#?}");
}

/// A value as an intent writes it, and the text by which it is found again.
#[derive(Clone, Debug)]
struct Given {
    written: String,
    text: String,
}

fn given() -> impl Strategy<Value = Given> {
    let plain = |text: String| Given { written: text.clone(), text };
    let quoted = |text: String| Given { written: format!("\"{text}\""), text };
    prop_oneof![
        "[b-df-hj-np-tv-z]{5,9} [b-df-hj-np-tv-z]{5,9}".prop_map(quoted),
        "[0-9a-f]{32}".prop_map(move |digits| plain(format!("file_{digits}"))),
        "https://[b-df-hj-np-tv-z]{5,8}\\.example/[b-df-hj-np-tv-z]{4,6}".prop_map(plain),
        "[1-9][0-9]{4}".prop_map(plain),
        "[b-df-hj-np-tv-z]{5,8}@[b-df-hj-np-tv-z]{5,8}\\.example".prop_map(plain),
    ]
}

const REQUESTS: [&str; 20] = [
    "Tailor the resume",
    "Tailor the resume file",
    "Parse the résumé",
    "Extract the profile and the skills of",
    "Redact the personal data in",
    "Compare the documents",
    "Merge the PDF files",
    "Summarize the text",
    "Summarize the file",
    "Send the message",
    "Send an e-mail message to",
    "Draft a message about",
    "Fetch the page",
    "Read the file",
    "Get the weather of the city",
    "Parse the XML file",
    "Check that the XML file is well-formed:",
    "Convert the currency",
    "Find a hotel in the city",
    "Book the hotel",
];

const JOINTS: [&str; 12] = [
    " to the role ",
    " with ",
    " and ",
    ", ",
    " for ",
    " to ",
    " in ",
    ". Then send the message ",
    ", then redact it with ",
    " from ",
    " using the format ",
    " ",
];

fn assert_all_kept(catalog: &Catalog, request: &str, values: &[Given], joints: &[&str]) {
    let mut intent = request.to_owned();
    for (place, value) in values.iter().enumerate() {
        intent += if place == 0 { " " } else { joints[place - 1] };
        intent += &value.written;
    }
    let Ok(draft) = catalog.plan(&intent) else { return };
    for value in values {
        assert_kept(&draft, &value.text, &intent);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn every_value_is_an_argument_or_is_named(
        request in select(&REQUESTS[..]),
        values in vec(given(), 1..5),
        joints in vec(select(&JOINTS[..]), 4),
    ) {
        for catalog in [catalog(), capability::catalog()] {
            assert_all_kept(&catalog, request, &values, &joints);
        }
    }

    #[test]
    fn every_value_is_kept_or_named_with_tools_of_any_shape(
        fields in vec(("[a-z]{3,8}(_id|_url|_email|_text|_count|_file_id)?", 0..5usize), 0..6),
        request in select(&REQUESTS[..]),
        values in vec(given(), 1..5),
        joints in vec(select(&JOINTS[..]), 4),
    ) {
        let kinds = [
            json!({"type": "string"}),
            json!({"type": "integer"}),
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"type": "object", "properties": {"name": {"type": "string"}, "url": {"type": "string"}}, "required": ["name"]}),
            json!({"type": "string", "enum": ["pdf", "docx"]}),
        ];
        let mut input = serde_json::Map::new();
        for (place, (name, kind)) in fields.into_iter().enumerate() {
            let name = if place % 2 == 0 { name } else { format!("{name}?") };
            input.insert(name, kinds[kind].clone());
        }
        let description = "Parse, tailor, redact, send, fetch, read, find or convert a file, text, message or resume.";
        let catalog = Catalog::new(&[
            ("any:tool", description, Value::Object(input.clone()), json!({"ref_id": text()})),
            ("any:resume", description, Value::Object(input), json!({})),
        ]);
        assert_all_kept(&catalog, request, &values, &joints);
    }
}
