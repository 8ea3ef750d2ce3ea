//! What a research run has made: its report, sources, mind map and bibliography, and a comparison with another run.

mod again;
mod compare;
mod map;
mod report;
mod sources;

use auth::scope;
use files::FileRecord;
use maud::{Markup, html};
use operations::workflows::WorkflowDetails;
use proto::Code;
use runs::RunDetails;
use serde_json::Value;

use crate::files::read_file;
use crate::state::Dashboard;
use crate::unreadable::Unreadable;
use crate::viewer::Viewer;
use crate::words::{count, in_url, inert, message, run_page, short, size};

pub(super) use again::{input_of_run, link as again_link};
pub(super) use compare::page as compare;

/// The task that writes a report, by which a workflow is known as research, and its tool.
const COMPOSE: (&str, &str) = ("compose", "research.compose");

/// The tasks in which a person reviews the outline, and citations are checked.
const REVIEW: &str = "review_outline";
const AUDIT: &str = "audit";

/// The most artifacts that are looked at.
const MAX_ARTIFACTS: usize = 32;

/// The largest report, bibliography or drawing that is shown.
const MAX_SHOWN_BYTES: u64 = 4 << 20;

/// The largest stored output of a task that is read for the sources.
const MAX_OUTPUT_BYTES: u64 = 16 << 20;

/// How many warnings are shown.
const MAX_WARNINGS: usize = 20;

/// What cannot be read if an output cannot.
const RESULTS: &str = "The results of the research";

/// Whether a workflow is research.
pub(super) fn is_research(workflow: &WorkflowDetails) -> bool {
    let (task, tool) = COMPOSE;
    let is_tool =
        |name: &str| name == tool || name.split_once('@').is_some_and(|(id, _)| id == tool);
    workflow.tasks.iter().any(|one| one.task_id == task && is_tool(&one.tool))
}

