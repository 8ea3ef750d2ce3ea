use maud::{Markup, html};
use serde_json::Value;

use super::{Draft, Faults, Field, Form, Kind, below};
use crate::words::{inert, short};

/// One place as it is shown.
struct Place<'a> {
    pointer: &'a str,
    label: &'a str,
    required: bool,
}

impl Form<'_> {
    /// The fields, filled with what was typed.
    pub(crate) fn show(&self, draft: &Draft, faults: &Faults) -> Markup {
        if let Some(text) = draft.raw_text() {
            return html! {
                div.field {
                    label for="raw" { "Input as JSON" }
                    textarea.code #raw name="raw" rows="12" spellcheck="false"
                        aria-invalid=[(!faults.at("").is_empty()).then_some("true")] { (typed(text)) }
                    (told(faults, ""))
                }
            };
        }
        let top = self.top();
        match top.kind {
            Kind::Object(properties) if properties.is_empty() => {
                html! { p.soft { "It takes no input." } }
            }
            Kind::Object(_) => html! {
                (told(faults, ""))
                @for (name, child, required) in self.properties(&top) {
                    (self.place(child, &Place { pointer: &below("", name), label: name, required }, draft, faults))
                }
            },
            _ => self.place(
                top,
                &Place { pointer: "", label: "Input", required: true },
                draft,
                faults,
            ),
        }
    }

    fn place(&self, field: Field<'_>, place: &Place<'_>, draft: &Draft, faults: &Faults) -> Markup {
        match field.kind {
            Kind::Object(_) => html! {
                fieldset {
                    legend { (label(field, place)) }
                    (hint(field, place))
                    (told(faults, place.pointer))
                    @for (name, child, required) in self.properties(&field) {
                        (self.place(child, &Place { pointer: &below(place.pointer, name), label: name, required }, draft, faults))
                    }
                }
            },
            Kind::List(items) => {
                self.list(field, self.field(items, field.depth + 1), place, draft, faults)
            }
            _ => html! {
                div.field {
                    label for=(id(place.pointer)) { (label(field, place)) }
                    (input(field, place, draft.text(place.pointer), faults))
                    (hint(field, place))
                    (told(faults, place.pointer))
                }
            },
        }
    }

    fn list(
        &self,
        field: Field<'_>,
        item: Field<'_>,
        place: &Place<'_>,
        draft: &Draft,
        faults: &Faults,
    ) -> Markup {
        let length = draft.length(place.pointer);
        html! {
            fieldset.list {
                legend { (label(field, place)) }
                (hint(field, place))
                (told(faults, place.pointer))
                input type="hidden" name=(format!("n{}", place.pointer)) value=(length);
                @for index in 0..length {
                    @let pointer = below(place.pointer, &index.to_string());
                    @let name = format!("{} {}", place.label, index + 1);
                    div.item {
                        (self.place(item, &Place { pointer: &pointer, label: &name, required: false }, draft, faults))
                        button.link type="submit" name="do" value=(format!("remove:{pointer}")) formnovalidate data-soft
                            aria-label=(format!("Remove {}", inert(&name))) { "Remove" }
                    }
                }
                button type="submit" name="do" value=(format!("add:{}", place.pointer)) formnovalidate data-soft {
                    "Add " (short(place.label, 40))
                }
            }
        }
    }
}

fn label(field: Field<'_>, place: &Place<'_>) -> Markup {
    let title = field.schema.get("title").and_then(Value::as_str);
    html! {
        (short(place.label, 80))
        @if let Some(title) = title.filter(|title| !title.eq_ignore_ascii_case(place.label)) {
            span.soft { " " (short(title, 80)) }
        }
        @if place.required { span.required { " required" } }
    }
}

fn hint(field: Field<'_>, place: &Place<'_>) -> Markup {
    let description = field.schema.get("description").and_then(Value::as_str);
    html! {
        @if let Some(description) = description {
            p.hint id=(format!("h{}", id(place.pointer))) { (short(description, 400)) }
        }
    }
}

fn told(faults: &Faults, pointer: &str) -> Markup {
    let told = faults.at(pointer);
    html! { @if !told.is_empty() { p.fault id=(format!("e{}", id(pointer))) { (told.join("; ")) } } }
}

fn input(field: Field<'_>, place: &Place<'_>, text: &str, faults: &Faults) -> Markup {
    let (name, id) = (format!("v{}", place.pointer), id(place.pointer));
    let invalid = (!faults.at(place.pointer).is_empty()).then_some("true");
    let described = if invalid.is_some() { format!("e{id}") } else { format!("h{id}") };
    let number =
        |key: &str| field.schema.get(key).and_then(Value::as_number).map(ToString::to_string);
    let example = field.schema.get("examples").and_then(|examples| examples.get(0));
    let example = example.map(|example| short(&plain(example), 80));
    match field.kind {
        Kind::Flag => html! {
            select id=(id) name=(name) aria-invalid=[invalid] aria-describedby=(described) {
                option value="" { "not given" }
                option value="true" selected[text == "true"] { "true" }
                option value="false" selected[text == "false"] { "false" }
            }
        },
        Kind::Choice(values) => html! {
            select id=(id) name=(name) aria-invalid=[invalid] aria-describedby=(described) {
                option value="" { "not given" }
                @for (index, value) in values.iter().enumerate() {
                    option value=(index) selected[text == index.to_string()] { (short(&plain(value), 120)) }
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

/// HTML drops a newline that begins a text area.
fn typed(text: &str) -> String {
    if text.starts_with('\n') { format!("\n{text}") } else { text.to_owned() }
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn id(pointer: &str) -> String {
    format!("f{pointer}")
}
