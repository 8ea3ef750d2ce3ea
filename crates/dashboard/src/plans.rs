//! A plan from an intent: the tasks as a graph, a form for what is missing, and a button that runs it.

use std::sync::Arc;

use auth::scope;
use axum::extract::State;
use dag::name_of_intent;
use http::StatusCode;
use maud::{Markup, html};
use serde_json::{Map, Value, json};
use strip::{Door, Request};

use crate::layout::{Page, PageResult, Section, csrf, heading};
use crate::posted::{PostedForm, see_other};
use crate::runs::graph::{DrawnBox, MAX_DRAWN, draw_boxes};
use crate::state::Dashboard;
use crate::viewer::Viewer;
use crate::words::{Tone, inert, mark, message, short, tool_page};

/// The tool that runs a DAG.
const EXECUTE_DAG: &str = "powerstrip:execute_dag";

/// The prefix of the fields for missing arguments.
const MISSING: &str = "missing:";

/// The kind of arguments that are taken as they are written.
const TEXT: &str = "string";

pub(super) async fn page(viewer: Viewer) -> PageResult {
    viewer.require(scope::TOOLS_CALL)?;
    show(&viewer, "", html! {}, StatusCode::OK)
}

pub(super) async fn act(State(dashboard): State<Dashboard>, posted: PostedForm) -> PageResult {
    let viewer = &posted.viewer;
    viewer.require(scope::TOOLS_CALL)?;
    let intent = posted.text("intent");
    if posted.text("do") == "run" {
        return run(&dashboard, &posted).await;
    }
    let Some(console) = &dashboard.parts.workflows else {
        return Err(viewer.missing("Workflows are not available in this process."));
    };
    match console.plan(&viewer.caller(), intent).await {
        Ok(plan) => show(viewer, intent, planned(&plan, viewer, intent), StatusCode::OK),
        Err(error) => {
            let fault = html! { p.fault role="alert" { (message(&error.message)) } };
            show(viewer, intent, fault, StatusCode::UNPROCESSABLE_ENTITY)
        }
    }
}

/// Runs the plan that the page showed, with the values of its form.
async fn run(dashboard: &Dashboard, posted: &PostedForm) -> PageResult {
    let viewer = &posted.viewer;
    let intent = posted.text("intent");
    let Ok(mut tasks) = serde_json::from_str::<Value>(posted.text("tasks")) else {
        return Err(viewer.missing("The plan of this form cannot be read. Plan again."));
    };
    for (name, text) in posted.fields() {
        let Some((kind, task, argument)) = missing_of(name) else { continue };
        let list = tasks.as_array_mut().into_iter().flatten();
        for found in list.filter(|found| found["id"] == task) {
            if let Value::Object(arguments) = &mut found["arguments"] {
                insert(arguments, argument, value(kind, text));
            }
        }
    }
    let workflow = json!({"name": name_of_intent(intent), "tasks": tasks});
    let input = json!({"workflow": workflow, "config": {"wait_ms": 1}});
    let call = Request::new(EXECUTE_DAG, input, Arc::clone(viewer.principal()), Door::Dashboard);
    let answer = dashboard.parts.strip.call(call).await;
    match answer.result {
        Ok(started) => {
            let id = started["workflow_id"].as_str().unwrap_or_default().replace('-', "");
            Ok(see_other(&format!("/dashboard/runs/run_{id}")))
        }
        Err(failure) => {
            let fault = html! { p.fault role="alert" { (message(&failure.message)) } };
            show(viewer, intent, fault, StatusCode::UNPROCESSABLE_ENTITY)
        }
    }
}

/// The kind, task and argument of a field.
fn missing_of(field: &str) -> Option<(&str, &str, &str)> {
    let (kind, rest) = field.strip_prefix(MISSING)?.split_once(':')?;
    let (task, argument) = rest.split_once(':')?;
    Some((kind, task, argument))
}

