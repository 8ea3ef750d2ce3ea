//! Draws a workflow as SVG.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::WorkflowDetails;

/// The size of a box and the space around it.
const BOX: (usize, usize) = (200, 64);
const GAP: (usize, usize) = (80, 24);
const MARGIN: usize = 24;
/// The height of the heading of a layer.
const HEADING: usize = 28;
/// The most characters that fit into a box.
const MAX_CHARS: usize = 26;

/// What is drawn of a workflow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphView {
    pub title: String,
    pub tasks: Vec<GraphTask>,
}

/// What is drawn of a task.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GraphTask {
    pub id: String,
    pub tool: String,
    pub layer: usize,
    /// `pending`, `running`, `waiting`, `success`, `failed`, `skipped` or `cancelled`; others are drawn like `pending`.
    pub status: String,
    #[serde(default)]
    pub duration_ms: Option<u64>,
    /// The ids of the tasks before it.
    #[serde(default)]
    pub depends_on: Vec<String>,
}

impl From<&WorkflowDetails> for GraphView {
    fn from(details: &WorkflowDetails) -> Self {
        let tasks = details.tasks.iter().map(|task| GraphTask {
            id: task.task_id.clone(),
            tool: task.tool.clone(),
            layer: task.layer,
            status: details.task_state(task).to_owned(),
            duration_ms: task.duration_ms,
            depends_on: task.depends_on.clone(),
        });
        let workflow = &details.workflow;
        let title = format!("workflow {} ({})", workflow.workflow_id, workflow.state);
        Self { title, tasks: tasks.collect() }
    }
}

const STYLE: &str = "\
text{font:12px system-ui,sans-serif;fill:#1f2328}.id{font-weight:600}.layer,.tool,.state{fill:#59636e}\
.bg{fill:#fff}rect.task{fill:#f6f8fa;stroke:#818b98;stroke-width:1.5}path{fill:none;stroke:#818b98;stroke-width:1.5}\
marker path{fill:#818b98;stroke:none}\
.success rect.task{stroke:#1a7f37;fill:#dafbe1}.failed rect.task{stroke:#cf222e;fill:#ffebe9}\
.running rect.task{stroke:#0969da;fill:#ddf4ff}.waiting rect.task{stroke:#9a6700;fill:#fff8c5}\
.skipped rect.task,.cancelled rect.task{stroke-dasharray:4 3}\
@media(prefers-color-scheme:dark){text{fill:#f0f6fc}.layer,.tool,.state{fill:#9198a1}.bg{fill:#0d1117}\
rect.task{fill:#151b23;stroke:#656c76}path{stroke:#656c76}marker path{fill:#656c76}\
.success rect.task{stroke:#3fb950;fill:#12261e}.failed rect.task{stroke:#f85149;fill:#25171c}\
.running rect.task{stroke:#58a6ff;fill:#121d2f}.waiting rect.task{stroke:#d29922;fill:#272115}}";

/// An SVG document with the layers as columns. Light or dark by the reader's preference.
pub fn svg(view: &GraphView) -> String {
    let layers = view.tasks.iter().map(|task| task.layer + 1).max().unwrap_or(0);
    let mut rows = vec![0_usize; layers];
    let places: Vec<(usize, usize)> = (view.tasks.iter())
        .map(|task| {
            let row = rows[task.layer];
            rows[task.layer] += 1;
            let x = MARGIN + task.layer * (BOX.0 + GAP.0);
            (x, MARGIN + HEADING + row * (BOX.1 + GAP.1))
        })
        .collect();
    let most = rows.iter().copied().max().unwrap_or(0).max(1);
    let width = 2 * MARGIN + layers.max(1) * (BOX.0 + GAP.0) - GAP.0;
    let height = 2 * MARGIN + HEADING + most * (BOX.1 + GAP.1) - GAP.1;
    let mut out = String::new();
    let _ = write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\"><title>{}</title><style>{STYLE}</style>\
         <defs><marker id=\"end\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path d=\"M0 0 8 4 0 8z\"/></marker></defs>\
         <rect class=\"bg\" width=\"{width}\" height=\"{height}\"/>",
        escape(&view.title)
    );
    for layer in 0..layers {
        let x = MARGIN + layer * (BOX.0 + GAP.0);
        let _ = write!(
            out,
            "<text class=\"layer\" x=\"{x}\" y=\"{}\">Layer {layer}</text>",
            MARGIN + 8
        );
    }
    for (task, (x, y)) in view.tasks.iter().zip(&places) {
        for before in &task.depends_on {
            let Some(from) = view.tasks.iter().position(|other| other.id == *before) else {
                continue;
            };
            let (from_x, from_y) = (places[from].0 + BOX.0, places[from].1 + BOX.1 / 2);
            let to_y = y + BOX.1 / 2;
            let bend = GAP.0 / 2;
            let _ = write!(
                out,
                "<path d=\"M{from_x} {from_y} C{} {from_y} {} {to_y} {x} {to_y}\" marker-end=\"url(#end)\"/>",
                from_x + bend,
                x.saturating_sub(bend),
            );
        }
    }
    for (task, (x, y)) in view.tasks.iter().zip(&places) {
        let class = match task.status.as_str() {
            known @ ("success" | "failed" | "running" | "waiting" | "skipped" | "cancelled") => {
                known
            }
            _ => "pending",
        };
        let state = match task.duration_ms {
            Some(duration) => format!("{} · {}", task.status, show_duration(duration)),
            None => task.status.clone(),
        };
        let _ = write!(
            out,
            "<g class=\"{class}\"><title>{} · {} · {}</title>\
             <rect class=\"task\" x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"6\"/>\
             <text class=\"id\" x=\"{tx}\" y=\"{}\">{}</text>\
             <text class=\"tool\" x=\"{tx}\" y=\"{}\">{}</text>\
             <text class=\"state\" x=\"{tx}\" y=\"{}\">{}</text></g>",
            escape(&task.id),
            escape(&task.tool),
            escape(&state),
            BOX.0,
            BOX.1,
            y + 20,
            escape(&shorten(&task.id)),
            y + 37,
            escape(&shorten(&task.tool)),
            y + 54,
            escape(&shorten(&state)),
            tx = x + 12,
        );
    }
    out.push_str("</svg>\n");
    out
}

/// A duration for people.
pub fn show_duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{} min {} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

fn shorten(text: &str) -> String {
    if text.chars().count() <= MAX_CHARS {
        return text.to_owned();
    }
    let start: String = text.chars().take(MAX_CHARS - 1).collect();
    format!("{start}…")
}

/// Text that is only text in XML: characters that XML does not allow become U+FFFD.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
                out.push('\u{fffd}')
            }
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests;
