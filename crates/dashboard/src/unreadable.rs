//! What pages show in place of data that could not be read.

use std::fmt::Display;

use approvals::DamagedRow;
use axum::response::Response;
use http::StatusCode;
use maud::{Markup, html};
use operations::calls::DamagedCall;

use crate::layout::error_page;
use crate::viewer::Viewer;
use crate::words::inert;

/// The rows of a list that are damaged. The name is a singular, such as `approval`.
pub(super) fn damaged_rows(what: &str, rows: &[DamagedRow]) -> Markup {
    html! {
        @for row in rows {
            p.fault { "The stored " (what) " " code { (inert(&row.id)) } " is damaged: its " (row.column) " cannot be read." }
        }
    }
}

/// The rows of the audit trail that are damaged.
pub(super) fn damaged_calls(rows: &[DamagedCall]) -> Markup {
    html! {
        @for row in rows {
            p.fault {
                "The audit row " (row.number)
                @if let Some(trace) = &row.trace_id { " of the trace " code { (trace.to_string()) } }
                " is damaged: its " (row.column) " cannot be read."
            }
        }
    }
}

/// Data that could not be read. An empty list in its place would be taken for the truth.
#[derive(Debug)]
pub(super) struct Unreadable(&'static str);

impl Unreadable {
    /// Logs the cause. The name begins a sentence and is a plural, such as `The pending approvals`.
    pub(super) fn log(what: &'static str, cause: &dyn Display) -> Self {
        tracing::warn!(%cause, "{what} could not be read");
        Self(what)
    }

    fn text(&self) -> String {
        let what = self.0;
        format!(
            "{what} could not be read. Reload the page; if this does not help, the gateway's log has the cause."
        )
    }

    /// In place of the data.
    pub(super) fn show(&self) -> Markup {
        html! { p.fault role="alert" { (self.text()) } }
    }

    /// In place of the page.
    pub(super) fn page(&self, viewer: &Viewer) -> Response {
        error_page(viewer, StatusCode::SERVICE_UNAVAILABLE, "Not available", &self.text())
    }
}
