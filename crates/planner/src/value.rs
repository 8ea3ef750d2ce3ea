//! Turns what a request says into the JSON value that a field takes.

use language::dates::{DateForm, clock};
use language::words::{fold, is_stop_word, related_stems, stem, words};
use serde_json::{Number, Value};

use crate::mention::{Mention, Written};
use crate::number::{Quantity, Unit};
use crate::steps::Step;
use crate::tool::{Field, Glob, Kind, Sense};
use crate::zones::zone_of;

/// Words of flags that say nothing about what they are for.
const FLAG_WORDS: [&str; 14] = [
    "has", "have", "is", "include", "allowed", "allow", "offers", "offer", "serves", "with",
    "enable", "enabled", "should", "service",
];

/// The value of a field that a mention gives; `date` is the date that belongs to a time.
pub(crate) fn of_mention(field: &Field, mention: &Mention, date: Option<&Mention>) -> Value {
    if let Some(option) = option_of(field, mention) {
        return option;
    }
    let kind = if field.kind == Kind::List { field.item.unwrap_or(Kind::Any) } else { field.kind };
    match &mention.value {
        Written::Number(quantity) => number(field, kind, quantity, mention),
        Written::Phone if matches!(kind, Kind::Integer | Kind::Number) => mention
            .text
            .parse::<i64>()
            .map_or_else(|_| Value::from(mention.text.clone()), Value::from),
        Written::Date(written) => Value::from(if field.wants_iso {
            DateForm::Iso.write(written.date)
        } else {
            written.text()
        }),
        Written::Moment(written, time) => {
            let day =
                if field.wants_iso { DateForm::Iso.write(written.date) } else { written.text() };
            Value::from(match field.sense {
                Sense::Date if !field.has_time => day,
                Sense::Time if !field.has_time => time_text(field, time),
                _ => mention.text.clone(),
            })
        }
        Written::Time => {
            let time = time_text(field, &mention.text);
            match date.filter(|_| field.has_time).map(|date| &date.value) {
                Some(Written::Date(day)) => {
                    let clock = clock(&mention.text).unwrap_or(time);
                    Value::from(format!("{} {clock}", DateForm::Iso.write(day.date)))
                }
                _ => Value::from(time),
            }
        }
        Written::FileType(extension) => Value::from(match field.glob {
            Glob::Deep => format!("**/*.{extension}"),
            Glob::Flat => format!("*.{extension}"),
            Glob::None if field.is_named(&["suffix"]) => format!(".{extension}"),
            Glob::None => extension.clone(),
        }),
        Written::List(items) => {
            Value::Array(items.iter().map(|item| list_item(kind, item)).collect())
        }
        Written::Name | Written::Text if field.wants_zone => {
            Value::from(zone_of(&mention.text).unwrap_or(&mention.text))
        }
        _ => Value::from(mention.text.clone()),
    }
}

fn time_text(field: &Field, time: &str) -> String {
    let plain = field.wants_clock.then(|| clock(time)).flatten();
    plain.unwrap_or_else(|| time.to_owned())
}

fn list_item(kind: Kind, item: &str) -> Value {
    let is_text = kind == Kind::Text;
    // may fail: an item that is no number stays text.
    let number = (!is_text).then(|| serde_json::from_str::<Number>(item).ok()).flatten();
    number.map_or_else(|| Value::from(item), Value::Number)
}

fn number(field: &Field, kind: Kind, quantity: &Quantity, mention: &Mention) -> Value {
    if matches!(kind, Kind::Text) || kind == Kind::Any && mention.quoted {
        return Value::from(if mention.quoted {
            mention.text.clone()
        } else {
            quantity.text.clone()
        });
    }
    let fraction = field.wants_fraction && quantity.unit == Unit::Percent;
    if fraction {
        let share = quantity.value / 100.0;
        // Eight percent is 0.08, not 0.08000000000000000166.
        return Value::from((share * 1e9).round() / 1e9);
    }
    match quantity.text.parse::<i64>() {
        Ok(whole) => Value::from(whole),
        Err(_) => Value::from(quantity.value),
    }
}

fn option_of(field: &Field, mention: &Mention) -> Option<Value> {
    if field.options.is_empty() {
        return None;
    }
    let number = match &mention.value {
        Written::Number(quantity) => option_named(field, &quantity.text),
        _ => None,
    };
    number.or_else(|| option_named(field, &mention.text))
}

/// The option that has this name.
pub(crate) fn option_named(field: &Field, text: &str) -> Option<Value> {
    let expected = fold(text.trim());
    let named = |option: &&Value| match option {
        Value::String(option) => fold(option) == expected,
        option => option.to_string() == expected,
    };
    field.options.iter().find(named).cloned()
}

/// The option that the words of a step name, and whether they name it itself and not only something related.
pub(crate) fn option_in_words(field: &Field, step: &Step) -> Option<(Value, bool)> {
    let mut best: Option<(usize, usize)> = None;
    for (option, parts) in &field.option_stems {
        let all = parts.iter().all(|part| step.says(part));
        if all && best.is_none_or(|(_, count)| parts.len() > count) {
            best = Some((*option, parts.len()));
        }
    }
    if let Some((option, _)) = best {
        return Some((field.options[option].clone(), true));
    }
    let is_related = |part: &str| step.stems.iter().any(|word| related_stems(part).contains(word));
    let mut near = field.option_stems.iter().filter(|(_, parts)| parts.iter().all(is_related));
    let (option, _) = near.next()?;
    // Two related options would be a guess.
    near.next().is_none().then(|| (field.options[*option].clone(), false))
}

/// Whether a step has the words of an option themselves: `personal data` chooses no `PERSON`.
pub(crate) fn is_said(option: &Value, step: &Step) -> bool {
    let said = words(&step.query);
    option.as_str().is_some_and(|option| words(option).iter().all(|word| said.contains(word)))
}

/// The stems of a flag's name that say what it is for.
fn flag_stems(field: &Field) -> Vec<&str> {
    let parts = field.name_words.iter().zip(field.name_stems.iter());
    parts
        .filter(|(word, _)| !FLAG_WORDS.contains(word) && !is_stop_word(word))
        .map(|(_, stem)| stem)
        .collect()
}

/// The value of a flag for something that the request forbids.
pub(crate) fn flag_off(field: &Field, forbidden: &Step) -> Option<Value> {
    let parts = flag_stems(field);
    if parts.is_empty() || !parts.iter().all(|part| forbidden.says(part)) {
        return None;
    }
    if field.kind == Kind::Boolean {
        Some(Value::Bool(false))
    } else {
        option_named(field, "false")
    }
}

/// The value of a flag that the words of a step set.
pub(crate) fn flag(field: &Field, text: &str, step: &Step) -> Option<Value> {
    let parts = flag_stems(field);
    if parts.is_empty() || !parts.iter().all(|part| step.says(part)) {
        return None;
    }
    let negated = is_negated(text, parts.first()?);
    if field.kind == Kind::Boolean {
        return Some(Value::Bool(!negated));
    }
    option_named(field, if negated { "false" } else { "true" })
}

/// Whether `no`, `not` or `without` comes before a word.
fn is_negated(text: &str, expected: &str) -> bool {
    let words = words(text);
    let Some(place) = words.iter().position(|word| stem(word) == *expected) else { return false };
    let from = place.saturating_sub(3);
    words[from..place].iter().any(|word| {
        matches!(word.as_str(), "no" | "not" | "without" | "exclude" | "excluding" | "don")
    })
}