/// What a research run shows in place of the outputs of its last tasks; none as long as it has made nothing.
pub(super) async fn show(
    dashboard: &Dashboard,
    viewer: &Viewer,
    run: &RunDetails,
    workflow: &WorkflowDetails,
) -> Option<Markup> {
    let complete = workflow.workflow.outcome.as_deref() == Some("complete");
    if !is_research(workflow) || !complete {
        return None;
    }
    let id = &run.run.id;
    if !viewer.may(scope::FILES_READ) {
        let scope = scope::FILES_READ;
        return Some(
            html! { p.soft { "You need the scope " code { (scope) } " to read the report." } },
        );
    }
    let mut artifacts = Artifacts::find(dashboard, viewer, &run.run.artifacts).await;
    let outputs = Outputs { dashboard, viewer, workflow };
    let (review, composed, audit) = match outputs.all().await {
        Ok([review, composed, audit]) => (review, composed, audit),
        Err(unread) => return Some(unread.show()),
    };
    if review["status"] == "rejected" {
        return Some(rejected(&review));
    }
    let report = artifacts.text(dashboard, viewer, "report.md").await;
    let has_references = report.as_deref().is_some_and(report::has_references);
    let bibliography = if has_references {
        None
    } else {
        artifacts.text(dashboard, viewer, "bibliography.md").await
    };
    let map = artifacts.text(dashboard, viewer, "map.svg").await;
    let others = compare::others(dashboard, viewer, workflow).await;
    Some(html! {
        div.research {
            nav.tabs aria-label="Parts of the research" {
                @if report.is_some() { a href="#report" { "Report" } }
                a href="#sources" { "Sources" }
                @if map.is_some() { a href="#mind-map" { "Mind map" } }
                a href="#compare" { "Compare" }
                a href="#workflow" { "Workflow" }
            }
            (facts(&composed, &audit))
            @if artifacts.is_empty() {
                p.soft { "The files of this research are not there: they have expired, were deleted, or belong to another tenant." }
            }
            @if let Some(report) = &report { article.report #report { (report::render(report)) } }
            @if let Some(bibliography) = &bibliography {
                article.report #bibliography { (report::render(bibliography)) }
            }
            h2 #sources { "Sources" }
            (sources::table(&composed["sources"]))
            @if let Some(map) = &map {
                h2 #mind-map { "Mind map" }
                (drawing(map, "Mind map of the topic, its perspectives and questions"))
                (artifacts.full_size("map.svg"))
                (map::as_list(&composed["graph"]))
            }
            (artifacts.list())
            section.screen-only aria-labelledby="compare" {
                h2 #compare { "Compare" }
                (compare::form(id, &others, ""))
            }
        }
    })
}

/// What is shown of research whose outline was rejected.
fn rejected(review: &Value) -> Markup {
    let feedback = review["feedback"].as_str().filter(|feedback| !feedback.is_empty());
    html! {
        div.research { div.notice.warning {
            p { strong { "The outline was rejected, so no report was written." } }
            @if let Some(feedback) = feedback { p { (message(feedback)) } }
        } }
    }
}

/// The errors of the citation audit.
fn errors(audit: &Value) -> Vec<&str> {
    let findings = audit["findings"].as_array().into_iter().flatten();
    let errors = findings.filter(|finding| finding["severity"] == "error");
    errors.filter_map(|finding| finding["message"].as_str()).collect()
}

/// Claims, method and warnings.
fn facts(composed: &Value, audit: &Value) -> Markup {
    let claims = &composed["claims"];
    let number = |name: &str| {
        claims[name].as_u64().and_then(|number| usize::try_from(number).ok()).unwrap_or(0)
    };
    let (supported, dropped) = (number("supported"), number("dropped"));
    let warnings: Vec<&str> =
        composed["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let errors = errors(audit);
    html! {
        @if claims.is_object() {
            p.soft {
                (count(supported, "claim", "claims")) " with a source"
                @if dropped > 0 { " · " (dropped) " dropped because no source supports them" }
            }
        }
        @if !warnings.is_empty() {
            div.notice.warning {
                p { strong { "Warnings" } }
                ul { @for warning in warnings.iter().take(MAX_WARNINGS) { li { (message(warning)) } } }
            }
        }
        @if !errors.is_empty() {
            div.notice.warning {
                p { strong { "The citation audit found " (count(errors.len(), "error", "errors")) } }
                ul { @for error in errors.iter().take(MAX_WARNINGS) { li { (message(error)) } } }
                @if errors.len() > MAX_WARNINGS { p.soft { "The first " (MAX_WARNINGS) " are shown." } }
            }
        }
    }
}

/// An SVG document as an image: as such it runs no scripts and loads nothing.
fn drawing(svg: &str, alt: &str) -> Markup {
    let is_svg = svg.trim_start().starts_with("<svg") || svg.trim_start().starts_with("<?xml");
    html! {
        @if is_svg {
            figure.drawing tabindex="0" { img src=(format!("data:image/svg+xml;charset=utf-8,{}", in_url(svg))) alt=(alt); }
        } @else { p.soft { "The drawing is not an SVG document." } }
    }
}

/// The files of a run, by their names.
pub(super) async fn artifacts(dashboard: &Dashboard, viewer: &Viewer, ids: &[String]) -> Markup {
    let found = Artifacts::find(dashboard, viewer, ids).await;
    let gone = ids.len().min(MAX_ARTIFACTS) - found.files.len() - found.unreadable;
    html! {
        (found.list())
        @if gone > 0 { p.soft { (count(gone, "file has expired or was deleted.", "files have expired or were deleted.")) } }
    }
}

/// The files that a run has stored and its viewer may read.
struct Artifacts {
    files: Vec<FileRecord>,
    /// How many could not be read.
    unreadable: usize,
}

impl Artifacts {
    async fn find(dashboard: &Dashboard, viewer: &Viewer, ids: &[String]) -> Self {
        let files = dashboard.parts.strip.files();
        let mut found = Self { files: Vec::new(), unreadable: 0 };
        for id in ids.iter().take(MAX_ARTIFACTS) {
            match files.find(viewer.principal(), id).await {
                Ok(file) => found.files.push(file),
                // Files of other tenants are not found, also for an operator who sees their runs.
                Err(failure) if failure.code == Code::NotFound => {}
                Err(_) => found.unreadable += 1,
            }
        }
        found
    }

    /// Whether there is none, for all that can be known.
    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.unreadable == 0
    }

    /// The text of the last file of this name.
    async fn text(&mut self, dashboard: &Dashboard, viewer: &Viewer, name: &str) -> Option<String> {
        let file = self.files.iter().rev().find(|file| file.name == name)?;
        match read_file(dashboard, viewer, file.id.as_str(), MAX_SHOWN_BYTES).await {
            Ok(bytes) => Some(String::from_utf8_lossy(&bytes).into_owned()),
            Err(failure) => {
                tracing::warn!(file = %file.id, "an artifact cannot be shown: {}", failure.message);
                self.unreadable += 1;
                None
            }
        }
    }

    /// A link to a drawing alone, where the page has no room for it.
    fn full_size(&self, name: &str) -> Markup {
        let file = self.files.iter().rev().find(|file| file.name == name);
        html! {
            @if let Some(file) = file {
                p.soft.screen-only {
                    a href=(format!("/dashboard/files/{}/content", in_url(file.id.as_str()))) download=(name) { "Download the mind map" }
                    " to see it in full size."
                }
            }
        }
    }

    fn list(&self) -> Markup {
        html! {
            @if self.unreadable > 0 {
                p.fault role="alert" { (count(self.unreadable, "file", "files")) " could not be read. Reload the page; if this does not help, the gateway's log has the cause." }
            }
            @if !self.files.is_empty() {
                section.screen-only {
                    h2 { "Files" }
                    ul.rows { @for file in &self.files {
                        li { a.row href=(format!("/dashboard/files/{}", in_url(file.id.as_str()))) {
                            span.row-name { (short(&file.name, 80)) }
                            span.row-more { (inert(&file.media_type)) " · " (size(file.size)) }
                            span.row-end {}
                        } }
                    } }
                }
            }
        }
    }
}

/// What the tasks of a workflow have made.
struct Outputs<'a> {
    dashboard: &'a Dashboard,
    viewer: &'a Viewer,
    workflow: &'a WorkflowDetails,
}

