//! Renders a form.

use maud::{Markup, html};
use serde_json::Value;

use super::{Draft, Faults, Field, Form, Kind, below};
use crate::words::{inert, message, short};

/// The position and label of a field.
struct Shown<'a> {
    pointer: &'a str,
    label: &'a str,
    required: bool,
}

impl Form<'_> {
    /// The fields, filled with the typed texts.
    pub(crate) fn show(&self, draft: &Draft, faults: &Faults) -> Markup {
        if let Some(text) = draft.raw_text() {
            return html! {
                div.field {
                    label for="raw" { "Input as JSON" }
                    textarea.code #raw name="raw" rows="12" spellcheck="false"
                        aria-invalid=[(!faults.at("").is_empty()).then_some("true")] { (typed(text)) }
                    (fault_text(faults, ""))
                }
            };
        }
        let top = self.top();
        match top.kind {
            Kind::Object(properties) if properties.is_empty() => {
                html! { p.soft { "This tool takes no input." } }
            }
            Kind::Object(_) => html! {
                (fault_text(faults, ""))
                @for (name, child, required) in self.properties(&top) {
                    (self.field_markup(child, &Shown { pointer: &below("", name), label: name, required }, draft, faults))
                }
            },
            _ => self.field_markup(
                top,
                &Shown { pointer: "", label: "Input", required: true },
                draft,
                faults,
            ),
        }
    }

    fn field_markup(
        &self,
        field: Field<'_>,
        shown: &Shown<'_>,
        draft: &Draft,
        faults: &Faults,
    ) -> Markup {
        match field.kind {
            Kind::Object(_) => html! {
                fieldset {
                    legend { (label(field, shown)) }
                    (hint(field, shown))
                    (fault_text(faults, shown.pointer))
                    @for (name, child, required) in self.properties(&field) {
                        (self.field_markup(child, &Shown { pointer: &below(shown.pointer, name), label: name, required }, draft, faults))
                    }
                }
            },
            Kind::List(items) => {
                self.list(field, self.field(items, field.depth + 1), shown, draft, faults)
            }
            _ => html! {
                div.field {
                    label for=(id(shown.pointer)) { (label(field, shown)) }
                    (input(field, shown, draft.text(shown.pointer), faults))
                    (hint(field, shown))
                    (fault_text(faults, shown.pointer))
                }
            },
        }
    }

    fn list(
        &self,
        field: Field<'_>,
        item: Field<'_>,
        shown: &Shown<'_>,
        draft: &Draft,
        faults: &Faults,
    ) -> Markup {
        let length = draft.length(shown.pointer);
        html! {
            fieldset.list {
                legend { (label(field, shown)) }
                (hint(field, shown))
                (fault_text(faults, shown.pointer))
                input type="hidden" name=(format!("n{}", shown.pointer)) value=(length);
                @for index in 0..length {
                    @let pointer = below(shown.pointer, &index.to_string());
                    @let name = format!("{} {}", shown.label, index + 1);
                    div.item {
                        (self.field_markup(item, &Shown { pointer: &pointer, label: &name, required: false }, draft, faults))
                        button.link type="submit" name="do" value=(format!("remove:{pointer}")) formnovalidate data-soft
                            aria-label=(format!("Remove {}", inert(&name))) { "Remove" }
                    }
                }
                button type="submit" name="do" value=(format!("add:{}", shown.pointer)) formnovalidate data-soft {
                    "Add " (short(shown.label, 40))
                }
            }
        }
    }
}

fn label(field: Field<'_>, shown: &Shown<'_>) -> Markup {
    let title = field.annotation("title").and_then(Value::as_str);
    html! {
        (short(shown.label, 80))
        @if let Some(title) = title.filter(|title| !title.eq_ignore_ascii_case(shown.label)) {
            span.soft { " " (short(title, 80)) }
        }
        @if shown.required { span.required { " required" } }
    }
}

fn hint(field: Field<'_>, shown: &Shown<'_>) -> Markup {
    let description = field.annotation("description").and_then(Value::as_str);
    html! {
        @if let Some(description) = description {
            p.hint id=(format!("h{}", id(shown.pointer))) { (message(&short(description, 400))) }
        }
    }
}

fn fault_text(faults: &Faults, pointer: &str) -> Markup {
    let faults = faults.at(pointer);
    html! { @if !faults.is_empty() { p.fault id=(format!("e{}", id(pointer))) { (faults.join("; ")) } } }
}

fn input(field: Field<'_>, shown: &Shown<'_>, text: &str, faults: &Faults) -> Markup {
    let (name, id) = (format!("v{}", shown.pointer), id(shown.pointer));
    let invalid = (!faults.at(shown.pointer).is_empty()).then_some("true");
    let described = if invalid.is_some() { format!("e{id}") } else { format!("h{id}") };
    let number =
        |key: &str| field.schema.get(key).and_then(Value::as_number).map(ToString::to_string);
    let example = field.schema.get("examples").and_then(|examples| examples.get(0));
    let example = example.map(|example| short(&plain(example), 80));
    match field.kind {
        Kind::Flag => html! {
            select id=(id) name=(name) aria-invalid=[invalid] aria-describedby=(described) {
                option value="" { "not set" }
                option value="true" selected[text == "true"] { "true" }
                option value="false" selected[text == "false"] { "false" }
            }
        },
        Kind::Choice(choices) => html! {
            select id=(id) name=(name) aria-invalid=[invalid] aria-describedby=(described) {
                option value="" { "not set" }
                @for (index, (value, about)) in choices.listed().enumerate() {
                    option value=(index) selected[text == index.to_string()] {
                        (short(&plain(value), 120)) @if let Some(about) = about { ": " (short(about, 80)) }
                    }
                }
            }
        },
        Kind::Number { whole } => html! {
            input id=(id) name=(name) type="number" step=(if whole { "1" } else { "any" }) value=(text)
                min=[number("minimum")] max=[number("maximum")] placeholder=[example]
                aria-invalid=[invalid] aria-describedby=(described);
        },
        Kind::Text if is_secret(field) => html! {
            input id=(id) name=(name) type="password" value=(text) autocomplete="off"
                aria-invalid=[invalid] aria-describedby=(described);
        },
        Kind::Text => html! {
            textarea.grow id=(id) name=(name) rows="1" placeholder=[example] spellcheck="false"
                aria-invalid=[invalid] aria-describedby=(described) { (typed(text)) }
        },
        Kind::Json | Kind::Object(_) | Kind::List(_) => html! {
            textarea.code.grow id=(id) name=(name) rows="4" spellcheck="false" placeholder="JSON"
                aria-invalid=[invalid] aria-describedby=(described) { (typed(text)) }
        },
    }
}

fn is_secret(field: Field<'_>) -> bool {
    field.schema.get("format").and_then(Value::as_str) == Some("password")
}

/// Keeps a leading newline, which HTML would drop from a text area.
fn typed(text: &str) -> String {
    if text.starts_with('\n') { format!("\n{text}") } else { text.to_owned() }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn id(pointer: &str) -> String {
    format!("f{pointer}")
}
