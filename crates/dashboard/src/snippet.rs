//! Texts that people copy. The button is shown only where scripts run.

use maud::{Markup, html};

use crate::words::inert;

/// A text with a button that copies it; `what` completes "Copy …" for screen readers.
pub(super) fn snippet(id: &str, text: &str, what: &str) -> Markup {
    html! {
        div.snippet {
            pre.code #(id) tabindex="0" { (inert(text)) }
            (copy_button(id, what))
        }
    }
}

/// A button that copies the text of an element.
pub(super) fn copy_button(id: &str, what: &str) -> Markup {
    html! {
        button.copy type="button" data-copy=(id) aria-label=(format!("Copy {what}")) { "Copy" }
    }
}
