//! What a page says about itself: meta tags, Open Graph, JSON-LD, `citation_*` and headings.

use std::collections::HashMap;

use extraction::Metadata;
use extraction::metadata::doi;
use extraction::text::on_one_line;
use html5ever::local_name;
use url::Url;

use super::date::date;
use super::linked_data::{LinkedData, string, values};
use super::tree::{Id, Tree};

/// Longer names are not names.
const LONGEST_NAME: usize = 100;

/// The meta tags of a page: name in lower case, and the values in their order.
struct Tags(HashMap<String, Vec<String>>);

impl Tags {
    /// The first value under any of the names.
    fn first(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| self.0.get(*name)?.first().cloned())
    }

    fn all(&self, name: &str) -> Option<String> {
        self.0.get(name).map(|values| values.join(", "))
    }

    fn date(&self, names: &[&str]) -> Option<String> {
        names.iter().find_map(|name| date(self.0.get(*name)?.first()?))
    }
}

/// Reads the metadata of a page.
pub(super) fn read(
    tree: &Tree,
    data: &LinkedData,
    title: Option<String>,
    base: Option<&Url>,
) -> Metadata {
    let mut tags = Tags(HashMap::new());
    let mut found = ElementMetadata::default();
    for node in tree.elements() {
        found.look_at(tree, node, &mut tags);
    }
    let described = |name: &str| data.content().find_map(|object| string(object, name));
    let dated = |name: &str| described(name).and_then(|text| date(&text));
    let headline = described("headline");
    let publisher = described("publisher");
    Metadata {
        title: tags
            .first(&["citation_title", "og:title"])
            .or(headline)
            .or_else(|| tags.first(&["twitter:title", "dc.title", "dcterms.title"]))
            .or(title.filter(|title| !title.is_empty()))
            .or(found.heading),
        author: tags
            .all("citation_author")
            .or_else(|| authors(data))
            .or_else(|| {
                let names =
                    ["author", "article:author", "dc.creator", "dcterms.creator", "parsely-author"];
                tags.first(&names).filter(|name| is_name(name))
            })
            .or(found.author),
        site: tags.first(&["og:site_name"]).or(publisher).or_else(|| {
            tags.first(&["citation_journal_title", "application-name", "dc.publisher"])
        }),
        published: tags
            .date(&["article:published_time", "citation_publication_date", "citation_date"])
            .or_else(|| dated("datePublished"))
            .or_else(|| {
                tags.date(&[
                    "datepublished",
                    "dc.date",
                    "dcterms.created",
                    "dc.date.issued",
                    "date",
                    "pubdate",
                    "publish-date",
                    "parsely-pub-date",
                    "sailthru.date",
                    "citation_online_date",
                    "og:published_time",
                ])
            })
            .or(found.published),
        modified: tags
            .date(&["article:modified_time", "og:updated_time"])
            .or_else(|| dated("dateModified"))
            .or_else(|| tags.date(&["datemodified", "dcterms.modified", "last-modified"])),
        language: found
            .language
            .or_else(|| tags.first(&["og:locale", "content-language", "dc.language"]))
            .or_else(|| described("inLanguage"))
            .and_then(|tag| language(&tag)),
        description: tags
            .first(&["og:description", "description", "twitter:description", "dc.description"])
            .or_else(|| described("description")),
        canonical: found
            .canonical
            .or_else(|| tags.first(&["og:url"]))
            .and_then(|target| absolute(&target, base)),
        doi: tags
            .first(&["citation_doi", "prism.doi", "dc.identifier", "bepress_citation_doi"])
            .and_then(|text| doi(&text)),
        ..Metadata::default()
    }
}

/// The metadata in elements other than meta tags.
#[derive(Default)]
struct ElementMetadata {
    language: Option<String>,
    canonical: Option<String>,
    author: Option<String>,
    published: Option<String>,
    heading: Option<String>,
}

