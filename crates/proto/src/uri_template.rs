//! Matches URIs against templates (RFC 6570, as far as it can be done without the variables).

/// A template, parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriTemplate(Vec<Part>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    /// `{name}`: something within one segment.
    Segment,
    /// `{+name}`, `{/names*}`, `{?query}`: anything, also nothing.
    Anything,
}

/// More parts than this are not looked at.
const MAX_PARTS: usize = 64;

/// A longer URI is of no template; a caller chooses its length.
const MAX_URI: usize = 8 * 1024;

impl UriTemplate {
    /// Parses a template; none if it is malformed or has too many parts.
    pub fn new(text: &str) -> Option<Self> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let (variable, after) = after.split_once('}')?;
            if !before.is_empty() {
                parts.push(Part::Literal(before.to_owned()));
            }
            let broad = variable.starts_with(['+', '#', '.', '/', ';', '?', '&'])
                || variable.ends_with('*')
                || variable.contains(',');
            parts.push(if broad { Part::Anything } else { Part::Segment });
            rest = after;
        }
        if !rest.is_empty() {
            parts.push(Part::Literal(rest.to_owned()));
        }
        (parts.len() <= MAX_PARTS).then_some(Self(parts))
    }

    /// Whether a URI can be of this template. Never exponential: each part moves a set of places.
    pub fn matches(&self, uri: &str) -> bool {
        let bytes = uri.as_bytes();
        if bytes.len() > MAX_URI {
            return false;
        }
        let mut places = vec![false; bytes.len() + 1];
        places[0] = true;
        for part in &self.0 {
            let mut next = vec![false; bytes.len() + 1];
            match part {
                Part::Literal(text) => {
                    for at in (0..=bytes.len()).filter(|at| places[*at]) {
                        if bytes[at..].starts_with(text.as_bytes()) {
                            next[at + text.len()] = true;
                        }
                    }
                }
                Part::Anything => {
                    if let Some(first) = places.iter().position(|place| *place) {
                        next[first..].fill(true);
                    }
                }
                Part::Segment => {
                    let mut open = false;
                    for at in 0..bytes.len() {
                        open = (open || places[at]) && !matches!(bytes[at], b'/' | b'?' | b'#');
                        next[at + 1] = open;
                    }
                }
            }
            places = next;
        }
        places[bytes.len()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(template: &str, uri: &str) -> bool {
        UriTemplate::new(template).is_some_and(|template| template.matches(uri))
    }

    #[test]
    fn a_variable_stays_within_its_segment() {
        assert!(matches("test://template/{id}/data", "test://template/5/data"));
        assert!(!matches("test://template/{id}/data", "test://template//data"));
        assert!(!matches("test://template/{id}/data", "test://template/5/6/data"));
        assert!(!matches("test://template/{id}/data", "test://template/5/data/x"));
        assert!(matches("a://{x}-{y}", "a://1-2-3"));
    }

    #[test]
    fn paths_and_queries_are_taken_whole() {
        assert!(matches("file:///{path*}", "file:///a/b/c"));
        assert!(matches("file:///{+path}", "file:///a/b/c"));
        assert!(matches("q://s{?term,page}", "q://s"));
        assert!(matches("q://s{?term,page}", "q://s?term=a&page=2"));
    }

    #[test]
    fn broken_and_hostile_templates_cost_little() {
        assert!(UriTemplate::new("a://{x").is_none());
        assert!(UriTemplate::new(&"{a}".repeat(65)).is_none());
        let hostile = "{+a}x".repeat(32);
        assert!(!matches(&hostile, &"x".repeat(31)));
        assert!(matches(&hostile, &"x".repeat(5_000)));
        assert!(!matches("é{x}", "è1"));
    }
}
