//! Reads TOML as Codex writes its configuration: tables, dotted keys, strings, numbers, booleans, arrays and inline
//! tables. Dates are read as text.

use serde_json::{Map, Number, Value};

/// How deep values may be nested.
const MAX_DEPTH: usize = 32;

/// Why a text is not TOML.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub(crate) struct TomlError {
    line: usize,
    message: &'static str,
}

/// Reads a document.
pub(crate) fn parse(text: &str) -> Result<Value, TomlError> {
    let mut reader = Reader { text, at: text.len() - text.trim_start_matches('\u{feff}').len() };
    let mut root = Map::new();
    let mut table: Vec<String> = Vec::new();
    loop {
        reader.skip_lines();
        match reader.peek() {
            None => return Ok(Value::Object(root)),
            Some('[') => {
                let list = reader.text[reader.at..].starts_with("[[");
                reader.at += if list { 2 } else { 1 };
                table = reader.key()?;
                for _ in 0..if list { 2 } else { 1 } {
                    reader.expect(']', "a table header ends with `]`")?;
                }
                reader.end_of_line()?;
                // An array of tables keeps its last table only: no client writes servers that way.
                let place = reader.table(&mut root, &table)?;
                if list {
                    place.clear();
                }
            }
            Some(_) => {
                let key = reader.key()?;
                reader.expect('=', "a key is followed by `=`")?;
                let value = reader.value(0)?;
                reader.end_of_line()?;
                let path: Vec<_> = table.iter().chain(&key).cloned().collect();
                reader.insert(&mut root, &path, value)?;
            }
        }
    }
}

