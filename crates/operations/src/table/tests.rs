use std::sync::atomic::{AtomicU32, Ordering};

use proto::{Principal, TenantId, Via};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::*;
use crate::Route;

struct Count;

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Step {
    id: String,
    by: Option<u32>,
}

impl Operation for Count {
    const NAME: &'static str = "test.count";
    const SUMMARY: &'static str = "Add to a counter";
    const ROUTE: Option<Route> =
        Some(Route::post("/v1/counters/{id}", "counters:write", "counters.count"));
    type Service = AtomicU32;
    type Input = Step;
    type Output = u32;

    async fn run(counter: Arc<AtomicU32>, _: Caller, step: Step) -> Result<u32, OperationError> {
        let by = step.by.unwrap_or(1);
        Ok(counter.fetch_add(by, Ordering::Relaxed) + by)
    }
}

fn caller() -> Caller {
    let principal = Principal {
        tenant: TenantId::new("acme"),
        subject: "ann".to_owned(),
        agent: None,
        scopes: Vec::new(),
        via: Via::Local,
    };
    Caller::local(Arc::new(principal))
}

#[tokio::test]
async fn every_form_of_input_reaches_the_same_operation() {
    let table = Table::default().with::<Count>(&Arc::default());
    let fields = vec![("id".to_owned(), "a".to_owned()), ("by".to_owned(), "2".to_owned())];
    for (input, expected) in [
        (RawInput::Fields(fields), 2),
        (RawInput::Json(br#"{"id": "a", "by": 3}"#.to_vec()), 5),
        (RawInput::Params(json!({"id": "a"})), 6),
    ] {
        let output = table.run("test.count", caller(), input).await;
        assert_eq!(output, Ok(json!(expected)));
    }
}

#[tokio::test]
async fn bad_input_and_unknown_names_are_refused() {
    let table = Table::default().with::<Count>(&Arc::default());
    let twice = vec![("id".to_owned(), "a".to_owned()), ("id".to_owned(), "b".to_owned())];
    for input in [
        RawInput::Fields(twice),
        RawInput::Fields(vec![
            ("id".to_owned(), "a".to_owned()),
            ("by".to_owned(), "x".to_owned()),
        ]),
        RawInput::Json(br#"{"id": "a", "id": "b"}"#.to_vec()),
        RawInput::Json(b"[]".to_vec()),
        RawInput::Params(json!({"id": "a", "more": 1})),
    ] {
        let refused = table.run("test.count", caller(), input.clone()).await;
        assert_eq!(refused.map_err(|error| error.code), Err(Code::InvalidInput), "{input:?}");
    }
    let unknown = table.run("test.other", caller(), RawInput::Params(json!({}))).await;
    assert_eq!(unknown.map_err(|error| error.code), Err(Code::NotFound));
}

#[test]
fn a_row_says_what_the_operation_takes_and_returns() {
    let table = Table::default().with::<Count>(&Arc::default());
    let row = table.row("test.count").expect("the row");
    assert_eq!((row.input)()["required"], json!(["id"]));
    assert_eq!((row.output)()["type"], json!("integer"));
}
