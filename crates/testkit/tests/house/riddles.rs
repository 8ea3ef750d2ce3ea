//! Doc comments, tests and types whose words do not say who or what they are about.

/// Beginnings of doc comments that name no subject. `words` refuses further ones everywhere.
const OPEN_BEGINNINGS: [&str; 3] = ["So many ", "Who ", "Whose "];

/// Words after which `The same` refers to something that the sentence does not name.
const UNNAMED_AFTER: [&str; 19] = [
    "as", "at", "before", "but", "by", "for", "from", "if", "in", "of", "on", "the", "to", "under",
    "when", "where", "while", "with", "without",
];

/// Beginnings of test names that name no subject.
const OPEN_NAMES: [&str; 4] = ["what_", "whatever_", "who_", "whose_"];

/// Names of types that do not say what they hold.
const UNCLEAR_TYPES: [&str; 7] = ["Asked", "Bench", "Found", "Keeper", "Place", "Way", "Who"];

/// Types with such a name that are still to be renamed. A type that is renamed is taken off this list.
pub(crate) const NOT_RENAMED: [&str; 4] = [
    "crates/strip/src/asking.rs: Asked",
    "crates/strip/src/catalog/snapshot.rs: Found",
    "crates/workflow/src/tools/plan.rs: Asked",
    "crates/workflow/src/tools/respond.rs: Asked",
];

/// The lines of code with an unclear doc comment or test name, each with what to change.
pub(crate) fn riddles(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut in_docs = false;
    for (number, line) in (1..).zip(code.lines().map(str::trim_start)) {
        let docs = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(str::trim);
        if let Some(docs) = docs.filter(|docs| !in_docs && is_open(docs)) {
            found.push((number, format!("name the subject: `{docs}`")));
        }
        in_docs = docs.is_some();
        let name =
            function(line).filter(|name| OPEN_NAMES.iter().any(|open| name.starts_with(open)));
        found.extend(name.map(|name| (number, format!("name the subject: `{name}`"))));
    }
    found
}

/// The types with an unclear name that code declares.
pub(crate) fn unclear_types(code: &str) -> Vec<&'static str> {
    let declares = |line: &str, name: &str| {
        ["enum ", "struct ", "trait ", "type "].iter().any(|kind| {
            let rest = without_visibility(line).strip_prefix(kind);
            let rest = rest.and_then(|rest| rest.strip_prefix(name));
            rest.is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
        })
    };
    let lines: Vec<_> = code.lines().map(str::trim_start).collect();
    let unclear = UNCLEAR_TYPES.iter().copied();
    unclear.filter(|name| lines.iter().any(|line| declares(line, name))).collect()
}

/// Whether a doc comment begins without a subject.
fn is_open(docs: &str) -> bool {
    if OPEN_BEGINNINGS.iter().any(|beginning| docs.starts_with(beginning)) {
        return true;
    }
    let Some(rest) = docs.strip_prefix("The same") else { return false };
    let word = rest.trim_start();
    // "The same as `that`" names it.
    let word_is = |open: &str| {
        word.strip_prefix(open).is_some_and(|rest| rest.starts_with(' '))
            && !word.starts_with("as `")
    };
    rest.starts_with(['.', ',', ';', ':'])
        || rest.is_empty()
        || UNNAMED_AFTER.iter().any(|open| word_is(open))
}

/// The name of the function that a line declares.
fn function(line: &str) -> Option<&str> {
    let line = without_visibility(line);
    let name = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ")?;
    name.split(|next: char| !next.is_alphanumeric() && next != '_').next()
}

fn without_visibility(line: &str) -> &str {
    match line.strip_prefix("pub") {
        Some(rest) if rest.starts_with('(') => rest.split_once(") ").map_or(line, |(_, rest)| rest),
        Some(rest) => rest.strip_prefix(' ').unwrap_or(line),
        None => line,
    }
}

#[test]
fn open_beginnings_are_found_and_named_subjects_pass() {
    for code in [
        "/// Who may call.\nfn a() {}",
        "    /// The same.\n    b: u8,",
        "//! Whose workflow it is.",
        "/// The same for a client.",
        "/// So many rows are kept.",
        "pub(crate) async fn what_is_left_stays() {",
        "fn who_decides() {",
    ] {
        assert_eq!(riddles(code).len(), 1, "{code}");
    }
    for code in [
        "/// The caller that owns a run.\n/// Who else may see it is tested elsewhere.",
        "/// The same route for larger bodies.",
        "/// The same as `shared`.",
        "/// Whole words only.",
        "// Who asks is unknown here.",
        "fn whole_words() {",
    ] {
        assert_eq!(riddles(code), [], "{code}");
    }
    assert_eq!(
        unclear_types("pub(super) struct Found<'a> {\nenum Places {\nstruct Way;"),
        ["Found", "Way"]
    );
}