/// The header line's path of `[a.b]`; none if the line is not a table header.
pub(crate) fn header(line: &str) -> Option<Vec<String>> {
    let line = line.trim_start();
    let text = line.strip_prefix('[')?;
    let mut reader = Reader { text: text.strip_prefix('[').unwrap_or(text), at: 0 };
    reader.key().ok()
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn error(&self, message: &'static str) -> TomlError {
        TomlError { line: self.text[..self.at].matches('\n').count() + 1, message }
    }

    fn skip_while(&mut self, skips: impl Fn(char) -> bool) {
        let rest = &self.text[self.at..];
        self.at += rest.find(|c| !skips(c)).unwrap_or(rest.len());
    }

    fn skip_space(&mut self) {
        self.skip_while(|c| matches!(c, ' ' | '\t'));
    }

    /// Skips white space, line ends and comments.
    fn skip_lines(&mut self) {
        loop {
            self.skip_while(char::is_whitespace);
            if self.peek() != Some('#') {
                return;
            }
            self.skip_while(|c| c != '\n');
        }
    }

    fn expect(&mut self, expected: char, message: &'static str) -> Result<(), TomlError> {
        self.skip_space();
        if self.peek() != Some(expected) {
            return Err(self.error(message));
        }
        self.at += expected.len_utf8();
        Ok(())
    }

    fn end_of_line(&mut self) -> Result<(), TomlError> {
        self.skip_space();
        match self.peek() {
            None | Some('\n' | '\r') => Ok(()),
            Some('#') => {
                self.skip_while(|c| c != '\n');
                Ok(())
            }
            Some(_) => Err(self.error("more text after a value")),
        }
    }

    /// A dotted key.
    fn key(&mut self) -> Result<Vec<String>, TomlError> {
        let mut path = Vec::new();
        loop {
            self.skip_space();
            let part = match self.peek() {
                Some('"' | '\'') => self.string()?,
                _ => {
                    let start = self.at;
                    self.skip_while(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
                    self.text[start..self.at].to_owned()
                }
            };
            if part.is_empty() {
                return Err(self.error("a key is missing"));
            }
            path.push(part);
            self.skip_space();
            if self.peek() != Some('.') {
                return Ok(path);
            }
            self.at += 1;
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, TomlError> {
        if depth > MAX_DEPTH {
            return Err(self.error("a value is nested too deeply"));
        }
        self.skip_space();
        match self.peek() {
            Some('"' | '\'') => self.string().map(Value::String),
            Some('[') => {
                self.at += 1;
                let mut items = Vec::new();
                loop {
                    self.skip_lines();
                    if self.peek() == Some(']') {
                        self.at += 1;
                        return Ok(Value::Array(items));
                    }
                    items.push(self.value(depth + 1)?);
                    self.skip_lines();
                    match self.peek() {
                        Some(',') => self.at += 1,
                        Some(']') => {}
                        _ => return Err(self.error("items of a list are separated by `,`")),
                    }
                }
            }
            Some('{') => {
                self.at += 1;
                let mut map = Map::new();
                loop {
                    self.skip_lines();
                    if self.peek() == Some('}') {
                        self.at += 1;
                        return Ok(Value::Object(map));
                    }
                    let key = self.key()?;
                    self.expect('=', "a key is followed by `=`")?;
                    let value = self.value(depth + 1)?;
                    self.insert(&mut map, &key, value)?;
                    self.skip_lines();
                    match self.peek() {
                        Some(',') => self.at += 1,
                        Some('}') => {}
                        _ => return Err(self.error("keys of an inline table are separated by `,`")),
                    }
                }
            }
            _ => {
                let start = self.at;
                self.skip_while(|c| {
                    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+' | '.' | ':')
                });
                let word = &self.text[start..self.at];
                match word {
                    "" => Err(self.error("a value is missing")),
                    "true" => Ok(Value::Bool(true)),
                    "false" => Ok(Value::Bool(false)),
                    word => Ok(number(word).unwrap_or_else(|| Value::String(word.to_owned()))),
                }
            }
        }
    }

    fn string(&mut self) -> Result<String, TomlError> {
        let quote = self.peek().unwrap_or('"');
        let long = if quote == '"' { "\"\"\"" } else { "'''" };
        let rest = &self.text[self.at..];
        if rest.starts_with(long) {
            self.at += 3;
            self.skip_while(|c| c == '\r');
            if self.peek() == Some('\n') {
                self.at += 1;
            }
            let length = self.text[self.at..].find(long);
            let length = length.ok_or_else(|| self.error("a string is not closed"))?;
            let body = &self.text[self.at..self.at + length];
            self.at += length + 3;
            return if quote == '"' { self.unescape(body) } else { Ok(body.to_owned()) };
        }
        self.at += 1;
        let start = self.at;
        while let Some(c) = self.peek() {
            if c == '\n' {
                break;
            }
            self.at += c.len_utf8();
            if c == '\\' && quote == '"' {
                self.at += self.peek().map_or(0, char::len_utf8);
            } else if c == quote {
                let body = &self.text[start..self.at - 1];
                return if quote == '"' { self.unescape(body) } else { Ok(body.to_owned()) };
            }
        }
        Err(self.error("a string is not closed"))
    }

    fn unescape(&self, body: &str) -> Result<String, TomlError> {
        let mut text = String::with_capacity(body.len());
        let mut chars = body.chars();
        while let Some(c) = chars.next() {
            if c != '\\' {
                text.push(c);
                continue;
            }
            let digits = match chars.next() {
                Some('b') => Err('\u{8}'),
                Some('t') => Err('\t'),
                Some('n') => Err('\n'),
                Some('f') => Err('\u{c}'),
                Some('r') => Err('\r'),
                Some(c @ ('"' | '\\')) => Err(c),
                Some('u') => Ok(4),
                Some('U') => Ok(8),
                Some('\n') => {
                    // A line that ends with a backslash continues at the next text.
                    let rest = chars.as_str().trim_start();
                    chars = rest.chars();
                    continue;
                }
                _ => return Err(self.error("a string has an unknown escape")),
            };
            match digits {
                Err(c) => text.push(c),
                Ok(count) => {
                    let hex: String = chars.by_ref().take(count).collect();
                    let code = u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32);
                    text.push(code.ok_or_else(|| self.error("a string has an unknown escape"))?);
                }
            }
        }
        Ok(text)
    }

    /// The table at a path, made if it is missing.
    fn table<'m>(
        &self,
        root: &'m mut Map<String, Value>,
        path: &[String],
    ) -> Result<&'m mut Map<String, Value>, TomlError> {
        let mut table = root;
        for key in path {
            let below = table.entry(key.clone()).or_insert_with(|| Value::Object(Map::new()));
            table = match below {
                Value::Object(below) => below,
                _ => return Err(self.error("a key is set twice")),
            };
        }
        Ok(table)
    }

    fn insert(
        &self,
        root: &mut Map<String, Value>,
        path: &[String],
        value: Value,
    ) -> Result<(), TomlError> {
        let Some((key, above)) = path.split_last() else { return Ok(()) };
        match self.table(root, above)?.insert(key.clone(), value) {
            None => Ok(()),
            Some(_) => Err(self.error("a key is set twice")),
        }
    }
}

fn number(word: &str) -> Option<Value> {
    let plain = word.replace('_', "");
    let whole = plain.trim_start_matches('+').parse::<i64>().ok().map(Number::from);
    let number = whole.or_else(|| plain.parse::<f64>().ok().and_then(Number::from_f64));
    number.map(Value::Number)
}

#[cfg(test)]
mod tests;
