//! Data about a page in JSON-LD.

use html5ever::local_name;
use serde_json::{Map, Value};

use super::tree::Tree;

/// Longer scripts are left out.
const LONGEST: usize = 2 << 20;

/// At most so many objects of a page are looked at.
const MOST: usize = 2000;

/// Types that describe the page's own content, the most telling ones first.
const CONTENT: [&str; 14] = [
    "NewsArticle",
    "Article",
    "BlogPosting",
    "TechArticle",
    "ScholarlyArticle",
    "Report",
    "DiscussionForumPosting",
    "QAPage",
    "Question",
    "Recipe",
    "Product",
    "ProductGroup",
    "WebPage",
    "WebSite",
];

/// The objects of a page, with those within `@graph`.
#[derive(Debug, Default)]
pub(crate) struct LinkedData(Vec<Map<String, Value>>);

impl LinkedData {
    pub(crate) fn find(tree: &Tree) -> Self {
        let mut open: Vec<Value> = Vec::new();
        for node in tree.elements().filter(|node| *tree.name(*node) == local_name!("script")) {
            if !tree
                .attribute(node, &local_name!("type"))
                .is_some_and(|kind| kind.contains("ld+json"))
            {
                continue;
            }
            let text = tree.text_of(node);
            if text.len() <= LONGEST
                && let Ok(value) = serde_json::from_str(text.trim().trim_end_matches(';'))
            {
                open.push(value);
            }
        }
        open.reverse();
        let mut found = Vec::new();
        while let Some(value) = open.pop() {
            match value {
                Value::Array(values) => open.extend(values.into_iter().rev()),
                Value::Object(mut object) => {
                    for name in ["@graph", "mainEntity", "mainEntityOfPage"] {
                        if matches!(object.get(name), Some(Value::Array(_) | Value::Object(_))) {
                            open.extend(object.remove(name));
                        }
                    }
                    found.push(object);
                }
                _ => {}
            }
            if found.len() >= MOST {
                break;
            }
        }
        Self(found)
    }

    /// The objects that describe the content, the most telling ones first.
    pub(crate) fn content(&self) -> impl Iterator<Item = &Map<String, Value>> {
        CONTENT.iter().flat_map(|kind| self.0.iter().filter(move |object| is_a(object, kind)))
    }

    /// The types of all objects.
    pub(crate) fn kinds(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flat_map(|object| values(object.get("@type"))).filter_map(Value::as_str)
    }

    /// The text of the content, if the page gives it in full: the body of an article, a thread, the description of a product.
    pub(crate) fn text(&self) -> Option<String> {
        let mut best: Option<String> = None;
        for object in self.content() {
            let mut parts = Vec::new();
            thread(object, 0, &mut parts);
            let text = parts.join("\n\n");
            if best.as_ref().is_none_or(|best| best.len() < text.len()) {
                best = Some(text);
            }
        }
        best.filter(|text| !text.trim().is_empty())
    }
}

/// Threads are read so far down.
const DEEPEST: usize = 20;

/// The text of an object and of its answers and comments.
fn thread(object: &Map<String, Value>, depth: usize, out: &mut Vec<String>) {
    let names = if is_a(object, "Product") || is_a(object, "ProductGroup") {
        ["name", "description", "text"]
    } else {
        ["articleBody", "text", "headline"]
    };
    let texts =
        names.iter().filter_map(|name| string(object, name)).map(|text| without_tags(&text));
    if names[0] == "name" {
        out.extend(texts);
    } else {
        out.extend(texts.take(1));
    }
    if depth < DEEPEST {
        for name in ["acceptedAnswer", "suggestedAnswer", "comment"] {
            for inner in values(object.get(name)).filter_map(Value::as_object) {
                thread(inner, depth + 1, out);
            }
        }
    }
}

/// The text of a value that may be HTML, with the entities that JSON needs most.
fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        out.push_str(before);
        match after.split_once('>') {
            Some((tag, after))
                if tag.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') =>
            {
                let inline = [
                    "a", "b", "i", "em", "strong", "span", "/a", "/b", "/i", "/em", "/strong",
                    "/span",
                ];
                let name = tag.split_whitespace().next().unwrap_or_default();
                out.push_str(if inline.contains(&name) { "" } else { "\n" });
                rest = after;
            }
            _ => {
                out.push('<');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out.replace("&nbsp;", " ")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&quot;", "\"")
        .replace("&#39;", "'")
        .replace("&amp;", "&")
}

pub(crate) fn is_a(object: &Map<String, Value>, kind: &str) -> bool {
    values(object.get("@type")).any(|found| found.as_str() == Some(kind))
}

/// A value that may be one or a list.
pub(crate) fn values(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    let (one, many) = match value {
        Some(Value::Array(values)) => (None, values.as_slice()),
        other => (other, [].as_slice()),
    };
    one.into_iter().chain(many)
}

/// The first text under a name; of an object its `name` or `@value`.
pub(crate) fn string(object: &Map<String, Value>, name: &str) -> Option<String> {
    values(object.get(name)).find_map(|value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Object(object) => {
            let inner = object.get("name").or_else(|| object.get("@value"))?;
            inner.as_str().map(str::to_owned)
        }
        _ => None,
    })
}
