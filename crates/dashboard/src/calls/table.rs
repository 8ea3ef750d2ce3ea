//! A table of calls.

use std::borrow::Cow;

use auth::scope;
use maud::{Markup, html};
use operations::calls::CallSummary;

use crate::viewer::Viewer;
use crate::words::{inert, outcome, short};
use crate::{time, words};

/// How much of each call is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Tool, outcome, duration and time.
    Plain,
    /// Also caller and door, where the screen is wide.
    Whole,
}

/// A table of calls; narrow screens show fewer columns.
pub(crate) fn table(calls: &[CallSummary], viewer: &Viewer, shown: Shown) -> Markup {
    let whole = shown == Shown::Whole;
    html! {
        div.table {
            table {
                thead { tr {
                    th scope="col" { "Tool" }
                    th scope="col" { "Outcome" }
                    @if whole {
                        th.wide scope="col" { "Caller" }
                        th.wide scope="col" { "Door" }
                    }
                    th.number scope="col" { "Took" }
                    th.number scope="col" { "When" }
                } }
                tbody {
                    @for call in calls {
                        tr {
                            td {
                                a href=(format!("/dashboard/calls/{}", call.trace_id)) { code { (short(&call.tool, 60)) } }
                                @if let Some(message) = message(call, viewer) { div.note { (words::message(&short(&message, 120))) } }
                            }
                            td { (outcome(&call.outcome())) }
                            @if whole {
                                td.wide { (caller(call, viewer)) }
                                td.wide { (inert(&call.door)) }
                            }
                            td.number { (time::span(call.duration_us)) }
                            td.number { (time::ago(call.at_unix_ms, viewer.now_ms)) }
                        }
                    }
                }
            }
        }
    }
}

/// The message of a failed call, for viewers who may read the audit trail's content.
pub(super) fn message<'a>(call: &'a CallSummary, viewer: &Viewer) -> Option<Cow<'a, str>> {
    call.shown_message().filter(|_| viewer.may(scope::AUDIT_READ))
}

/// The caller by agent and subject, with the tenant if it differs from the viewer's.
pub(super) fn caller(call: &CallSummary, viewer: &Viewer) -> Markup {
    let foreign = viewer.principal().tenant.as_str() != call.tenant;
    html! {
        @if let Some(agent) = &call.agent { (short(agent, 40)) " for " }
        (short(&call.subject, 40))
        @if foreign { span.soft { " · " (short(&call.tenant, 40)) } }
    }
}
