//! The style sheets of a page.

use std::borrow::Cow;
use std::collections::HashMap;

use super::Declarations;
use super::clean::clean;

/// Rules longer than this are left out: hiding takes a few, and a page may bring megabytes.
const RULES: usize = 20_000;

/// A rule: its place among all, the tag that it is limited to, and its declarations.
#[derive(Debug)]
struct Rule {
    place: usize,
    tag: String,
    declarations: Declarations,
}

/// The style sheets of a page, as far as they name elements by tag, class or id.
#[derive(Debug, Default)]
pub(in crate::html) struct Sheet {
    tags: HashMap<String, Declarations>,
    classes: HashMap<String, Vec<Rule>>,
    ids: HashMap<String, Declarations>,
    count: usize,
}

impl Sheet {
    pub(in crate::html) fn add(&mut self, css: &str) {
        let css = clean(css);
        let mut rest = css.as_ref();
        while let Some(open) = rest.find('{') {
            let selectors = selectors(&rest[..open]);
            let body = &rest[open + 1..];
            let end = end_of_block(body);
            // Rules under a condition are left out: other media may hide what a screen shows.
            if !selectors.starts_with('@') && self.count < RULES {
                self.rule(selectors, &body[..end]);
            }
            rest = body.get(end + 1..).unwrap_or_default();
        }
    }

    fn rule(&mut self, selectors: &str, body: &str) {
        let simple = |selector: &&str| {
            let mut bytes = selector.bytes();
            bytes.all(|c| c.is_ascii_alphanumeric() || c >= 0x80 || b"-_.#".contains(&c))
        };
        let mut declarations = None;
        for selector in selectors.split(',').map(str::trim).filter(simple) {
            let declarations = *declarations.get_or_insert_with(|| Declarations::parse_clean(body));
            if declarations.is_empty() || selector.is_empty() || self.count >= RULES {
                return;
            }
            self.count += 1;
            let selector = selector.to_ascii_lowercase();
            match selector.find(['.', '#']) {
                None => self.tags.entry(selector).or_default().extend(&declarations),
                Some(at) => {
                    let (tag, name) = (&selector[..at], &selector[at + 1..]);
                    // Compound selectors are left out: they would need all their parts.
                    if name.contains(['.', '#']) {
                        continue;
                    }
                    if selector.as_bytes()[at] == b'#' {
                        self.ids.entry(name.to_owned()).or_default().extend(&declarations);
                    } else {
                        let rule = Rule { place: self.count, tag: tag.to_owned(), declarations };
                        self.classes.entry(name.to_owned()).or_default().push(rule);
                    }
                }
            }
        }
    }

    /// The style of an element: by tag, then class, then id; later rules override earlier ones.
    pub(in crate::html) fn of(&self, tag: &str, classes: &str, id: &str) -> Declarations {
        let mut all = self.tags.get(tag).copied().unwrap_or_default();
        if !self.classes.is_empty() && !classes.is_empty() {
            let mut named: Vec<&Rule> = Vec::new();
            let lowered = ascii_lowercase(classes);
            for class in lowered.split_whitespace() {
                let rules = self.classes.get(class).into_iter().flatten();
                named.extend(rules.filter(|rule| rule.tag.is_empty() || rule.tag == tag));
            }
            named.sort_by_key(|rule| rule.place);
            for rule in named {
                all.extend(&rule.declarations);
            }
        }
        if !self.ids.is_empty()
            && !id.is_empty()
            && let Some(declarations) = self.ids.get(ascii_lowercase(id).as_ref())
        {
            all.extend(declarations);
        }
        all
    }
}

/// The selectors before a block, without statements such as `@import …;` and the marks of HTML comments, which browsers ignore.
fn selectors(mut text: &str) -> &str {
    loop {
        text = text.trim();
        let statement = || text.strip_prefix('@')?.split_once(';').map(|(_, rest)| rest);
        let mark = || text.strip_prefix("<!--").or_else(|| text.strip_prefix("-->"));
        match mark().or_else(statement) {
            Some(rest) => text = rest,
            None => return text,
        }
    }
}

fn ascii_lowercase(text: &str) -> Cow<'_, str> {
    if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}

fn end_of_block(body: &str) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in body.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' if depth == 0 => return at,
            b'}' => depth -= 1,
            _ => {}
        }
    }
    body.len()
}
