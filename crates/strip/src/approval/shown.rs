//! What a reviewer is shown: everything, and nothing that acts on the screen it is shown on.

use proto::clean;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::ApprovalRow;

/// A file that the arguments of a call name, as a reviewer sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShownFile {
    pub id: String,
    pub name: String,
    pub size: u64,
    pub sha256: String,
}

/// Arguments as a person reads them: laid out, whole, with all that would not be seen written as JSON escapes. Read as
/// JSON, it is the same value.
pub fn inert(canonical: &str) -> String {
    let laid_out = serde_json::from_str::<Value>(canonical)
        .and_then(|value| serde_json::to_string_pretty(&value))
        .unwrap_or_else(|_| canonical.to_owned());
    clean::visible_json(&laid_out)
}

/// A confirmation as doors and commands show it.
pub fn view(row: &ApprovalRow) -> Value {
    let mut view = serde_json::to_value(row).unwrap_or_default();
    view["files"] = serde_json::from_str(&row.files).unwrap_or_else(|_| json!([]));
    if let Some(arguments) = &row.arguments {
        view["shown"] = inert(arguments).into();
    }
    view
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn the_reviewer_sees_everything_and_nothing_acts() {
        let hostile = json!({
            "to": "pay\u{202e}moc.live\u{2066}",
            "ansi": "\u{1b}[2J\u{1b}]0;gone\u{7}\u{9b}31m",
            "hidden": "a\u{200b}b\u{e0041}\u{fe0f}c\u{2028}d\u{3164}",
            "page": "<script>alert(1)</script>\r\n\ttext",
            "big": "x".repeat(64 * 1024),
        });
        let canonical = String::from_utf8(proto::canonical::bytes(&hostile)).unwrap();
        let shown = inert(&canonical);
        assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), hostile, "whole");
        for character in shown.chars() {
            let plain = character == '\n' || character == ' ' || !character.is_whitespace();
            assert!(plain && (character == '\n' || !character.is_control()), "{character:?}");
        }
        for hidden in ["\u{202e}", "\u{1b}", "\u{200b}", "\u{e0041}", "\u{3164}"] {
            assert!(!shown.contains(hidden), "{hidden:?}");
        }
        assert!(shown.contains("\\u202e") && shown.contains("\\u001b"));
    }
}
