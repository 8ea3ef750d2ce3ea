//! Results of the web tools for people.

use std::io;

use serde_json::Value;

use crate::table::wrap;
use crate::{Style, line, note, shown, text};

/// Search results: number, title, address and what was found there.
pub fn results(data: &Value, style: Style) -> io::Result<()> {
    let lists = ["results", "articles", "papers"];
    let Some(found) = lists.iter().find_map(|list| data[*list].as_array()) else { return Ok(()) };
    if found.is_empty() {
        return line("nothing was found");
    }
    let width = style.width().map(|width| width.saturating_sub(4));
    for (number, one) in (1..).zip(found) {
        if number > 1 {
            line("")?;
        }
        let of = |key: &str| one[key].as_str().map(shown).filter(|text| !text.is_empty());
        line(format_args!("{number:>2}. {}", style.bold(of("title").unwrap_or_default())))?;
        line(format_args!("    {}", of("url").unwrap_or_default()))?;
        let facts = [
            of("publishedAt"),
            one["year"].as_u64().map(|year| year.to_string()),
            authors(one),
            of("source"),
        ];
        let facts: Vec<_> = facts.into_iter().flatten().collect();
        if !facts.is_empty() {
            line(format_args!("    {}", style.faint(facts.join(" · "))))?;
        }
        for part in wrap(&of("snippet").or_else(|| of("abstract")).unwrap_or_default(), width) {
            line(format_args!("    {part}"))?;
        }
    }
    Ok(())
}

/// The first authors of a publication.
fn authors(one: &Value) -> Option<String> {
    let names: Vec<_> = one["authors"].as_array()?.iter().filter_map(Value::as_str).collect();
    match &names[..] {
        [] => None,
        [.., _] if names.len() > 3 => Some(shown(&format!("{}, …", names[..3].join(", ")))),
        _ => Some(shown(&names.join(", "))),
    }
}

/// A page: its content on standard output, what is known about it on standard error.
pub fn page(data: &Value, style: Style) -> io::Result<()> {
    let Some(content) = data.get("content") else { return Ok(()) };
    let of = |value: &Value| value.as_str().map(shown).filter(|text| !text.is_empty());
    let title =
        of(&data["metadata"]["title"]).or_else(|| of(&data["citation"]["metadata"]["title"]));
    if let Some(title) = title {
        note(style.bold(title));
    }
    let facts = [
        of(&data["url"]),
        of(&data["citation"]["metadata"]["author"]),
        of(&data["citation"]["metadata"]["date"]),
        of(&data["contentType"]),
        data["contentLength"].as_u64().map(|bytes| format!("{bytes} bytes")),
        data["estimatedTokens"].as_u64().map(|tokens| format!("about {tokens} tokens")),
    ];
    let facts: Vec<_> = facts.into_iter().flatten().collect();
    note(style.faint(facts.join(" · ")));
    if data["truncated"] == true {
        let whole = data["originalLength"].as_u64().map(|bytes| format!(" of {bytes} bytes"));
        let whole = whole.unwrap_or_default();
        note(style.doubtful(format_args!("the content{whole} was cut; --max-length allows more")));
    }
    warnings(data, style);
    match content {
        Value::String(content) => text(format_args!("{}\n", content.trim_end())),
        // Too long for an answer: it was stored.
        reference => line(reference),
    }
}

/// The warnings of an answer, on standard error.
pub fn warnings(data: &Value, style: Style) {
    for warning in data["warnings"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        note(format_args!("{} {}", style.doubtful("warning:"), shown(warning)));
    }
}
