//! Differences between two JSON documents.

use maud::{Markup, html};
use proto::diff::Change;

/// The changed parts, before and after.
pub(super) fn changed_parts(changes: &[Change], left_out: usize) -> Markup {
    html! {
        div.diff {
            @for change in changes {
                div.change {
                    p.at { code { (change.at) } }
                    @if let Some(before) = &change.before { pre.before { (before) } }
                    @if let Some(after) = &change.after { pre.after { (after) } }
                }
            }
        }
        @if left_out > 0 { p.soft { (left_out) " more changes." } }
    }
}
