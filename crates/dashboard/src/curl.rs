//! A call as a `curl` command.

use proto::clean;
use serde_json::Value;

use crate::words::in_url;

/// The command that makes the same call over HTTP. Invisible characters of the input are JSON escapes.
pub(super) fn command(base_url: &str, tool: &str, input: &Value, needs_key: bool) -> String {
    let input = clean::visible_json(&input.to_string());
    let key = if needs_key { " \\\n  -H \"Authorization: Bearer $POWERSTRIP_TOKEN\"" } else { "" };
    format!("curl {base_url}/mcp/tool/{}{key} \\\n  --json {}", in_url(tool), quoted(&input))
}

/// A text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_input_is_one_word_of_the_shell() {
        let input = json!({"text": "it's $(x)\u{202e}"});
        let command = command("http://127.0.0.1:7777", "crm:add", &input, true);
        assert_eq!(
            command,
            "curl http://127.0.0.1:7777/mcp/tool/crm%3Aadd \\\n  -H \"Authorization: Bearer $POWERSTRIP_TOKEN\" \\\n  \
             --json '{\"text\":\"it'\\''s $(x)\\u202e\"}'"
        );
    }
}
