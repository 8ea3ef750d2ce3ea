//! Whether the values that a request gives are found in the arguments of a plan.

use dag::Proposal;
use jiff::civil::Date;
use language::dates::{DateForm, clock, days_in};
use serde_json::Value;

use crate::mention::{MAX_MENTIONS, Mention, Written, is_word_char, mentions};
use crate::number::Unit;
use crate::steps::{masked, prohibited};

/// The highest confidence of a plan that leaves out a value of the request.
pub(crate) const UNSURE: f64 = 0.49;

/// The longest part of a request that a sentence quotes, in characters.
const MAX_QUOTED: usize = 200;

/// Whether a value is one that its writer expects in an argument.
pub(crate) fn is_explicit(mention: &Mention) -> bool {
    match mention.value {
        Written::Text | Written::Name => mention.quoted,
        Written::FileType(_) => false,
        _ => true,
    }
}

/// Whether a value is, or is part of, a value that the request gives.
pub(crate) fn is_in(value: &Value, mention: &Mention) -> bool {
    match value {
        Value::String(text) => in_text(text, mention),
        Value::Number(number) => is_number(number.as_f64(), mention),
        Value::Array(items) => {
            has_all(items, mention) || items.iter().any(|item| is_in(item, mention))
        }
        Value::Object(fields) => fields.values().any(|field| is_in(field, mention)),
        Value::Null | Value::Bool(_) => false,
    }
}

fn is_number(number: Option<f64>, mention: &Mention) -> bool {
    let Some(number) = number else { return false };
    let equals = |value: f64| (number - value).abs() <= 1e-9 * value.abs().max(1.0);
    match &mention.value {
        Written::Number(quantity) => {
            equals(quantity.value)
                || quantity.unit == Unit::Percent && equals(quantity.value / 100.0)
        }
        Written::Phone => mention.text.parse().is_ok_and(equals),
        _ => false,
    }
}

/// Whether a list has all items of a list that the request gives.
fn has_all(items: &[Value], mention: &Mention) -> bool {
    let Written::List(given) = &mention.value else { return false };
    let is_item = |item: &Value, given: &str| match item {
        Value::String(text) => text == given,
        other => {
            let written = other.to_string();
            written == given
        }
    };
    given.iter().all(|given| items.iter().any(|item| is_item(item, given)))
}

fn in_text(text: &str, mention: &Mention) -> bool {
    let own = mention.text.trim();
    if own.is_empty() {
        return text.trim().is_empty();
    }
    let date = |written: &language::dates::WrittenDate| {
        // A time may follow: `2024-05-01T00:00:00Z`.
        contains(text, &written.text()) || text.contains(&DateForm::Iso.write(written.date))
    };
    let time = |time: &str| clock(time).is_some_and(|clock| contains(text, &clock));
    contains(text, own)
        || match &mention.value {
            Written::Number(quantity) => contains(text, &quantity.text),
            Written::Date(written) => date(written),
            Written::Moment(written, of_day) => date(written) && time(of_day),
            Written::Time => time(&mention.text),
            _ => false,
        }
}

/// Whether a text contains another one that no letter or digit continues: there is no `5` in `15`.
fn contains(text: &str, part: &str) -> bool {
    let ends = |c: Option<char>| !c.is_some_and(|c| is_word_char(c) || c == '_');
    let starts_word = part.starts_with(is_word_char);
    let ends_word = part.ends_with(is_word_char);
    text.match_indices(part).any(|(at, found)| {
        let (before, after) = (&text[..at], &text[at + found.len()..]);
        (!starts_word || ends(before.chars().next_back()))
            && (!ends_word || ends(after.chars().next()))
    })
}

/// Whether a number only says how many values follow: `the two files a.txt and b.txt`.
pub(crate) fn items_after(mentions: &[Mention], place: usize) -> bool {
    let Written::Number(quantity) = &mentions[place].value else { return false };
    let is_item = |mention: &&Mention| !matches!(mention.value, Written::FileType(_));
    let Some(next) = mentions[place + 1..].iter().find(is_item) else { return false };
    let is_unit = !matches!(quantity.unit, Unit::Percent | Unit::Currency);
    let count = mentions.iter().filter(|mention| mention.group == next.group).count();
    is_unit && count > 1 && quantity.is_whole && quantity.value == count as f64
}

/// Writes the sentence about a value that no task uses.
pub(crate) fn describe_unused(value: &str) -> String {
    format!("No task of the plan uses \"{}\".", shorten(value))
}

