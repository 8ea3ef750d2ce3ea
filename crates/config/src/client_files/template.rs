//! Variables in the values of client files.

use std::path::Path;

/// A part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    /// An environment variable.
    Variable {
        name: String,
        default: Option<String>,
    },
    /// A value that the client asks its user for.
    Input(String),
}

/// The values of variables that are not in the environment.
#[derive(Clone, Debug)]
pub(super) struct Places<'a> {
    pub(super) home: Option<&'a str>,
    pub(super) workspace: &'a Path,
}

/// Splits a value at its variables.
pub(super) fn parse(value: &str, places: &Places<'_>) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    if let Some((before, name)) = bare_variable(value) {
        push_text(&mut parts, before);
        parts.push(Part::Variable { name: name.to_owned(), default: None });
        return Ok(parts);
    }
    let mut rest = value;
    while let Some(start) = next_start(rest) {
        push_text(&mut parts, &rest[..start]);
        let open = rest[start..].find('{').map_or(start, |open| start + open + 1);
        let Some(length) = closing(&rest[open..]) else {
            push_text(&mut parts, &rest[start..]);
            return Ok(parts);
        };
        match variable(&rest[open..open + length], places)? {
            Part::Text(text) => push_text(&mut parts, &text),
            part => parts.push(part),
        }
        rest = &rest[open + length + 1..];
    }
    push_text(&mut parts, rest);
    Ok(parts)
}

/// Where `${…}` or `{env:…}` begins.
fn next_start(text: &str) -> Option<usize> {
    let dollar = text.find("${");
    let braces = text.find("{env:").filter(|at| !text[..*at].ends_with('$'));
    dollar.into_iter().chain(braces).min()
}

/// The length of the text before the brace that closes a variable; a default may contain braces.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return Some(at),
            '}' => depth -= 1,
            _ => {}
        }
    }
    None
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(Part::Text(before)) => before.push_str(text),
        _ => parts.push(Part::Text(text.to_owned())),
    }
}

/// `$NAME`, alone or behind one word such as `Bearer`, as Gemini writes it.
fn bare_variable(value: &str) -> Option<(&str, &str)> {
    let (before, name) = value.split_once('$')?;
    let word = before.is_empty() || before.trim_end().chars().all(|c| c.is_ascii_alphabetic());
    let begins = name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
    let fits = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    (word && begins && name.len() > 1 && name.chars().all(fits)).then_some((before, name))
}

fn variable(inner: &str, places: &Places<'_>) -> Result<Part, String> {
    let text = |text: &str| Ok(Part::Text(text.to_owned()));
    if let Some(id) = inner.strip_prefix("input:") {
        return Ok(Part::Input(id.trim().to_owned()));
    }
    match inner {
        "HOME" | "userHome" | "env:HOME" => {
            return places.home.map_or_else(|| Err("HOME is not set".to_owned()), text);
        }
        "workspaceFolder" | "workspaceRoot" | "cwd" | "CLAUDE_PROJECT_DIR" => {
            return text(&places.workspace.to_string_lossy());
        }
        "workspaceFolderBasename" => {
            return text(&places.workspace.file_name().unwrap_or_default().to_string_lossy());
        }
        "pathSeparator" | "/" => return text(std::path::MAIN_SEPARATOR_STR),
        _ => {}
    }
    let inner_name = inner.strip_prefix("env:").unwrap_or(inner);
    let (name, default) = match inner_name.split_once(":-") {
        Some((name, default)) => (name, Some(default.to_owned())),
        None => (inner_name, None),
    };
    let begins = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if begins && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Ok(Part::Variable { name: name.to_owned(), default });
    }
    Err(format!("`${{{inner}}}` is a variable of the client that cannot be resolved here"))
}

#[cfg(test)]
mod tests;
