//! Answers that are too large for a model: the whole is stored, and the longest list is cut.

use bytes::Bytes;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value};

use crate::stored::ReferenceStore;
use crate::{Fault, StoredRef};

/// A gateway refuses answers above 256 KB in which no long text can become a reference.
const MAX_ANSWER: usize = 200_000;

/// Stores a large structured answer as JSON, and cuts its longest list so that the rest is small enough. An answer that
/// is large because of a text stays as it is.
pub(crate) async fn cut_longest_list(
    mut result: CallToolResult,
    store: &ReferenceStore,
) -> Result<CallToolResult, Fault> {
    let Some(Value::Object(answer)) = &mut result.structured_content else { return Ok(result) };
    let whole = Value::Object(answer.clone()).to_string();
    if whole.len() <= MAX_ANSWER || answer.contains_key("ref_id") {
        return Ok(result);
    }
    let Some((name, size)) = longest_list(answer) else { return Ok(result) };
    // The rest may be too large already; then a tenth of the list is kept.
    let rest = whole.len() - size;
    let room = MAX_ANSWER.saturating_sub(rest).max(MAX_ANSWER / 10);
    if let Some(Value::Array(list)) = answer.get_mut(&name) {
        keep_first(list, room);
    }
    let stored =
        store.store("answer", Bytes::from(whole), "application/json", "answer.json").await?;
    describe(answer, &stored, &name);
    let text = Value::Object(answer.clone()).to_string();
    result.content.retain(|block| !matches!(block, ContentBlock::Text(_)));
    result.content.insert(0, ContentBlock::text(text));
    result.content.push(stored.link());
    Ok(result)
}

/// The list with the most bytes, and how many it has.
fn longest_list(answer: &Map<String, Value>) -> Option<(String, usize)> {
    let lists = answer.iter().filter(|(_, value)| value.is_array());
    let sized = lists.map(|(name, list)| (name.clone(), list.to_string().len()));
    sized.max_by_key(|(_, size)| *size).filter(|(_, size)| *size > MAX_ANSWER / 10)
}

fn keep_first(list: &mut Vec<Value>, room: usize) {
    let mut size = 0;
    let fits = list.iter().take_while(|item| {
        size += item.to_string().len() + 1;
        size <= room
    });
    let kept = fits.count();
    list.truncate(kept);
}

fn describe(answer: &mut Map<String, Value>, stored: &StoredRef, list: &str) {
    answer.insert("truncated".to_owned(), true.into());
    answer.insert("ref_id".to_owned(), stored.ref_id.as_str().into());
    answer.insert("media_type".to_owned(), stored.media_type.as_str().into());
    answer.insert("name".to_owned(), stored.name.as_str().into());
    answer.insert("size".to_owned(), stored.size.into());
    let warning = format!("`{list}` is cut: the whole answer is in `{}`", stored.ref_id);
    let warnings = answer.entry("warnings").or_insert_with(|| Value::Array(Vec::new()));
    if let Value::Array(warnings) = warnings {
        warnings.push(warning.into());
    }
}

#[cfg(test)]
mod tests;
