//! How well a value, or an earlier output, fits a field.

mod ids;
mod outputs;
mod paths;

use language::words::is_stop_word;

use crate::mention::{Mention, Word, Written};
use crate::number::Unit;
use crate::tool::{Field, Glob, Kind, Sense, ToolSpec};
use crate::zones::zone_of;
use ids::{id_fit, order_score};
use paths::{folder_misfit, is_about_files, is_end, looks_like_path};

pub(crate) use outputs::{EdgeScore, belongs_to, of_output, types_agree};
pub(crate) use paths::{FOLDERS, is_file, is_folder};

/// A value with this score was named for the field.
pub(crate) const STRONG: f32 = 2.0;

/// Determiners between a preposition and a value.
const SKIPPED: [&str; 8] = ["the", "a", "an", "my", "your", "of", "is", "as"];

/// Prepositions and the names of the fields that they introduce.
const ROLES: [(&[&str], &[&str]); 11] = [
    (
        &["from", "since"],
        &[
            "from",
            "base",
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
    (&["replace"], &["old", "find", "before", "search"]),
    (&["with", "by"], &["new", "replacement", "after"]),
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
    // `put the contents of a.txt into b.txt` changes the second file.
    let is_goal = tool.changes && field.sense == Sense::Path && is_target(mention);
    let list = if field.kind == Kind::List && in_group(mentions, place) { 1.0 } else { 0.0 };
    Some(
        fit + cue_score(field, tool, mention)
            + role
            + place_score(field, mention)
            + sense_score(field, mention)
            + list
            + order_score(field, mentions, place)
            + if is_goal { 1.0 } else { 0.0 }
            - exclusion(field, mention)
            - folder_misfit(field, tool, mention),
    )
}

/// Whether a value is one of several in a list.
fn in_group(mentions: &[Mention], place: usize) -> bool {
    let group = |place: usize| mentions.get(place).map(|mention| mention.group);
    group(place) == group(place + 1) || place > 0 && group(place) == group(place - 1)
}

/// The score of a value for a field that excludes things. Requests name such values with words such as `without`.
fn exclusion(field: &Field, mention: &Mention) -> f32 {
    const WORDS: [&str; 7] =
        ["exclude", "excluding", "excluded", "ignore", "ignoring", "without", "except"];
    let says = || mention.before.iter().take(4).any(|word| WORDS.contains(&word.text.as_str()));
    let excludes =
        field.is_named(&["exclude", "excluded", "exclusions", "ignore", "skip", "without"]);
    // An excluded value is not the object of the action.
    let is_excepted = || matches!(introducing(mention), "except" | "excluding" | "excepting");
    if excludes && says() {
        -2.5
    } else if excludes {
        3.0
    } else if !excludes && is_excepted() {
        6.0
    } else {
        0.0
    }
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
            _ if is_limit(mention) && field.is_named(&LIMITS) => 3.0,
            _ => 0.0,
        },
        Written::Name if mention.text.contains('/') && field.is_named(&["timezone", "zone"]) => 2.0,
        _ => 0.0,
    }
}

/// Names of fields for what something comes from or goes to.
const ENDS: [&str; 8] = ["source", "destination", "target", "from", "to", "src", "dst", "dest"];

/// Names of fields that limit how much is returned.
const LIMITS: [&str; 6] = ["max", "maximum", "limit", "top", "count", "num"];

/// `at most 5`, `up to 5`, `no more than 5`, `top 5`, `the last 5`.
fn is_limit(mention: &Mention) -> bool {
    let mut before = mention.before.iter().map(|word| word.text.as_str());
    match (before.next(), before.next()) {
        (Some("most"), Some("at")) | (Some("to"), Some("up")) | (Some("than"), Some("more")) => {
            true
        }
        (Some(word), _) => matches!(
            word,
            "top" | "maximum" | "max" | "limit" | "first" | "last" | "latest" | "newest"
        ),
        _ => false,
    }
}

/// The preposition before a value.
fn introducing(mention: &Mention) -> &str {
    let mut before = mention.before.iter().map(|word| word.text.as_str());
    before.find(|word| !SKIPPED.contains(word)).unwrap_or_default()
}

/// Whether a value says where something goes: `into all.txt`.
pub(crate) fn is_target(mention: &Mention) -> bool {
    mention.value == Written::Path && matches!(introducing(mention), "to" | "into" | "as")
}

