//! A button that asks before it acts, without a script: it opens the question and the button that acts.

use maud::{Markup, html};

use crate::layout::csrf;
use crate::viewer::Viewer;

/// A change that a person confirms.
pub(super) struct ConfirmForm<'a> {
    /// The text of the button, such as `Disable`.
    pub(super) label: &'a str,
    /// The question, with the effect of the button.
    pub(super) question: &'a str,
    /// Where the form is sent.
    pub(super) action: &'a str,
    /// The fields of the form.
    pub(super) fields: &'a [(&'a str, &'a str)],
}

impl ConfirmForm<'_> {
    pub(super) fn show(&self, viewer: &Viewer) -> Markup {
        html! {
            details.confirm {
                summary.button.danger { (self.label) "…" }
                form method="post" action=(self.action) {
                    (csrf(viewer))
                    @for (name, value) in self.fields { input type="hidden" name=(name) value=(value); }
                    p { (self.question) }
                    button.danger type="submit" { (self.label) }
                }
            }
        }
    }
}
