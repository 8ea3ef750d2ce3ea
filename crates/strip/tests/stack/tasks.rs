//! Calls that tasks of workflows make.

use proto::Code;
use serde_json::{Value, json};
use strip::{Door, Part, Request};

use crate::support::{code, echo, principal, setup};

fn task(tool: &str, input: Value) -> Request {
    Request::new(tool, input, principal("acme", "ann"), Door::Workflow)
}

#[tokio::test]
async fn a_task_calls_data_and_control_flow_tools_only() {
    let mut tools = vec![echo("t.echo")];
    for part in [Part::Finder, Part::Forwarder, Part::Workflow] {
        let mut other = echo(&format!("t.{}", format!("{part:?}").to_lowercase()));
        other.part = part;
        tools.push(other);
    }
    let setup = setup(tools).await;
    assert_eq!(code(&setup.strip.call(task("t.echo", json!({}))).await), None);
    for refused in ["t.finder", "t.forwarder", "t.workflow"] {
        let answer = setup.strip.call(task(refused, json!({}))).await;
        assert_eq!(code(&answer), Some(Code::InvalidInput), "{refused}");
        assert_eq!(code(&setup.call(refused, json!({})).await), None, "{refused}");
    }
}