impl Outputs<'_> {
    /// The outputs of the review, the composition and the audit.
    async fn all(&self) -> Result<[Value; 3], Unreadable> {
        Ok([self.of(REVIEW).await?, self.of(COMPOSE.0).await?, self.of(AUDIT).await?])
    }

    /// The output of a task, from the workflow's last answer; null once that has expired.
    async fn of(&self, task: &str) -> Result<Value, Unreadable> {
        let answer = self.workflow.checkpoint.as_ref();
        let results = answer.and_then(|answer| answer["results"].as_array());
        let result = results.into_iter().flatten().find(|result| result["task_id"] == task);
        let Some(output) = result.map(|result| &result["output"]) else { return Ok(Value::Null) };
        let stored = output["ref_id"].as_str().filter(|_| output["truncated"] == true);
        let Some(reference) = stored else { return Ok(output.clone()) };
        match read_file(self.dashboard, self.viewer, reference, MAX_OUTPUT_BYTES).await {
            Ok(bytes) => strip::run_blocking(bytes.len(), || parse(&bytes)),
            Err(failure) if failure.code == Code::NotFound => Ok(Value::Null),
            Err(failure) => Err(Unreadable::log(RESULTS, &failure)),
        }
    }
}

/// A stored output. Those of these tasks are objects: null in place of a damaged one would be shown as no sources.
fn parse(bytes: &[u8]) -> Result<Value, Unreadable> {
    serde_json::from_slice(bytes).map_err(|error| Unreadable::log(RESULTS, &error))
}

/// The address of the comparison of a run with others.
fn compare_page(run: &str) -> String {
    format!("{}/diff", run_page(run))
}

#[cfg(test)]
mod tests {
    use operations::workflows::WorkflowTask;
    use serde_json::json;

    use super::*;

    #[test]
    fn research_is_known_by_its_tool() {
        let task = |id: &str, tool: &str| WorkflowTask {
            task_id: id.to_owned(),
            tool: tool.to_owned(),
            ..WorkflowTask::default()
        };
        let of = |tasks: Vec<WorkflowTask>| WorkflowDetails { tasks, ..WorkflowDetails::default() };
        assert!(is_research(&of(vec![task("plan", "x@1"), task("compose", "research.compose@1")])));
        assert!(!is_research(&of(vec![task("compose", "research.composer@1")])));
        assert!(!is_research(&of(vec![task("other", "research.compose@1")])));
    }

    #[test]
    fn drawings_are_images_that_cannot_leave_their_attribute() {
        let shown = drawing("<svg onload=\"alert(1)\"><a>&</a></svg>", "a map").into_string();
        assert!(shown.contains("src=\"data:image/svg+xml;charset=utf-8,%3Csvg"), "{shown}");
        assert!(!shown.contains("<svg") && !shown.contains("onload=\""), "{shown}");
        assert!(drawing("<html>", "").into_string().contains("not an SVG"));
    }

    #[test]
    fn a_damaged_output_is_not_taken_for_one_without_sources() {
        assert!(parse(br#"{"sources": []}"#).is_ok());
        let unread = parse(br#"{"sources": [{"ti"#).map_err(|unread| unread.show().into_string());
        assert!(unread.is_err_and(|shown| shown.contains(RESULTS)));
    }

    #[test]
    fn warnings_are_inert() {
        let composed = json!({"claims": {"supported": 1}, "warnings": ["<b>x"]});
        let shown = facts(&composed, &Value::Null).into_string();
        assert!(shown.contains("1 claim with a source") && shown.contains("&lt;b&gt;x"), "{shown}");
        assert_eq!(facts(&Value::Null, &Value::Null).into_string(), "");
    }

    #[test]
    fn all_errors_of_the_audit_are_listed() {
        let error = |message: &str| json!({"severity": "error", "message": message});
        let audit = json!({"findings": [error("one"), {"severity": "warning", "message": "no"}, error("two")]});
        let shown = facts(&Value::Null, &audit).into_string();
        assert!(
            shown.contains("2 errors") && shown.contains("one") && shown.contains("two"),
            "{shown}"
        );
        assert!(!shown.contains(">no<"), "{shown}");
    }

    #[test]
    fn a_rejected_outline_is_not_taken_for_an_expired_report() {
        let shown =
            rejected(&json!({"status": "rejected", "feedback": "too <b>long"})).into_string();
        assert!(shown.contains("was rejected") && shown.contains("too &lt;b&gt;long"), "{shown}");
    }
}
