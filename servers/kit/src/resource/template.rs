//! Simple URI templates such as `scheme://items/{id}/data`; each variable is one path segment.

use std::collections::BTreeMap;

/// Alternating literals and variables, a literal first and last (possibly empty).
pub(super) struct UriTemplate {
    literals: Vec<String>,
    variables: Vec<String>,
}

impl UriTemplate {
    /// Refuses operators (`{+path}`, `{?query}`), unnamed or repeated variables, and two variables without a literal between.
    pub(super) fn parse(template: &str) -> Option<Self> {
        let mut literals = Vec::new();
        let mut variables: Vec<String> = Vec::new();
        let mut rest = template;
        while let Some((literal, after)) = rest.split_once('{') {
            let (name, tail) = after.split_once('}')?;
            let named = !name.is_empty()
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            if !named || literal.contains('}') || variables.iter().any(|known| known == name) {
                return None;
            }
            if literal.is_empty() && !variables.is_empty() {
                return None;
            }
            literals.push(literal.to_owned());
            variables.push(name.to_owned());
            rest = tail;
        }
        if rest.contains('}') || variables.is_empty() {
            return None;
        }
        literals.push(rest.to_owned());
        Some(Self { literals, variables })
    }

    /// The variables' values if `uri` fits; a value is never empty and never spans a `/`.
    pub(super) fn matches(&self, uri: &str) -> Option<BTreeMap<String, String>> {
        let mut rest = uri.strip_prefix(self.literals[0].as_str())?;
        let mut values = BTreeMap::new();
        for (name, literal) in self.variables.iter().zip(&self.literals[1..]) {
            let segment = rest.find('/').unwrap_or(rest.len());
            let end = if literal.is_empty() { segment } else { rest.find(literal.as_str())? };
            if end == 0 || end > segment {
                return None;
            }
            values.insert(name.clone(), rest[..end].to_owned());
            rest = &rest[end + literal.len()..];
        }
        rest.is_empty().then_some(values)
    }
}