/// Whether a value is the name of a place: `in New York`.
pub(crate) fn names_place(mention: &Mention) -> bool {
    matches!(mention.value, Written::Name)
        && !mention.quoted
        && matches!(introducing(mention), "in" | "near" | "around")
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
            Sense::Url | Sense::Path | Sense::Date | Sense::Time | Sense::Phone | Sense::Place => {
                return None;
            }
            _ => -0.5,
        },
        Written::Url => match field.sense {
            Sense::Url => 4.0,
            Sense::Email | Sense::Date | Sense::Time | Sense::Phone => return None,
            _ => -0.5,
        },
        Written::Id(kind) => id_fit(field, *kind)?,
        Written::Path if mention.text.contains('*') => {
            if field.is_named(&["pattern", "patterns", "glob", "mask", "filter"]) {
                4.0
            } else {
                -1.0
            }
        }
        Written::FileType(_) if field.glob != Glob::None => 4.0,
        Written::FileType(_) if field.is_named(&["suffix", "extension"]) => 3.0,
        Written::FileType(_) => return None,
        Written::Path if is_file(&mention.text) && field.is_named(&FOLDERS) => -2.0,
        // The contents of a file are not its name.
        Written::Path if !mention.quoted && field.takes_any_text() && field.is_named(&PROSE) => {
            return None;
        }
        Written::Path => match field.sense {
            Sense::Path => 4.0,
            Sense::Other if is_end(field) => 1.0,
            Sense::Email | Sense::Date | Sense::Time | Sense::Phone => return None,
            // A role or a name is no file, unless the request says so.
            _ if !mention.quoted && !is_about_files(field) => -3.0,
            _ => -0.5,
        },
        // A place that no zone is named after is asked for.
        Written::Text | Written::Name if field.wants_zone && zone_of(&mention.text).is_none() => {
            return None;
        }
        Written::Text | Written::Name => match field.sense {
            Sense::Date | Sense::Time | Sense::Email | Sense::Url | Sense::Phone => {
                if mention.quoted { -1.5 } else { return None }
            }
            Sense::Path if !mention.quoted => -1.5,
            // `the message 'Fix it'`: other text than a path.
            Sense::Path if is_prose(mention) => -3.0,
            // `append 'done' to a.txt`: nothing says that it is a name of a file.
            Sense::Path if !looks_like_path(&mention.text) && !names_file(mention) => -1.0,
            Sense::Id if !mention.quoted && !mention.has_digits() => -1.0,
            _ if mention.quoted => 0.6,
            _ => 0.3,
        },
    };
    if field.options.is_empty() { Some(fit) } else { option_fit(field, mention).then_some(fit) }
}

/// Words for text that people read.
const PROSE: [&str; 13] = [
    "message",
    "comment",
    "subject",
    "title",
    "content",
    "contents",
    "text",
    "body",
    "description",
    "note",
    "summary",
    "caption",
    "reason",
];

/// Whether a word near a value says that it is the name of a file or folder.
fn names_file(mention: &Mention) -> bool {
    let is_file = |word: &Word| {
        matches!(word.text.as_str(), "file" | "path" | "called" | "named")
            || FOLDERS.contains(&word.text.as_str())
    };
    mention.before.iter().take(4).chain(mention.after.iter().take(1)).any(is_file)
}

/// Whether the words before a value say that it is text for people.
fn is_prose(mention: &Mention) -> bool {
    let mut before = mention.before.iter().filter(|word| word.has_content);
    before.next().is_some_and(|word| PROSE.contains(&word.text.as_str()))
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
        (false, false, true) if field.takes_any_text() => -3.0,
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
    let of_tool = |stem: &str| tool.name_stems.contains(stem);
    if mention.before.is_empty() && mention.after.is_empty() {
        return 0.0;
    }
    let has_own = field.name_stems.iter().any(|stem| !of_tool(stem));
    let (mut score, mut named) = (0.0, 0);
    for (stem, word) in field.name_stems.iter().zip(field.name_words.iter()) {
        // `from` and `to` are roles.
        if stem.len() < 3 || is_stop_word(word) {
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
        .map(|stem| match near(stem, mention, 1.0, 1.4) {
            near if near > 0.0 && of_tool(stem) => 0.3 * near,
            near => near,
        })
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
        if related(stem, &word.stem) {
            return Some(distance);
        }
        if word.has_content {
            distance += 1.0;
        } else if is_after {
            return None;
        }
    }
    None
}

/// Whether two stems are the same, or share a long beginning: `birthdate` and `birth`, `repo` and `repository`.
fn related(a: &str, b: &str) -> bool {
    // The first byte decides nearly always.
    a.as_bytes().first() == b.as_bytes().first()
        && (a == b || a.len() >= 4 && b.len() >= 4 && (a.starts_with(b) || b.starts_with(a)))
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
    // `9:00 in Berlin`: the place of a given time is where it is converted from.
    let with_time = place.checked_sub(1).is_some_and(|before| all[before].value == Written::Time)
        && mention.before.len() == 1;
    if with_time && matches!(word, "in" | "at") && field.sense == Sense::Place {
        word = "from";
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
