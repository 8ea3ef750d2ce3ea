//! What a sentence ends with: `[1]`, `(Doe & Roe, 2024)` or `(Doe and Roe)`.

use std::collections::HashMap;

use super::bibliography::file_name;
use super::report::Style;
use crate::source::Source;

/// Words of a title that represent it.
const TITLE_WORDS: usize = 5;

/// Words that only organisations have in their names.
const ORGANISATIONS: [&str; 22] = [
    "agency",
    "association",
    "authority",
    "board",
    "bureau",
    "center",
    "centre",
    "committee",
    "company",
    "council",
    "department",
    "foundation",
    "group",
    "inc",
    "institute",
    "ltd",
    "ministry",
    "office",
    "organization",
    "society",
    "team",
    "university",
];

/// The marker of each source that is cited; `order` has the sources in the order of the bibliography.
pub(super) fn markers(style: Style, sources: &[Source], order: &[usize]) -> HashMap<usize, String> {
    let numbered = order.iter().enumerate().map(|(at, source)| (*source, (at + 1).to_string()));
    if style == Style::Numeric {
        return numbered.collect();
    }
    let short: Vec<(usize, String)> =
        order.iter().map(|index| (*index, short(style, &sources[*index]))).collect();
    let mut uses: HashMap<String, usize> = HashMap::new();
    for (_, marker) in &short {
        *uses.entry(marker.clone()).or_default() += 1;
    }
    short
        .into_iter()
        .map(|(index, marker)| {
            // Titles distinguish two works of one author and year.
            let title = title(&sources[index]).filter(|_| uses[&marker] > 1);
            let marker = match title {
                Some(title) if !marker.contains(&title) => format!("{marker}, {title}"),
                _ => marker,
            };
            (index, marker)
        })
        .collect()
}

/// The citation of several sources at the end of a sentence.
pub(super) fn cite(style: Style, sources: &[usize], markers: &HashMap<usize, String>) -> String {
    let mut marks: Vec<&String> = sources.iter().filter_map(|index| markers.get(index)).collect();
    if style == Style::Numeric {
        marks.sort_by_key(|mark| (mark.len(), mark.as_str()));
        return marks.iter().map(|mark| format!("[{mark}]")).collect();
    }
    let marks: Vec<&str> = marks.into_iter().map(String::as_str).collect();
    format!("({})", marks.join("; "))
}

fn short(style: Style, source: &Source) -> String {
    let name = authors(style, source)
        .or_else(|| title(source))
        .or_else(|| source.site.clone())
        .unwrap_or_else(|| source.url.clone().unwrap_or_else(|| file_name(&source.id).to_owned()));
    if style == Style::Mla {
        return name;
    }
    let year = source.published_at.as_deref().and_then(|date| date.get(..4));
    let year = year.filter(|year| year.bytes().all(|byte| byte.is_ascii_digit()));
    format!("{name}, {}", year.unwrap_or("n.d."))
}

fn title(source: &Source) -> Option<String> {
    let title = source.title.as_deref()?.replace(['“', '”', '"', '[', ']'], "");
    let words: Vec<&str> = title.split_whitespace().take(TITLE_WORDS).collect();
    let text = words.join(" ");
    let text = text.trim_end_matches([',', ':', ';', '.', '?', '!', '-', '–']).trim();
    (!text.is_empty()).then(|| format!("“{text}”"))
}

fn authors(style: Style, source: &Source) -> Option<String> {
    let text = source.author.as_deref()?.trim();
    let text = text.strip_prefix("By ").or_else(|| text.strip_prefix("by ")).unwrap_or(text);
    let mut names: Vec<String> = text
        .split(';')
        .flat_map(|part| part.split(" and "))
        .flat_map(|part| part.split(" & "))
        .flat_map(list)
        .map(|name| family(&name))
        .filter(|name| !name.is_empty())
        .collect();
    let and = if style == Style::Apa { "&" } else { "and" };
    match names.len() {
        0 => None,
        1 => names.pop(),
        2 => Some(format!("{} {and} {}", names[0], names[1])),
        _ => Some(format!("{} et al.", names[0])),
    }
}

/// `Doe, Jane` is one name, `Jane Doe, John Roe` are two.
fn list(text: &str) -> Vec<String> {
    let parts: Vec<&str> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
    match &parts[..] {
        [family, _] if !family.contains(' ') => vec![text.trim().to_owned()],
        _ => parts.into_iter().map(str::to_owned).collect(),
    }
}

fn family(name: &str) -> String {
    let name = name.trim();
    if let Some((family, _)) = name.split_once(',') {
        return family.trim().to_owned();
    }
    let words: Vec<&str> = name.split_whitespace().collect();
    let whole = words.len() > 4
        || words.first().is_some_and(|word| word.eq_ignore_ascii_case("the"))
        || words.iter().any(|word| ORGANISATIONS.contains(&word.to_lowercase().as_str()));
    match &words[..] {
        [.., last] if !whole => (*last).to_owned(),
        _ => name.to_owned(),
    }
}
