//! Encodes values for URLs, so that each stays one path segment or one query value.

/// Percent-encodes everything but ASCII alphanumerics and `-._~`, so that the text cannot end its component.
pub fn encode_component(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// Whether a path has a segment `.` or `..`, also one that a server sees only after it has decoded the path, once or
/// several times.
pub fn has_dot_segment(path: &str) -> bool {
    let mut path = path.as_bytes().to_vec();
    loop {
        let mut segments = path.split(|byte| matches!(byte, b'/' | b'\\'));
        if segments.any(|segment| matches!(segment, b"." | b"..")) {
            return true;
        }
        let decoded = decode(&path);
        // Decoding ends: each round that changes something makes the path shorter.
        if decoded.len() == path.len() {
            return false;
        }
        path = decoded;
    }
}

fn decode(text: &[u8]) -> Vec<u8> {
    let mut decoded = Vec::with_capacity(text.len());
    let mut rest = text;
    while let [first, after @ ..] = rest {
        let byte = match (first, after) {
            (b'%', [high, low, ..]) => hex(*high).zip(hex(*low)).map(|(high, low)| high << 4 | low),
            _ => None,
        };
        decoded.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    decoded
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encoded_text_has_no_delimiter() {
        let hostile = "/?#%\\&=+:;@[] \r\n\0é";
        let encoded = encode_component(hostile);
        assert!(encoded.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'%'));
        assert_eq!(decode(encoded.as_bytes()), hostile.as_bytes());
        assert_eq!(encode_component("a-b_c.d~9"), "a-b_c.d~9");
    }

    #[test]
    fn dot_segments_are_found_in_every_spelling() {
        for path in [
            "/a/..",
            "/./a",
            "..",
            "/a/%2e%2E/b",
            "/a/.%2e",
            "/a/..%2Fadmin",
            "/a/%252e%252e",
            "/a/x%5c..%5Cy",
            "/a\\..\\b",
            "/%25252e",
        ] {
            assert!(has_dot_segment(path), "{path}");
        }
        for path in ["", "/", "/a/...", "/a/..b", "/a.b/.c", "/a%2Fb", "/100%", "/%zz%2", "//a"] {
            assert!(!has_dot_segment(path), "{path}");
        }
    }
}
