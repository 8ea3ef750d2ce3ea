//! Queries for job boards: pure.

use crate::boards::{Board, Syntax};

/// The terms of a job search.
#[derive(Clone, Debug, Default)]
pub(crate) struct Search {
    pub title: String,
    pub must: Vec<String>,
    pub nice: Vec<String>,
    pub place: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Query {
    pub board: Board,
    pub text: String,
    /// The must-haves and titles that occur in it.
    pub covers: Vec<String>,
}

/// Queries, and the must-haves that no query had room for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queries {
    pub queries: Vec<Query>,
    pub left_out: Vec<String>,
}

/// Up to this many must-haves are all needed at once; of more, one is enough.
const ALL_OF: usize = 3;

/// Titles that name the same role, in lower case.
const TITLES: [&[&str]; 22] = [
    &["software engineer", "software developer", "programmer"],
    &["backend developer", "backend engineer", "back-end developer", "server-side developer"],
    &["frontend developer", "frontend engineer", "front-end developer", "UI developer"],
    &["full stack developer", "full-stack engineer", "fullstack developer"],
    &["data engineer", "ETL developer", "data platform engineer"],
    &["data scientist", "machine learning engineer", "data analyst"],
    &[
        "platform engineer",
        "devops engineer",
        "site reliability engineer",
        "infrastructure engineer",
    ],
    &["engineering manager", "development manager", "software development manager"],
    &["accountant", "financial accountant", "bookkeeper"],
    &["management accountant", "financial controller", "finance analyst"],
    &["financial analyst", "finance analyst", "FP&A analyst"],
    &["auditor", "internal auditor", "audit associate"],
    &["nurse", "registered nurse", "staff nurse"],
    &["healthcare assistant", "care assistant", "nursing assistant"],
    &["marketing manager", "campaign manager", "brand manager"],
    &["content editor", "content manager", "copywriter"],
    &["seo specialist", "SEO manager", "search marketing specialist"],
    &["transport planner", "logistics planner", "dispatcher"],
    &["warehouse operative", "warehouse worker", "picker packer"],
    &["supply chain analyst", "logistics analyst", "supply chain planner"],
    &["softwareentwickler", "software engineer", "programmierer"],
    &["project manager", "programme manager", "delivery manager"],
];

const LEVELS: [&str; 10] = [
    "junior",
    "senior",
    "lead",
    "principal",
    "staff",
    "graduate",
    "mid-level",
    "trainee",
    "entry-level",
    "intermediate",
];

/// A title without its level, its level put aside, and names of the same role.
pub(crate) fn titles(title: &str) -> Vec<String> {
    let lower = title.to_lowercase();
    let base: Vec<&str> = title
        .split_whitespace()
        .filter(|word| !LEVELS.contains(&word.to_lowercase().as_str()))
        .collect();
    let base = base.join(" ");
    let mut titles = vec![title.to_owned()];
    if !base.is_empty() {
        titles.push(base.clone());
    }
    let same = TITLES
        .iter()
        .find(|names| names.iter().any(|name| *name == base.to_lowercase() || *name == lower));
    titles.extend(same.into_iter().flat_map(|names| names.iter()).map(|name| capitalize(name)));
    let mut seen = std::collections::HashSet::new();
    titles.retain(|title| !title.is_empty() && seen.insert(title.to_lowercase()));
    titles
}