impl ElementMetadata {
    fn look_at(&mut self, tree: &Tree, node: Id, tags: &mut Tags) {
        match *tree.name(node) {
            local_name!("meta") => {
                let name = [
                    local_name!("name"),
                    local_name!("property"),
                    local_name!("itemprop"),
                    local_name!("http-equiv"),
                ];
                let name = name.iter().find_map(|name| tree.attribute(node, name));
                let value = tree
                    .attribute(node, &local_name!("content"))
                    .map(str::trim)
                    .unwrap_or_default();
                if let Some(name) = name
                    && !value.is_empty()
                {
                    tags.0
                        .entry(name.trim().to_ascii_lowercase())
                        .or_default()
                        .push(value.to_owned());
                }
            }
            local_name!("html") if self.language.is_none() => {
                let language = tree.attribute(node, &local_name!("lang"));
                self.language = language.map(str::to_owned).filter(|tag| !tag.trim().is_empty());
            }
            local_name!("link")
                if self.canonical.is_none()
                    && tree.attribute(node, &local_name!("rel")) == Some("canonical") =>
            {
                self.canonical = tree.attribute(node, &local_name!("href")).map(str::to_owned);
            }
            local_name!("time") if self.published.is_none() => {
                self.published = tree.attribute(node, &local_name!("datetime")).and_then(date);
            }
            local_name!("h1") if self.heading.is_none() => {
                self.heading = Some(short_text(tree, node)).filter(|text| !text.is_empty());
            }
            _ if self.author.is_none() => {
                let is_author = tree.attributes(node).any(|(name, value)| match *name {
                    local_name!("rel") | local_name!("itemprop") => value == "author",
                    local_name!("class") => is_byline(value),
                    _ => false,
                });
                if is_author {
                    let text = short_text(tree, node);
                    let name =
                        text.strip_prefix("By ").or(text.strip_prefix("by ")).unwrap_or(&text);
                    self.author = Some(name.trim().to_owned()).filter(|name| is_name(name));
                }
            }
            _ => {}
        }
    }
}

fn is_byline(class: &str) -> bool {
    class.split_whitespace().any(|class| {
        matches!(
            class,
            "author-name" | "author__name" | "byline-name" | "byline" | "p-author" | "authorName"
        )
    })
}

/// The text below an element on one line; nothing if it is long.
fn short_text(tree: &Tree, node: Id) -> String {
    let mut text = String::new();
    let mut open = vec![node];
    while let Some(node) = open.pop() {
        if let Some(piece) = tree.text(node) {
            text.push_str(piece);
            text.push(' ');
        }
        if text.len() > 4 * LONGEST_NAME {
            return String::new();
        }
        if !matches!(
            *tree.name(node),
            local_name!("script") | local_name!("style") | local_name!("svg")
        ) {
            open.extend(tree.children_from_last(node));
        }
    }
    on_one_line(&text)
}

fn is_name(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty()
        && text.len() <= LONGEST_NAME
        && !text.contains("://")
        && !text.starts_with('@')
        && text.chars().any(char::is_alphabetic)
}

fn authors(data: &LinkedData) -> Option<String> {
    data.content().find_map(|object| {
        let names: Vec<String> = values(object.get("author"))
            .filter_map(|author| match author.as_object() {
                Some(author) => string(author, "name"),
                None => author.as_str().map(str::to_owned),
            })
            .filter(|name| is_name(name))
            .take(20)
            .collect();
        Some(names.join(", ")).filter(|names| !names.is_empty())
    })
}

/// A tag such as `de` or `pt-BR`; Open Graph writes `pt_BR`.
fn language(tag: &str) -> Option<String> {
    let tag = tag.split([',', ';']).next().unwrap_or_default().trim().replace('_', "-");
    let fits = tag.len() <= 35
        && tag.split('-').next().is_some_and(|first| matches!(first.len(), 2 | 3))
        && tag.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    fits.then_some(tag)
}

fn absolute(target: &str, base: Option<&Url>) -> Option<String> {
    let url = match base {
        Some(base) => base.join(target),
        None => Url::parse(target),
    };
    url.ok().filter(|url| matches!(url.scheme(), "http" | "https")).map(String::from)
}
