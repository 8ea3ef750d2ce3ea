//! The names of workflows.

use proto::time;

/// The longest name of a workflow, in characters.
pub(crate) const MAX_NAME_CHARS: usize = 100;

/// Whether a text is one line that names something.
pub(crate) fn is_name(text: &str) -> bool {
    let visible = text.chars().all(|character| !character.is_control());
    visible && !text.trim().is_empty() && text.chars().count() <= MAX_NAME_CHARS
}

/// The name of a workflow that was planned from an intent: as much of it as fits into a line.
pub fn name_of_intent(intent: &str) -> String {
    let visible = |character: char| if character.is_control() { ' ' } else { character };
    let line: String = intent.chars().map(visible).collect();
    let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    if words.chars().count() <= MAX_NAME_CHARS {
        return words;
    }
    let cut: String = words.chars().take(MAX_NAME_CHARS - 1).collect();
    format!("{}…", cut.trim_end())
}

/// The name of a workflow that has none.
pub fn call_by_tool(tool: &str, started_unix_ms: u64) -> String {
    let tool = tool.split_once('@').map_or(tool, |(name, _)| name);
    format!("{tool} {}", time::utc(started_unix_ms).strftime("%Y-%m-%d %H:%M"))
}