fn capitalize(name: &str) -> String {
    let words = name.split(' ').map(|word| {
        let mut characters = word.chars();
        characters
            .next()
            .map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Writes at most `limit` queries, at least one for each board. Every must-have is in a query if there is room.
pub(crate) fn write(search: &Search, boards: &[Board], limit: usize) -> Queries {
    let search = search.cleaned();
    let titles = titles(&search.title);
    let mut queries = Queries::default();
    for (index, board) in boards.iter().enumerate() {
        let share = limit / boards.len() + usize::from(index < limit % boards.len());
        queries.queries.extend(for_board(&search, &titles, *board, share));
    }
    let left_out = search
        .must
        .iter()
        .filter(|term| !queries.queries.iter().any(|query| query.covers.contains(term)));
    queries.left_out = left_out.cloned().collect();
    queries
}

/// The queries of one board: the must-haves in groups, then other titles.
fn for_board(search: &Search, titles: &[String], board: Board, share: usize) -> Vec<Query> {
    let mut queries: Vec<Query> = Vec::new();
    let mut rest = search.must.as_slice();
    while !rest.is_empty() && queries.len() < share {
        let slots = share - queries.len();
        let size = rest.len().div_ceil(slots).max(ALL_OF.min(rest.len()));
        let Some((query, taken)) = fitting(search, &titles[0], board, &rest[..size]) else {
            // Not even one fits: the other boards may have room for it.
            rest = &rest[1..];
            continue;
        };
        queries.push(query);
        rest = &rest[taken..];
    }
    let nice = search.nice.iter().take(2).cloned().collect::<Vec<_>>();
    let others = titles.iter().skip(1).map(|title| (title, search.must.get(..1).unwrap_or(&[])));
    let with_nice = (!nice.is_empty() && !titles.is_empty()).then(|| (&titles[0], nice.as_slice()));
    // Without must-haves no query has the title itself yet.
    let bare = [(&titles[0], [].as_slice())];
    let (first, last) =
        if search.must.is_empty() { (Some(bare), None) } else { (None, Some(bare)) };
    let titles = first.into_iter().flatten().chain(with_nice).chain(others);
    for (title, terms) in titles.chain(last.into_iter().flatten()) {
        if queries.len() >= share {
            break;
        }
        queries.extend(fitting(search, title, board, terms).map(|(query, _)| query));
    }
    let mut seen = std::collections::HashSet::new();
    queries.retain(|query| seen.insert(query.text.clone()));
    queries
}

/// The query with as many of the terms as fit, and their number.
fn fitting(search: &Search, title: &str, board: Board, terms: &[String]) -> Option<(Query, usize)> {
    let least = usize::from(!terms.is_empty());
    // A long title leaves no room; then the terms alone are searched for.
    for title in [title, ""] {
        for count in (least..=terms.len()).rev() {
            let text = spell(search, title, board, &terms[..count]);
            if !text.is_empty()
                && text.chars().count() <= board.max_characters()
                && text.split_whitespace().count() <= board.max_words()
            {
                let mut covers = terms[..count].to_vec();
                covers.extend((!title.is_empty()).then(|| title.to_owned()));
                return Some((Query { board, text, covers }, count));
            }
        }
    }
    None
}

fn spell(search: &Search, title: &str, board: Board, terms: &[String]) -> String {
    let place = search.place.as_deref().filter(|_| board.place_in_query());
    if board.syntax() == Syntax::Words {
        let words = [title]
            .into_iter()
            .filter(|title| !title.is_empty())
            .chain(terms.iter().map(String::as_str));
        return words.collect::<Vec<_>>().join(" ");
    }
    let and = if board.syntax() == Syntax::Boolean { " AND " } else { " " };
    let mut parts: Vec<String> = Vec::new();
    parts.extend((!title.is_empty()).then(|| format!("\"{title}\"")));
    let quoted: Vec<String> = terms.iter().map(|term| quote(term)).collect();
    match quoted.len() {
        0 => {}
        1..=ALL_OF => parts.push(quoted.join(and)),
        _ => parts.push(format!("({})", quoted.join(" OR "))),
    }
    parts.extend(place.map(quote));
    let mut text = parts.join(and);
    if board == Board::Google {
        text.push_str(" (job OR jobs)");
    }
    text
}

/// Quotes what is not one plain word.
fn quote(term: &str) -> String {
    let plain = term.chars().all(char::is_alphanumeric)
        && !["and", "or", "not"].contains(&term.to_lowercase().as_str());
    if plain { term.to_owned() } else { format!("\"{term}\"") }
}

impl Search {
    /// Without signs that the boards read as syntax.
    fn cleaned(&self) -> Self {
        let clean = |text: &String| clean(text);
        let list = |terms: &[String]| {
            let mut seen = std::collections::HashSet::new();
            let terms = terms.iter().map(clean).filter(|term| !term.is_empty());
            terms.filter(|term| seen.insert(term.to_lowercase())).collect::<Vec<_>>()
        };
        let place = self.place.as_ref().map(clean).filter(|place| !place.is_empty());
        Self { title: clean(&self.title), must: list(&self.must), nice: list(&self.nice), place }
    }
}

/// A term without quotes and brackets, its blanks single.
pub(crate) fn clean(text: &str) -> String {
    let text = text.replace(['"', '“', '”', '„', '(', ')', '[', ']', '{', '}'], " ");
    let text: String =
        text.chars().filter(|sign| !sign.is_control() || sign.is_whitespace()).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;
