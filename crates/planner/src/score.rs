//! How well a value, or an earlier output, fits a field.

use language::words::is_stop_word;

use crate::mention::{Mention, Word, Written};
use crate::number::Unit;
use crate::steps::Step;
use crate::tool::{Field, Kind, Sense, ToolSpec};

/// A value with this score was named for the field.
pub(crate) const STRONG: f32 = 2.0;

/// Determiners between a preposition and a value.
const SKIPPED: [&str; 8] = ["the", "a", "an", "my", "your", "of", "is", "as"];

/// Prepositions and the names of the fields that they introduce.
const ROLES: [(&[&str], &[&str]); 9] = [
    (
        &["from"],
        &[
            "from",
            "source",
            "origin",
            "start",
            "begin",
            "departure",
            "depart",
            "pickup",
            "sender",
            "in",
        ],
    ),
    (
        &["to", "into", "until", "till"],
        &[
            "to",
            "target",
            "destination",
            "end",
            "dropoff",
            "return",
            "recipient",
            "arrival",
            "out",
            "receiver",
            "second",
        ],
    ),
    (&["by"], &["artist", "author", "by", "director", "creator"]),
    (&["named", "called", "titled", "entitled"], &["name", "title"]),
    (&["for"], &["duration", "for", "keyword", "keywords", "query"]),
    (&["returning", "returns", "return", "ending", "ends"], &["return", "end", "dropoff", "out"]),
    (
        &["starting", "departing", "departs", "starts", "beginning"],
        &["start", "departure", "in", "pickup", "begin", "origin"],
    ),
    (&["using", "via", "with"], &["mode", "method", "key", "engine", "device"]),
    (&["about"], &["topic", "subject", "query", "about"]),
];

/// Units that count people, and the fields that they are for.
const PEOPLE: [&str; 13] = [
    "people",
    "person",
    "persons",
    "guests",
    "guest",
    "adults",
    "adult",
    "passengers",
    "passenger",
    "travelers",
    "kids",
    "children",
    "attendees",
];
const PEOPLE_FIELDS: [&str; 14] = [
    "party",
    "group",
    "people",
    "person",
    "persons",
    "adult",
    "adults",
    "guest",
    "guests",
    "passenger",
    "passengers",
    "size",
    "attendees",
    "travelers",
];
const DAYS: [&str; 4] = ["day", "days", "night", "nights"];

/// How well a value fits a field of a tool, `None` if it cannot be one.
pub(crate) fn of_mention(
    field: &Field,
    tool: &ToolSpec,
    mentions: &[Mention],
    place: usize,
) -> Option<f32> {
    let mention = &mentions[place];
    let fit = type_fit(field, mention)?;
    let role = role_score(field, mention, mentions, place);
    Some(
        fit + cue_score(field, tool, mention)
            + role
            + place_score(field, mention)
            + sense_score(field, mention),
    )
}

/// `on` before a date, `at` before a time, and counts of people and days.
fn sense_score(field: &Field, mention: &Mention) -> f32 {
    let word = introducing(mention);
    match &mention.value {
        Written::Date(_) if field.sense == Sense::Date && word == "on" => 1.0,
        Written::Time if field.sense == Sense::Time && word == "at" => 1.0,
        Written::Number(quantity) => match &quantity.unit {
            Unit::Word(unit)
                if PEOPLE.contains(&unit.as_str()) && field.is_named(&PEOPLE_FIELDS) =>
            {
                2.5
            }
            Unit::Word(unit) if DAYS.contains(&unit.as_str()) && field.is_named(&DAYS) => 2.5,
            _ => 0.0,
        },
        _ => 0.0,
    }
}

/// The preposition before a value.
fn introducing(mention: &Mention) -> &str {
    let mut before = mention.before.iter().map(|word| word.text.as_str());
    before.find(|word| !SKIPPED.contains(word)).unwrap_or_default()
}

