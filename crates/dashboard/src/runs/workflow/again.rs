//! Starts a workflow like another one, with changes.

use axum::extract::{Path, State};
use http::StatusCode;
use maud::{Markup, html};
use operations::OperationError;
use operations::workflows::WorkflowDefinition;
use proto::TraceId;
use schema::yaml::{self, Limits};
use serde_json::{Map, Value};

use super::access::steering_console;
use super::ordered::OrderedDag;
use crate::layout::{Page, PageResult, Section, csrf, heading};
use crate::posted::{PostedForm, see_other};
use crate::runs::links::run_page;
use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::words::{in_url, inert, json, message};

/// As for `execute_dag`.
const LIMITS: Limits = Limits { max_bytes: 1 << 20, merge_keys: false, custom_tags: false };

/// What the form shows.
struct Draft<'a> {
    run: &'a str,
    text: &'a str,
    per_layer: bool,
    /// Why it was not started.
    fault: Option<Markup>,
}

pub(crate) async fn page(
    State(dashboard): State<Dashboard>,
    Path(id): Path<String>,
    viewer: Viewer,
) -> PageResult {
    let console = steering_console(&dashboard, &viewer)?;
    let definition = console.definition(&viewer.caller(), &id).await;
    let definition = definition.map_err(|error| viewer.failed("Not available", &error))?;
    let text =
        yaml::to_string(&OrderedDag(&definition.dag)).unwrap_or_else(|_| json(&definition.dag));
    let per_layer = definition.per_layer_validation;
    Draft { run: &id, text: &text, per_layer, fault: None }.show(&viewer, StatusCode::OK)
}

/// Starts the posted DAG, or shows what is wrong with it.
pub(crate) async fn start(
    State(dashboard): State<Dashboard>,
    Path(id): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let viewer = &posted.viewer;
    let console = steering_console(&dashboard, viewer)?;
    let (text, per_layer) = (posted.text("dag"), posted.text("per_layer") == "yes");
    let refuse = |fault| {
        let draft = Draft { run: &id, text, per_layer, fault: Some(fault) };
        draft.show(viewer, StatusCode::UNPROCESSABLE_ENTITY)
    };
    let dag = match yaml::parse::<Map<String, Value>>(text, LIMITS) {
        Ok(dag) => Value::Object(dag),
        Err(error) => return refuse(html! { p { (message(&error.to_string())) } }),
    };
    let mut caller = viewer.caller();
    // A form that is sent twice starts one workflow.
    caller.idempotency_key = Some(posted.text("key").to_owned()).filter(|key| !key.is_empty());
    let definition = WorkflowDefinition { dag, per_layer_validation: per_layer };
    match console.start(&caller, definition).await {
        Ok(workflow) => Ok(see_other(&run_page(&format!("run_{}", workflow.replace('-', ""))))),
        Err(error) => refuse(faults(&error)),
    }
}

/// All faults of a DAG, or the message of another error.
fn faults(error: &OperationError) -> Markup {
    let faults = error.details.as_ref().and_then(|details| details.get("faults")?.as_array());
    let part = |fault: &Value, name: &str| fault[name].as_str().unwrap_or_default().to_owned();
    match faults.filter(|faults| !faults.is_empty()) {
        // The message repeats the first of them.
        Some(faults) => html! {
            p { "The workflow was not started:" }
            ul { @for fault in faults { li { code { (inert(&part(fault, "path"))) } " " (message(&part(fault, "message"))) } } }
        },
        None => html! { p { (message(&error.message)) } },
    }
}

impl Draft<'_> {
    fn show(&self, viewer: &Viewer, status: StatusCode) -> PageResult {
        let back = html! { a href=(run_page(self.run)) { "Back to the workflow" } };
        let below = html! { "A new workflow starts with this DAG. The old one stays as it is." };
        let rows = self.text.lines().count().clamp(8, 30);
        let body = html! {
            (heading(html! { "Run again with changes" }, below, back))
            @if let Some(fault) = &self.fault { div.fault role="alert" { (fault) } }
            form.try method="post" action=(format!("/dashboard/runs/{}/again", in_url(self.run))) {
                (csrf(viewer))
                input type="hidden" name="key" value=(format!("again-{}", TraceId::random()));
                div.field {
                    label for="dag" { "DAG, as YAML or JSON" }
                    textarea.code #dag name="dag" rows=(rows) spellcheck="false" required { (self.text) }
                }
                label.option { input type="checkbox" name="per_layer" value="yes" checked[self.per_layer]; " Pause after each layer" }
                div.buttons { button.primary type="submit" { "Start the workflow" } }
            }
        };
        Page::new("Run again", Section::Runs, body).show_as(viewer, status)
    }
}