/// Cuts a part of the request to the length that a sentence may quote.
pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Names the values of an intent that a model's plan does not use, and makes the plan wait for its caller.
pub(crate) fn check(proposal: &mut Proposal, intent: &str, today: Date) {
    let all = mentions(intent, today);
    let given = mentions(&masked(intent, &prohibited(intent, &all)), today);
    let has_date = given.iter().any(|mention| matches!(mention.value, Written::Date(_)));
    // A duration can be part of a date that is computed.
    let is_duration = |mention: &Mention| {
        matches!(&mention.value, Written::Number(quantity)
            if matches!(&quantity.unit, Unit::Word(unit) if days_in(unit).is_some()))
    };
    let names_tool = |text: &str| {
        let mut tools = proposal.tasks.iter().filter_map(|task| task.tool.as_deref());
        tools.any(|tool| tool == text)
    };
    let is_found = |mention: &Mention| {
        proposal.tasks.iter().any(|task| {
            task.arguments.values().chain(&task.for_each).any(|value| is_in(value, mention))
        })
    };
    let counted: Vec<usize> =
        (0..given.len()).filter(|&place| is_explicit(&given[place])).collect();
    let mut unused: Vec<&str> = Vec::new();
    for &place in &counted {
        let mention = &given[place];
        let text = mention.text.as_str();
        let is_used = unused.contains(&text)
            || is_found(mention)
            || has_date && is_duration(mention)
            || items_after(&given, place)
            || names_tool(text);
        if !is_used {
            unused.push(text);
        }
    }
    if given.len() >= MAX_MENTIONS {
        proposal.confidence = proposal.confidence.min(UNSURE);
        let message =
            format!("Only the first {MAX_MENTIONS} values of the intent were looked for.");
        proposal.reasons.push(message);
    }
    if !unused.is_empty() {
        let share = unused.len() as f64 / counted.len() as f64;
        let confidence = proposal.confidence.min(UNSURE) * (1.0 - 0.5 * share);
        proposal.confidence = (confidence * 100.0).round() / 100.0;
        proposal.reasons.extend(unused.into_iter().map(describe_unused));
    }
}

#[cfg(test)]
mod tests {
    use dag::{Proposal, Task};
    use jiff::civil::date;
    use serde_json::{Value, json};

    use super::{check, is_in};
    use crate::mention::mentions;

    fn first(text: &str) -> crate::mention::Mention {
        mentions(text, date(2024, 1, 1)).remove(0)
    }

    #[test]
    fn a_value_is_found_in_the_forms_in_which_arguments_write_it() {
        for (given, argument, expected) in [
            ("'a b'", json!({"x": ["say a b now"]}), true),
            ("5", json!("15"), false),
            ("5", json!(5), true),
            ("5", json!(5.5), false),
            ("$1,000", json!(1000), true),
            ("8%", json!(0.08), true),
            ("10/05/2023", json!("2023-10-05T00:00:00Z"), true),
            ("2:30 pm", json!("14:30"), true),
            ("a.txt", json!("/data/a.txt"), true),
            ("a.txt", json!("/data/aa.txt"), false),
            ("[1, b]", json!(["b", 1, 2]), true),
            ("[1, c]", json!(["b", 1, 2]), false),
            ("ann@example.com", json!("joann@example.com"), false),
            ("''", json!("x"), false),
            ("''", json!(""), true),
        ] {
            assert_eq!(is_in(&argument, &first(given)), expected, "{given} in {argument}");
        }
    }

    #[test]
    fn omitted_values_of_a_model_are_named_and_make_its_plan_wait() {
        let plan = |intent: &str, arguments: Value| {
            let task = Task {
                id: "t".to_owned(),
                tool: Some("mail:send".to_owned()),
                arguments: arguments.as_object().cloned().unwrap_or_default(),
                ..Task::default()
            };
            let mut plan = Proposal { tasks: vec![task], confidence: 0.9, ..Proposal::default() };
            check(&mut plan, intent, date(2024, 1, 1));
            (plan.confidence, plan.reasons)
        };
        let intent = "Send 'Hi' to ann@example.com in 3 days from 2024-05-01, but not 'Bye'";
        let all = json!({"to": "ann@example.com", "text": "Hi", "on": "2024-05-04", "from": "2024-05-01"});
        assert_eq!(plan(intent, all), (0.9, vec![]));
        let (confidence, reasons) = plan(intent, json!({"text": "Hi", "from": "2024-05-01"}));
        assert_eq!(reasons, ["No task of the plan uses \"ann@example.com\"."]);
        assert!(confidence < 0.49, "{confidence}");
    }
}
