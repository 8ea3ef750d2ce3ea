//! Ids that depend on names and texts only, so that two runs on one topic can be compared.

use language::words::fold;

use crate::graph::NodeKind;

/// The most characters of a label that an id repeats.
const MAX_SLUG: usize = 40;

/// The hexadecimal digits of a digest that make an id unique.
const DIGITS: usize = 10;

/// The id of a perspective with this name, such as `p-history`.
pub fn perspective_id(name: &str) -> String {
    node_id(NodeKind::Perspective, name)
}

/// The id of a question with this text. White space and case make no difference.
pub fn question_id(text: &str) -> String {
    node_id(NodeKind::Question, text)
}

/// The id of a node with this label: readable if the label is short and plain, with a digest otherwise.
pub fn node_id(kind: NodeKind, label: &str) -> String {
    let folded = fold(label);
    let plain = folded.split_whitespace().collect::<Vec<_>>().join(" ");
    if kind == NodeKind::Question {
        return format!("q-{}", digest(&plain));
    }
    let prefix = match kind {
        NodeKind::Topic => "t",
        NodeKind::Perspective => "p",
        NodeKind::Question => "q",
        NodeKind::Concept => "c",
    };
    let words = plain.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut slug = words.collect::<Vec<_>>().join("-");
    let exact = slug.replace('-', " ") == plain && slug.len() <= MAX_SLUG;
    slug.truncate(MAX_SLUG);
    let slug = slug.trim_end_matches('-');
    match (exact, slug.is_empty()) {
        (true, _) => format!("{prefix}-{slug}"),
        (false, true) => format!("{prefix}-{}", digest(&plain)),
        (false, false) => format!("{prefix}-{slug}-{}", digest(&plain)),
    }
}

fn digest(text: &str) -> String {
    let mut digits = proto::digest(text.as_bytes()).to_string();
    digits.truncate(DIGITS);
    digits
}