/// Whether the value's type is one of the field's, and how well their senses agree.
fn type_fit(field: &Field, mention: &Mention) -> Option<f32> {
    let kind = if field.kind == Kind::List { field.item.unwrap_or(Kind::Any) } else { field.kind };
    let is_list = matches!(mention.value, Written::List(_));
    if is_list && field.kind != Kind::List && field.kind != Kind::Any {
        return None;
    }
    if matches!(kind, Kind::Boolean | Kind::Object) {
        return None;
    }
    let numeric = matches!(kind, Kind::Integer | Kind::Number);
    let fit = match &mention.value {
        Written::List(_) => 1.0,
        Written::Number(quantity) => {
            if kind == Kind::Integer && !quantity.is_whole {
                return None;
            }
            number_fit(field, &quantity.unit, numeric, mention.quoted)?
        }
        Written::Phone if field.sense == Sense::Phone => 4.0,
        Written::Phone if numeric => return mention.text.parse::<u64>().ok().map(|_| -0.5),
        _ if numeric => return None,
        Written::Phone => -1.5,
        Written::Date(_) | Written::Moment(..) => match field.sense {
            Sense::Date => 2.0,
            Sense::Time if field.has_time || matches!(mention.value, Written::Moment(..)) => 1.5,
            Sense::Time => return None,
            Sense::Other | Sense::Id if mention.quoted => -1.0,
            _ => -2.5,
        },
        Written::Time => match field.sense {
            Sense::Time => 2.0,
            Sense::Date if field.has_time => 0.5,
            _ if mention.quoted => -1.0,
            _ => return None,
        },
        Written::Email => match field.sense {
            Sense::Email => 4.0,
            Sense::Url | Sense::Path | Sense::Date | Sense::Time | Sense::Phone => return None,
            _ => -0.5,
        },
        Written::Url => match field.sense {
            Sense::Url => 4.0,
            Sense::Email | Sense::Date | Sense::Time | Sense::Phone => return None,
            _ => -0.5,
        },
        Written::Path => match field.sense {
            Sense::Path => 4.0,
            Sense::Email | Sense::Date | Sense::Time | Sense::Phone => return None,
            _ => -0.5,
        },
        Written::Text | Written::Name => match field.sense {
            Sense::Date | Sense::Time | Sense::Email | Sense::Url | Sense::Phone => {
                if mention.quoted { -1.5 } else { return None }
            }
            Sense::Path if !mention.quoted => -1.5,
            Sense::Id if !mention.quoted => -1.0,
            _ if mention.quoted => 0.6,
            _ => 0.3,
        },
    };
    if field.options.is_empty() { Some(fit) } else { option_fit(field, mention).then_some(fit) }
}

fn number_fit(field: &Field, unit: &Unit, numeric: bool, quoted: bool) -> Option<f32> {
    let sense = match (unit, field.sense) {
        (_, Sense::Date | Sense::Time | Sense::Email | Sense::Url | Sense::Path | Sense::Phone) => {
            return None;
        }
        (Unit::Percent, Sense::Percent) => 3.0,
        (Unit::Percent, _) => -1.5,
        (Unit::Currency, Sense::Money) => 1.5,
        (Unit::Currency, Sense::Percent | Sense::Duration) => -2.5,
        (Unit::Word(word), Sense::Duration) if is_duration(word) => 2.0,
        (Unit::Word(word), Sense::Money | Sense::Percent) if is_duration(word) => -2.5,
        (_, Sense::Place) => -2.0,
        _ => 0.0,
    };
    let kind = match (numeric, quoted, field.options.is_empty()) {
        (true, ..) => 0.6,
        // Numbers as text: options such as "1" and "2", and counts.
        (false, false, false) => 0.6,
        (false, true, _) => 0.3,
        (false, false, true) if field.is_named(&["number", "size", "count", "rate"]) => 0.4,
        (false, false, true) => -1.0,
    };
    Some(sense + kind)
}

pub(crate) fn is_duration(word: &str) -> bool {
    ["second", "minute", "hour", "day", "night", "week", "month", "year"]
        .iter()
        .any(|unit| word.strip_prefix(unit).is_some_and(|rest| rest.is_empty() || rest == "s"))
}

fn option_fit(field: &Field, mention: &Mention) -> bool {
    crate::value::option_named(field, &mention.text).is_some()
        || matches!(&mention.value, Written::Number(quantity)
            if crate::value::option_named(field, &quantity.text).is_some())
}

