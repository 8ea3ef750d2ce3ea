//! What the values of a field mean, by its name, its description and its format.

use language::words::stem;

use super::{Kind, Sense};

pub(super) fn sense(
    name: &[String],
    about: &[String],
    kind: Kind,
    format: &str,
    form: &str,
) -> Sense {
    let has = |words: &[&str]| {
        let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
        name.iter().any(|part| stems.contains(part))
    };
    let says = |words: &[&str]| {
        let stems: Vec<String> = words.iter().map(|word| stem(word)).collect();
        about.iter().any(|part| stems.contains(part))
    };
    let numeric = matches!(kind, Kind::Integer | Kind::Number);
    match format {
        "date" | "date-time" => return Sense::Date,
        "time" => return Sense::Time,
        "email" => return Sense::Email,
        "uri" | "url" => return Sense::Url,
        _ => {}
    }
    if numeric {
        return if has(&["percent", "percentage", "rate"]) {
            Sense::Percent
        } else if has(&[
            "duration", "period", "term", "days", "nights", "hours", "minutes", "seconds",
            "months", "years",
        ]) {
            Sense::Duration
        } else if has(&[
            "amount",
            "price",
            "cost",
            "fee",
            "salary",
            "revenue",
            "expense",
            "principal",
            "bill",
            "income",
            "budget",
            "allowance",
            "total",
            "payment",
        ]) {
            Sense::Money
        } else {
            Sense::Other
        };
    }
    if form.contains("yyyy-mm-dd")
        || has(&["date", "birthdate", "birthday", "deadline", "day", "timestamp", "datetime"])
            && !has(&["number", "days"])
    {
        Sense::Date
    } else if has(&["time", "hour"]) && !has(&["zone", "timezone"]) {
        Sense::Time
    } else if has(&["email", "mail"]) {
        Sense::Email
    } else if has(&["url", "uri", "link", "website", "href", "webpage"]) {
        Sense::Url
    } else if !has(&["id", "ids", "uuid"])
        && has(&[
            "path",
            "file",
            "filename",
            "filepath",
            "directory",
            "folder",
            "dir",
            "files",
            "paths",
        ])
    {
        Sense::Path
    } else if has(&["phone", "mobile", "telephone"]) && !has(&["model", "brand"]) {
        Sense::Phone
    } else if has(&["id", "ids", "identifier", "uuid", "key", "token"]) {
        Sense::Id
    } else if has(&[
        "city",
        "location",
        "place",
        "address",
        "origin",
        "destination",
        "area",
        "country",
        "state",
        "town",
        "region",
        "where",
        "locations",
        "timezone",
        "zone",
    ]) || says(&["city"])
    {
        Sense::Place
    } else {
        Sense::Other
    }
}
