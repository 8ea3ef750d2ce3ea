//! The `.env` file next to the config: `NAME=value` lines, for values that the process environment does not set.

use std::collections::BTreeMap;

/// The file's name.
pub(crate) const FILE_NAME: &str = ".env";

/// A larger file is not read.
pub(crate) const MAX_BYTES: u64 = 256 * 1024;

/// Settings of the gateway come from the process environment.
const RESERVED: &str = "POWERSTRIP_";

/// What a file sets, and the lines that cannot be used. Messages never repeat a line, which may hold a secret.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Parsed {
    pub(crate) variables: BTreeMap<String, String>,
    pub(crate) faults: Vec<(usize, String)>,
}

pub(crate) fn parse(text: &str) -> Parsed {
    let mut parsed = Parsed::default();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().enumerate();
    while let Some((index, line)) = lines.next() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut fault = |why: &str| parsed.faults.push((index + 1, why.to_owned()));
        let assignment = line.strip_prefix("export ").unwrap_or(line);
        let Some((name, value)) = assignment.split_once('=') else {
            fault("is not `NAME=value`; the line is ignored");
            continue;
        };
        let name = name.trim();
        if !is_name(name) {
            fault("does not begin with the name of a variable; the line is ignored");
            continue;
        }
        if name.starts_with(RESERVED) {
            let why = format!("`{name}` is not read from `.env`: set it in the environment");
            fault(&why);
            continue;
        }
        let value = value.trim();
        let read = match value.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                // A quoted value may go on over several lines.
                let mut whole = value[1..].to_owned();
                let mut end = closing(&whole, quote);
                while end.is_none() {
                    let Some((_, next)) = lines.next() else { break };
                    whole.push('\n');
                    whole.push_str(next);
                    end = closing(&whole, quote);
                }
                end.map(|end| {
                    if quote == '"' { unescape(&whole[..end]) } else { whole[..end].to_owned() }
                })
            }
            _ => {
                let end = value.find(" #").or_else(|| value.find("\t#")).unwrap_or(value.len());
                Some(value[..end].trim_end().to_owned())
            }
        };
        match read {
            Some(value) => drop(parsed.variables.insert(name.to_owned(), value)),
            None => fault("has a quote that is not closed; the rest of the file is ignored"),
        }
    }
    parsed
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Where the quote is closed.
fn closing(text: &str, quote: char) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quote == '"' => escaped = true,
            c if c == quote => return Some(at),
            _ => {}
        }
    }
    None
}

fn unescape(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        if c != '\\' {
            clean.push(c);
            continue;
        }
        match characters.next() {
            Some('n') => clean.push('\n'),
            Some('r') => clean.push('\r'),
            Some('t') => clean.push('\t'),
            Some(other @ ('"' | '\\' | '$')) => clean.push(other),
            Some(other) => clean.extend(['\\', other]),
            None => clean.push('\\'),
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_read_as_other_programs_read_them() {
        let parsed = parse(
            "\u{feff}# a comment\nA=1\nexport B = two words # why\nC='a # b'\nD=\"x\\n\\\"y\\\" $E\"\nE=\nF=a#b\r\n\
             G=\"-----BEGIN\nmiddle\n-----END\"\nH=${A}\n",
        );
        let expected = [
            ("A", "1"),
            ("B", "two words"),
            ("C", "a # b"),
            ("D", "x\n\"y\" $E"),
            ("E", ""),
            ("F", "a#b"),
            ("G", "-----BEGIN\nmiddle\n-----END"),
            ("H", "${A}"),
        ];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(parsed.variables, expected.into());
        assert_eq!(parsed.faults, []);
    }

    #[test]
    fn bad_lines_are_named_and_not_repeated() {
        let parsed = parse("canary-secret\n1X=canary\nPOWERSTRIP_KEY=canary\nOK=1\nQ=\"canary\n");
        assert_eq!(parsed.variables, [("OK".to_owned(), "1".to_owned())].into());
        let lines: Vec<_> = parsed.faults.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 2, 3, 5]);
        for (_, why) in &parsed.faults {
            assert!(!why.contains("canary"), "{why}");
        }
    }
}