/// Words around a value that are words of the field. Words of the tool itself say little about one of its fields.
fn cue_score(field: &Field, tool: &ToolSpec, mention: &Mention) -> f32 {
    let of_tool = |stem: &String| tool.name_stems.contains(stem);
    let has_own = field.name_stems.iter().any(|stem| !of_tool(stem));
    let (mut score, mut named) = (0.0, 0);
    for (stem, word) in field.name_stems.iter().zip(&field.name_words) {
        // `from` and `to` are roles.
        if is_stop_word(word) || stem.len() < 3 {
            continue;
        }
        let near = near(stem, mention, 3.0, 2.2);
        if near > 0.0 {
            named += 1;
            score += if has_own && of_tool(stem) { 0.3 * near } else { near };
        }
    }
    if named > 0 && named == field.name_stems.len() {
        score += 1.5;
    } else if named > 0 {
        score *= 0.5 + 0.5 * named as f32 / field.name_stems.len() as f32;
    }
    let about: f32 = field
        .about_stems
        .iter()
        .map(|stem| near(stem, mention, 1.0, 1.4) * if of_tool(stem) { 0.3 } else { 1.0 })
        .sum();
    score + about.min(2.0)
}

/// How near a stem is to a value; less after it than before it.
fn near(stem: &str, mention: &Mention, before: f32, after: f32) -> f32 {
    let before =
        distance(stem, &mention.before, false).map_or(0.0, |far| before / (1.0 + 0.4 * far));
    let after = distance(stem, &mention.after, true).map_or(0.0, |far| after / (1.0 + 0.8 * far));
    before.max(after)
}

/// How many content words are between a value and this stem. What follows a function word belongs to the next value.
fn distance(stem: &str, words: &[Word], is_after: bool) -> Option<f32> {
    let mut distance = 0.0;
    for word in words {
        if word.stem == stem || related(stem, &word.stem) {
            return Some(distance);
        }
        if !is_stop_word(&word.text) && !matches!(word.text.as_str(), "using" | "via") {
            distance += 1.0;
        } else if is_after {
            return None;
        }
    }
    None
}

fn related(a: &str, b: &str) -> bool {
    // A shared long beginning: `birthdate` and `birth`.
    a.len() > 4 && b.len() > 4 && (a.starts_with(b) || b.starts_with(a))
}

/// `from A to B`, `by C`, `between A and B`.
fn role_score(field: &Field, mention: &Mention, all: &[Mention], place: usize) -> f32 {
    let mut word = introducing(mention);
    if word == "between" {
        word = "from";
    }
    if word == "and"
        && let Some(first) = place.checked_sub(1).map(|before| &all[before])
        && first.group == mention.group
        && introducing(first) == "between"
    {
        word = "to";
    }
    let mut score = 0.0;
    for (prepositions, names) in ROLES {
        if prepositions.contains(&word) && field.is_named(names) {
            score = 2.5;
        }
    }
    if matches!(word, "from" | "to") && score == 0.0 {
        let opposite = if word == "from" { ROLES[1].1 } else { ROLES[0].1 };
        if field.is_named(opposite) {
            score = -3.0;
        }
    }
    score
}

/// `in Boston` names a place, and hardly anything else.
fn place_score(field: &Field, mention: &Mention) -> f32 {
    if !matches!(mention.value, Written::Name | Written::Text) {
        return 0.0;
    }
    let word = introducing(mention);
    let is_place_word = matches!(word, "in" | "near" | "around" | "at" | "to" | "from" | "between");
    if field.sense == Sense::Place && is_place_word {
        return if word == "in" { 2.0 } else { 1.0 };
    }
    match word {
        "in" if field.is_named(&["language"]) => 2.5,
        "in" | "near" | "around" if field.sense != Sense::Place && !mention.quoted => -2.0,
        _ => 0.0,
    }
}

/// How well an output of an earlier task fits a field, and whether the step names that output.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct EdgeScore {
    pub(crate) score: f32,
    pub(crate) explicit: bool,
}