/// A text as it is; values of other kinds as JSON, or as text where they are none, which the check of the plan reports.
fn value(kind: &str, text: &str) -> Value {
    if kind == TEXT {
        return Value::from(text);
    }
    // may fail: then the check of the plan says what is wrong
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

/// The field for a missing argument.
fn field(missing: &Value) -> Markup {
    let schema = &missing["schema"];
    let kind = schema["type"].as_str().unwrap_or("json");
    let name =
        format!("{MISSING}{kind}:{}:{}", text(missing, "task_id"), text(missing, "argument"));
    let options: Vec<&str> =
        schema["enum"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let about = schema["description"].as_str().unwrap_or_default();
    html! {
        label for=(name) { code { (inert(text(missing, "argument"))) } " of " code { (inert(text(missing, "task_id"))) } }
        @if !about.is_empty() { p.help { (short(about, 300)) } }
        @if kind == TEXT && !options.is_empty() {
            select id=(name) name=(name) { @for option in options { option value=(option) { (inert(option)) } } }
        } @else if kind == "boolean" {
            select id=(name) name=(name) { option { "true" } option { "false" } }
        } @else if matches!(kind, "number" | "integer") {
            input id=(name) name=(name) type="number" step=(if kind == "integer" { "1" } else { "any" }) required;
        } @else if kind == TEXT {
            input id=(name) name=(name) type="text" required;
        } @else {
            textarea id=(name) name=(name) rows="3" placeholder="JSON" required {}
        }
    }
}

fn insert(arguments: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            arguments.insert(path.to_owned(), value);
        }
        Some((name, rest)) => {
            let inner = arguments.entry(name).or_insert_with(|| json!({}));
            if let Value::Object(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}

fn show(viewer: &Viewer, intent: &str, below: Markup, status: StatusCode) -> PageResult {
    let body = html! {
        (heading(html! { "New workflow" }, html! { "Planned from what you want done" }, html! { a href="/dashboard/runs" { "All runs" } }))
        form.try method="post" action=(crate::paths::NEW_WORKFLOW) {
            (csrf(viewer))
            label for="intent" { "What should be done?" }
            textarea #intent name="intent" rows="3" maxlength="2000" required { (inert(intent)) }
            div.buttons { button.primary type="submit" name="do" value="plan" { "Plan" } }
        }
        (below)
    };
    Page::new("New workflow", Section::Runs, body).show_as(viewer, status)
}

fn planned(plan: &Value, viewer: &Viewer, intent: &str) -> Markup {
    let list = |name: &str| plan[name].as_array().cloned().unwrap_or_default();
    let (tasks, missing) = (list("tasks"), list("missing"));
    let confidence = plan["confidence"].as_f64().unwrap_or_default();
    let tone = if confidence < 0.5 { Tone::Doubtful } else { Tone::Good };
    html! {
        h2 { "Plan" }
        p { (mark(tone, &format!("confidence {confidence:.2}"))) " " @if confidence < 0.5 { "Not sure: look at the tools before you run it." } }
        @if tasks.len() <= MAX_DRAWN { (draw(&tasks)) }
        ul.rows {
            @for task in &tasks {
                li { div.row {
                    span.row-name { code { (inert(text(task, "id"))) } }
                    span.row-more {
                        code { (inert(text(task, "tool"))) } " " (short(&task["arguments"].to_string(), 200))
                        @let others = others(plan, text(task, "id"));
                        @if !others.is_empty() { br; "or " @for (place, tool) in others.iter().enumerate() { @if place > 0 { ", " } code { (inert(tool)) } } }
                    }
                } }
            }
        }
        ul { @for reason in list("reasons") { li { (inert(reason.as_str().unwrap_or_default())) } } }
        form.try method="post" action=(crate::paths::NEW_WORKFLOW) {
            (csrf(viewer))
            input type="hidden" name="intent" value=(inert(intent));
            input type="hidden" name="tasks" value=(Value::Array(tasks.clone()).to_string());
            @for one in &missing { (field(one)) }
            div.buttons { button.primary type="submit" name="do" value="run" { "Run" } }
        }
    }
}

/// The other tools that fit a task.
fn others<'a>(plan: &'a Value, task: &str) -> Vec<&'a str> {
    let all = plan["alternatives"].as_array().into_iter().flatten();
    all.filter(|other| text(other, "task_id") == task).map(|other| text(other, "tool")).collect()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// The tasks, each after those whose outputs it uses.
fn draw(tasks: &[Value]) -> Markup {
    let mut boxes: Vec<DrawnBox> = Vec::new();
    for (place, task) in tasks.iter().enumerate() {
        let used = format!("{} {}", task["arguments"], task["for_each"]);
        let follows: Vec<usize> = (0..place)
            .filter(|before| {
                used.contains(&format!("tasks.{}.output", text(&tasks[*before], "id")))
            })
            .collect();
        let layer = follows.iter().map(|before| boxes[*before].layer + 1).max().unwrap_or(0);
        let line = boxes.iter().filter(|one| one.layer == layer).count();
        boxes.push(DrawnBox {
            layer,
            line,
            follows,
            edge: "edge",
            class: "node pending",
            title: text(task, "tool").to_owned(),
            text: text(task, "id").to_owned(),
            href: tool_page(text(task, "tool")),
        });
    }
    draw_boxes(&boxes, "tasks")
}
