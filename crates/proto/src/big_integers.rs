//! Finds integers that JSON parsers round: those that do not fit into 64 bits become floating-point numbers, so that a
//! reviewer would see another value than the caller wrote.

/// An integer with fewer digits fits into 64 bits.
const MIN_DIGITS: usize = 19;

/// The JSON pointers of all integers in a JSON text that do not fit into 64 bits.
pub fn big_integers(json: &[u8]) -> Vec<String> {
    if has_many_digits(json) { Scan::new(json).run() } else { Vec::new() }
}

/// Whether a text has `MIN_DIGITS` digits in a row, in a string or not. Looks at every byte only where they may be.
fn has_many_digits(text: &[u8]) -> bool {
    let is_digit = |at: &usize| text.get(*at).is_some_and(u8::is_ascii_digit);
    (MIN_DIGITS - 1..text.len()).step_by(MIN_DIGITS).filter(is_digit).any(|at| {
        let before = text[..at].iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let after = text[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        before + after >= MIN_DIGITS
    })
}

/// A step on the way to a value.
enum Step<'a> {
    Item(usize),
    /// A member by its name as written; none before its name was read.
    Member(Option<&'a [u8]>),
}

/// A pass over a text. It does not check the text: a parser refuses what is not JSON.
struct Scan<'a> {
    json: &'a [u8],
    at: usize,
    path: Vec<Step<'a>>,
    found: Vec<String>,
}

impl<'a> Scan<'a> {
    fn new(json: &'a [u8]) -> Self {
        Self { json, at: 0, path: Vec::new(), found: Vec::new() }
    }

    fn run(mut self) -> Vec<String> {
        while let Some(byte) = self.json.get(self.at) {
            match byte {
                b'{' => self.path.push(Step::Member(None)),
                b'[' => self.path.push(Step::Item(0)),
                b'}' | b']' => drop(self.path.pop()),
                b',' => match self.path.last_mut() {
                    Some(Step::Item(index)) => *index += 1,
                    Some(Step::Member(name)) => *name = None,
                    None => {}
                },
                b'"' => {
                    let text = self.text();
                    if let Some(Step::Member(name @ None)) = self.path.last_mut() {
                        *name = Some(text);
                    }
                    continue;
                }
                b'-' | b'0'..=b'9' => {
                    let number = self.number();
                    if is_big(number) {
                        self.found.push(self.pointer());
                    }
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
        self.found
    }

    /// The string that begins here, with its quotes.
    fn text(&mut self) -> &'a [u8] {
        let begin = self.at;
        self.at += 1;
        while let Some(byte) = self.json.get(self.at) {
            self.at += match byte {
                b'\\' => 2,
                _ => 1,
            };
            if *byte == b'"' {
                break;
            }
        }
        self.at = self.at.min(self.json.len());
        &self.json[begin..self.at]
    }

    /// The number that begins here.
    fn number(&mut self) -> &'a [u8] {
        let rest = &self.json[self.at..];
        let is_part = |byte: &&u8| byte.is_ascii_digit() || b"+-.eE".contains(byte);
        let length = rest.iter().take_while(is_part).count();
        self.at += length;
        &rest[..length]
    }

    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for step in &self.path {
            pointer.push('/');
            match step {
                Step::Item(index) => pointer.push_str(&index.to_string()),
                Step::Member(name) => {
                    // may fail: text that is no JSON is refused when it is parsed.
                    let name = name.and_then(|name| serde_json::from_slice::<String>(name).ok());
                    let name = name.unwrap_or_default();
                    pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                }
            }
        }
        pointer
    }
}

fn is_big(number: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(number) else { return false };
    let is_integer = text.strip_prefix('-').unwrap_or(text).bytes().all(|b| b.is_ascii_digit());
    is_integer && text.parse::<i64>().is_err() && text.parse::<u64>().is_err()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{any, proptest};
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn integers_beyond_64_bits_are_found_by_their_path() {
        let text = br#" {"a": 18446744073709551616, "b": [1, {"c/d~\"e": -9223372036854775809}],
            "c": "18446744073709551616", "d": {"18446744073709551616": 7, "x": []}, "e": [[0, 99999999999999999999]]} "#;
        assert_eq!(big_integers(text), ["/a", "/b/1/c~1d~0\"e", "/e/0/1"]);
        assert_eq!(big_integers(b"123456789012345678901234567890"), [""]);
        for exact in [
            "18446744073709551615",
            "-9223372036854775808",
            "[1e30, 6.02214076e23, 0.12345678901234567890123, 100000000000000000000.0]",
            r#"{"a": "\"18446744073709551616", "b\\": "\\"}"#,
            "",
            r#"{"a": "123456789012345678901"#,
        ] {
            assert_eq!(big_integers(exact.as_bytes()), [""; 0], "{exact}");
        }
    }

    proptest! {
        #[test]
        fn a_big_integer_is_found_wherever_it_is(padding in "[a-z]{0,60}", key in any::<String>(), tail in any::<u32>()) {
            let value = json!({"p": padding, "l": [null, {key: "HERE"}], "t": tail});
            let text = value.to_string().replace("\"HERE\"", "340282366920938463463374607431768211456");
            let found = big_integers(text.as_bytes());
            let parsed: Value = serde_json::from_str(&text).expect("JSON");
            assert_eq!(found.len(), 1);
            assert!(parsed.pointer(&found[0]).is_some_and(Value::is_f64), "{found:?} {text}");
        }

        #[test]
        fn any_bytes_are_scanned(bytes in any::<Vec<u8>>(), digits in "[0-9\"\\\\{,:\\[\\]-]{0,80}") {
            big_integers(&bytes);
            big_integers(digits.as_bytes());
        }
    }
}