/// Scores an edge; `distance` is the number of tasks between, `None` if the types differ.
pub(crate) fn of_output(
    field: &Field,
    producer: &ToolSpec,
    output: &Field,
    step: &Step,
    distance: usize,
) -> Option<EdgeScore> {
    let mut score = types_agree(field, output)?;
    let same = output.name_stems == field.name_stems;
    score += if same {
        4.0
    } else {
        let is_last =
            field.name_stems.len() == 1 && output.name_stems.last() == field.name_stems.last();
        1.2 * specific(&field.name_stems, &output.name_stems) as f32
            + if is_last { 1.0 } else { 0.0 }
    };
    let names_it = belongs_to(field, producer, output);
    if names_it && !same {
        score += 2.5;
    }
    score += (0.4 * shared(&field.about_stems, &output.about_stems) as f32).min(0.8);
    let content: Vec<&String> = output.name_stems.iter().filter(|stem| stem.len() > 2).collect();
    let named = content.iter().filter(|stem| step.stems.contains(stem)).count();
    let share = if content.is_empty() { 0.0 } else { named as f32 / content.len() as f32 };
    score += 3.0 * share;
    let tool_named = shared(&producer.name_stems, &step.stems).min(2);
    score += 0.5 * tool_named as f32;
    let described = shared(&output.about_stems, &step.stems).min(2);
    score += 0.3 * described as f32;
    if step.has_pronoun && distance == 0 {
        score += 1.2;
    }
    if producer.outputs.len() == 1 {
        score += 0.4;
    }
    score += 0.2 * shared(&producer.name_stems, &output.name_stems) as f32;
    score -= 0.15 * distance as f32;
    Some(EdgeScore { score, explicit: share >= 0.5 || step.has_pronoun && distance == 0 })
}

/// Whether `invoice_id` is the `id` of a tool about invoices.
pub(crate) fn belongs_to(field: &Field, producer: &ToolSpec, output: &Field) -> bool {
    field.name_stems.len() > output.name_stems.len()
        && field.name_stems.last() == output.name_stems.last()
        && field
            .name_stems
            .iter()
            .all(|stem| output.name_stems.contains(stem) || producer.name_stems.contains(stem))
}

/// Stems of names that say little about a value.
const GENERIC: [&str; 13] = [
    "number", "name", "id", "of", "type", "date", "time", "value", "result", "data", "text",
    "status", "total",
];

/// The stems that two names share, without those that many names have.
fn specific(a: &[String], b: &[String]) -> usize {
    let own = a.iter().filter(|stem| stem.len() > 2 && !GENERIC.contains(&stem.as_str()));
    own.filter(|stem| b.contains(stem)).count()
}

fn shared(a: &[String], b: &[String]) -> usize {
    a.iter().filter(|stem| stem.len() > 2 && b.contains(stem)).count()
}

/// `None` if an output can never be this field.
pub(crate) fn types_agree(field: &Field, output: &Field) -> Option<f32> {
    if field.is_flag() && !output.is_flag() {
        return None;
    }
    let same_options = field.options == output.options || field.name_stems == output.name_stems;
    if !field.options.is_empty() && !same_options {
        return None;
    }
    let kinds = match (field.kind, output.kind) {
        (a, b) if a == b => 0.6,
        (Kind::Any, _) | (_, Kind::Any) => 0.3,
        (Kind::Number, Kind::Integer) | (Kind::Integer, Kind::Number) => 0.5,
        (Kind::Text, Kind::Integer | Kind::Number) => 0.2,
        // Each item of a list, or the list for a field that takes one.
        (Kind::Text | Kind::Integer | Kind::Number, Kind::List) => 0.0,
        (Kind::List, Kind::Text) => -0.3,
        (Kind::Integer | Kind::Number, Kind::Text) => -0.8,
        (Kind::Text, Kind::Object | Kind::Boolean) => -0.8,
        _ => return None,
    };
    let senses = match (field.sense, output.sense) {
        (a, b) if a == b => 0.3,
        (Sense::Email | Sense::Url | Sense::Phone, _) => -3.0,
        (Sense::Date | Sense::Time, Sense::Other | Sense::Date) => -0.5,
        (Sense::Date | Sense::Time, _) => -2.5,
        (Sense::Percent, _) => -1.5,
        (Sense::Place | Sense::Path | Sense::Id, Sense::Other) => -0.8,
        (_, Sense::Date | Sense::Time) => -0.5,
        _ => 0.0,
    };
    Some(kinds + senses)
}
