//! The grammar of RFC 9535, by recursive descent.

use serde_json::Value;

use super::{Comparison, Operand, PathFault, Query, Segment, Selector, Test, is_singular};

/// How deep filters and parentheses may be nested; parsing and running recurse.
const MAX_NESTING: usize = 32;

/// The number of segments in one query, those in filters included; running recurses per segment.
const MAX_SEGMENTS: usize = 256;

/// Integers beyond this are not exact in all JSON parsers.
const MAX_INTEGER: i64 = (1 << 53) - 1;

pub(super) fn parse(text: &str) -> Result<Vec<Segment>, PathFault> {
    let mut parser = Parser { text, at: 0, nesting: 0, segments: 0 };
    if !parser.take("$") {
        return Err(parser.fault("a query begins with `$`"));
    }
    let segments = parser.segments()?;
    match parser.peek() {
        None => Ok(segments),
        Some(_) => Err(parser.fault("expected `.`, `..` or `[`")),
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    nesting: usize,
    segments: usize,
}

impl<'t> Parser<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), PathFault> {
        if self.take(token) { Ok(()) } else { Err(self.fault(&format!("expected `{token}`"))) }
    }

    fn skip_blanks(&mut self) {
        self.at += self.rest().bytes().take_while(|byte| b" \t\n\r".contains(byte)).count();
    }

    fn fault(&self, message: &str) -> PathFault {
        PathFault { position: self.at + 1, message: message.to_owned() }
    }

    fn enter(&mut self) -> Result<(), PathFault> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(self.fault(&format!("nested deeper than {MAX_NESTING} levels")));
        }
        Ok(())
    }

    /// Segments until none follows. Blanks may stand before each of them.
    fn segments(&mut self) -> Result<Vec<Segment>, PathFault> {
        let mut segments = Vec::new();
        loop {
            let before = self.at;
            self.skip_blanks();
            let segment = if self.take("..") {
                Segment { descendants: true, selectors: self.after_dots()? }
            } else if self.take(".") {
                Segment { descendants: false, selectors: vec![self.shorthand()?] }
            } else if self.peek() == Some('[') {
                Segment { descendants: false, selectors: self.brackets()? }
            } else {
                self.at = before;
                return Ok(segments);
            };
            self.segments += 1;
            if self.segments > MAX_SEGMENTS {
                return Err(self.fault(&format!("more than {MAX_SEGMENTS} segments")));
            }
            segments.push(segment);
        }
    }

    fn after_dots(&mut self) -> Result<Vec<Selector>, PathFault> {
        if self.peek() == Some('[') { self.brackets() } else { Ok(vec![self.shorthand()?]) }
    }

    /// `*` or a name without quotes.
    fn shorthand(&mut self) -> Result<Selector, PathFault> {
        if self.take("*") {
            return Ok(Selector::Wildcard);
        }
        let rest = self.rest();
        let is_first = |c: char| c.is_ascii_alphabetic() || c == '_' || !c.is_ascii();
        let end = rest.find(|c: char| !(is_first(c) || c.is_ascii_digit())).unwrap_or(rest.len());
        if !rest.starts_with(is_first) {
            return Err(self.fault("expected a name or `*`"));
        }
        self.at += end;
        Ok(Selector::Name(rest[..end].to_owned()))
    }

    fn brackets(&mut self) -> Result<Vec<Selector>, PathFault> {
        self.expect("[")?;
        let mut selectors = Vec::new();
        loop {
            self.skip_blanks();
            selectors.push(self.selector()?);
            self.skip_blanks();
            if self.take("]") {
                return Ok(selectors);
            }
            if !self.take(",") {
                return Err(self.fault("expected `,` or `]`"));
            }
        }
    }

    fn selector(&mut self) -> Result<Selector, PathFault> {
        match self.peek() {
            Some('*') => self.shorthand(),
            Some('\'' | '"') => self.string().map(Selector::Name),
            Some('?') => {
                self.at += 1;
                self.enter()?;
                self.skip_blanks();
                let test = self.either()?;
                self.nesting -= 1;
                Ok(Selector::Filter(test))
            }
            Some('-' | '0'..='9' | ':') => self.index_or_slice(),
            _ => Err(self.fault("expected a name in quotes, an index, a slice, `*` or `?`")),
        }
    }

    fn index_or_slice(&mut self) -> Result<Selector, PathFault> {
        let start = self.optional_integer()?;
        let after = self.at;
        self.skip_blanks();
        if !self.take(":") {
            self.at = after;
            return start.map(Selector::Index).ok_or_else(|| self.fault("expected an index"));
        }
        self.skip_blanks();
        let end = self.optional_integer()?;
        self.skip_blanks();
        let mut step = None;
        if self.take(":") {
            self.skip_blanks();
            step = self.optional_integer()?;
        }
        Ok(Selector::Slice { start, end, step: step.unwrap_or(1) })
    }

    fn optional_integer(&mut self) -> Result<Option<i64>, PathFault> {
        let rest = self.rest();
        let digits = rest.strip_prefix('-').unwrap_or(rest);
        let length = digits.bytes().take_while(u8::is_ascii_digit).count();
        let text = &rest[..rest.len() - digits.len() + length];
        if text.is_empty() {
            return Ok(None);
        }
        let canonical = !text.starts_with("-0") && (text == "0" || !text.starts_with('0'));
        let value = text.parse().ok().filter(|value: &i64| value.abs() <= MAX_INTEGER);
        let Some(value) = value.filter(|_| canonical) else {
            return Err(self.fault(&format!("`{text}` is not an index")));
        };
        self.at += text.len();
        Ok(Some(value))
    }

    /// A text in single or double quotes.
    fn string(&mut self) -> Result<String, PathFault> {
        let quote = self.peek().unwrap_or('"');
        self.at += 1;
        let mut text = String::new();
        loop {
            let Some(next) = self.peek() else { return Err(self.fault("the quote is not closed")) };
            match next {
                '\\' => text.push(self.escape(quote)?),
                '\0'..='\x1f' => return Err(self.fault("a control character must be escaped")),
                next => {
                    self.at += next.len_utf8();
                    if next == quote {
                        return Ok(text);
                    }
                    text.push(next);
                }
            }
        }
    }

    fn escape(&mut self, quote: char) -> Result<char, PathFault> {
        let start = self.at;
        self.at += 1;
        let next = self.peek();
        self.at += next.map_or(0, char::len_utf8);
        let escaped = match next {
            Some('b') => Some('\x08'),
            Some('f') => Some('\x0c'),
            Some('n') => Some('\n'),
            Some('r') => Some('\r'),
            Some('t') => Some('\t'),
            Some(c @ ('/' | '\\')) => Some(c),
            Some(c) if c == quote => Some(c),
            Some('u') => self.code_point(),
            _ => None,
        };
        escaped.ok_or_else(|| {
            self.at = start;
            self.fault("not an escape sequence")
        })
    }

    /// The digits after `\u`; a high surrogate needs a low one after it.
    fn code_point(&mut self) -> Option<char> {
        let first = self.four_digits()?;
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first);
        }
        let low = if self.take("\\u") { self.four_digits()? } else { return None };
        if !(0xDC00..0xE000).contains(&low) {
            return None;
        }
        char::from_u32(0x10000 + ((first - 0xD800) << 10) + (low - 0xDC00))
    }

    fn four_digits(&mut self) -> Option<u32> {
        let digits = self.rest().get(..4)?;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        self.at += 4;
        u32::from_str_radix(digits, 16).ok()
    }

    fn either(&mut self) -> Result<Test, PathFault> {
        self.list("||", Self::both).map(|tests| one_or(tests, Test::Or))
    }

    fn both(&mut self) -> Result<Test, PathFault> {
        self.list("&&", Self::basic).map(|tests| one_or(tests, Test::And))
    }

    fn list(
        &mut self,
        separator: &str,
        item: fn(&mut Self) -> Result<Test, PathFault>,
    ) -> Result<Vec<Test>, PathFault> {
        let mut tests = vec![item(self)?];
        loop {
            let before = self.at;
            self.skip_blanks();
            if !self.take(separator) {
                self.at = before;
                return Ok(tests);
            }
            self.skip_blanks();
            tests.push(item(self)?);
        }
    }

    fn basic(&mut self) -> Result<Test, PathFault> {
        let negated = self.take("!");
        if negated {
            self.skip_blanks();
        }
        let test = if self.take("(") {
            self.enter()?;
            self.skip_blanks();
            let test = self.either()?;
            self.skip_blanks();
            self.expect(")")?;
            self.nesting -= 1;
            test
        } else {
            self.test_or_comparison(negated)?
        };
        Ok(if negated { Test::Not(Box::new(test)) } else { test })
    }

    fn test_or_comparison(&mut self, negated: bool) -> Result<Test, PathFault> {
        let start = self.at;
        for (name, whole) in [("match(", true), ("search(", false)] {
            if self.take(name) {
                return self.matching(whole);
            }
        }
        let left = match self.peek() {
            Some('$' | '@') => {
                let query = self.query()?;
                if !self.comparison_follows() {
                    return Ok(Test::Exists(query));
                }
                self.singular(query)?
            }
            _ => self.operand()?,
        };
        if negated {
            self.at = start;
            return Err(self.fault("a comparison is negated as `!(…)`"));
        }
        self.skip_blanks();
        let comparison = self.comparison()?;
        self.skip_blanks();
        Ok(Test::Compare(left, comparison, self.operand()?))
    }

    fn comparison_follows(&mut self) -> bool {
        let rest = self.rest().trim_start_matches([' ', '\t', '\n', '\r']);
        ["==", "!=", "<", ">"].iter().any(|sign| rest.starts_with(sign))
    }

    fn comparison(&mut self) -> Result<Comparison, PathFault> {
        let signs = [
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        let found = signs.into_iter().find(|(sign, _)| self.take(sign));
        found.map(|(_, comparison)| comparison).ok_or_else(|| self.fault("expected a comparison"))
    }

    fn matching(&mut self, whole: bool) -> Result<Test, PathFault> {
        self.skip_blanks();
        let text = self.operand()?;
        self.skip_blanks();
        self.expect(",")?;
        self.skip_blanks();
        let pattern = self.operand()?;
        self.skip_blanks();
        self.expect(")")?;
        Ok(Test::Matches { text, pattern, whole })
    }

    fn query(&mut self) -> Result<Query, PathFault> {
        let from_root = self.take("$");
        if !from_root {
            self.expect("@")?;
        }
        Ok(Query { from_root, segments: self.segments()? })
    }

    fn singular(&self, query: Query) -> Result<Operand, PathFault> {
        if is_singular(&query.segments) {
            Ok(Operand::Query(query))
        } else {
            Err(self.fault("only a query of names and indices has a value to compare"))
        }
    }

    fn operand(&mut self) -> Result<Operand, PathFault> {
        for (name, function) in
            [("count(", Operand::Count as fn(Query) -> Operand), ("value(", Operand::Value)]
        {
            if self.take(name) {
                self.skip_blanks();
                let query = self.query()?;
                self.skip_blanks();
                self.expect(")")?;
                return Ok(function(query));
            }
        }
        if self.take("length(") {
            self.enter()?;
            self.skip_blanks();
            let of = self.operand()?;
            self.skip_blanks();
            self.expect(")")?;
            self.nesting -= 1;
            return Ok(Operand::Length(Box::new(of)));
        }
        match self.peek() {
            Some('$' | '@') => {
                let query = self.query()?;
                self.singular(query)
            }
            Some('\'' | '"') => self.string().map(|text| Operand::Literal(Value::String(text))),
            Some('-' | '0'..='9') => self.number().map(Operand::Literal),
            _ => {
                let words = [
                    ("true", Value::Bool(true)),
                    ("false", Value::Bool(false)),
                    ("null", Value::Null),
                ];
                let found = words.into_iter().find(|(word, _)| self.take(word));
                found.map(|(_, value)| Operand::Literal(value)).ok_or_else(|| {
                    self.fault("expected a query, a literal, or one of the functions `length`, `count`, `value`, `match`, `search`")
                })
            }
        }
    }

    fn number(&mut self) -> Result<Value, PathFault> {
        let rest = self.rest();
        let end = rest
            .find(|c: char| !(c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E')))
            .unwrap_or(rest.len());
        // JSON writes numbers the same way.
        let Ok(value @ Value::Number(_)) = serde_json::from_str(&rest[..end]) else {
            return Err(self.fault("not a number"));
        };
        self.at += end;
        Ok(value)
    }
}

fn one_or(mut tests: Vec<Test>, many: fn(Vec<Test>) -> Test) -> Test {
    if tests.len() == 1 { tests.remove(0) } else { many(tests) }
}
