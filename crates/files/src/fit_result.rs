//! MCP results that are too long as a whole although none of their parts is: the largest parts are stored, or all of them
//! as one file.

use std::cmp::Reverse;

use proto::{Failure, canonical};
use serde_json::{Value, json};

use super::large_parts::{BEGINNING_BYTES, EIGHTH, LEAST_STORED, Large, LargeParts};
use super::result_parts::{Structured, as_blocks, is_media};

/// More parts than this are stored as one file.
const MAX_PARTS: usize = 32;

/// About how many bytes a reference has besides the beginning of the text.
const REFERENCE_BYTES: usize = 400;

/// What an answer has around its blocks.
const FRAME_BYTES: usize = 20;

/// The name of a file with a whole answer.
const WHOLE: &str = "result.json";

impl LargeParts<'_> {
    /// Makes the data of an MCP result fit into `limit` bytes as JSON: its structured content, or else its blocks. Images
    /// and audio do not count.
    pub async fn fit_result(&mut self, result: &mut Value, limit: usize) -> Result<(), Failure> {
        match result.get_mut("structuredContent").filter(|content| !content.is_null()) {
            Some(content) => {
                let whole = content.clone();
                self.fit_structured(content, limit).await?;
                let replaced = Some(content.clone());
                Structured { whole: Some(whole), replaced }.repeat_in(result);
                Ok(())
            }
            None => match result.get_mut("content").and_then(Value::as_array_mut) {
                Some(blocks) => self.fit_blocks(blocks, limit).await,
                None => Ok(()),
            },
        }
    }

    async fn fit_structured(&mut self, content: &mut Value, limit: usize) -> Result<(), Failure> {
        let excess = canonical::len(content).saturating_sub(limit);
        if excess == 0 {
            return Ok(());
        }
        let mut lengths = Vec::new();
        add_text_lengths(content, &mut lengths);
        let mut fitted = content.clone();
        if parts_to_store(lengths, excess).is_some() {
            self.fit(&mut fitted, limit).await?;
        }
        if canonical::len(&fitted) > limit {
            fitted = self.whole(content, limit).await?;
        }
        *content = fitted;
        Ok(())
    }

    async fn fit_blocks(&mut self, blocks: &mut Vec<Value>, limit: usize) -> Result<(), Failure> {
        let size = size_of(blocks);
        let Some(excess) = size.checked_sub(limit).filter(|excess| *excess > 0) else {
            return Ok(());
        };
        let mut texts: Vec<_> = blocks
            .iter()
            .enumerate()
            .filter_map(|(at, block)| Some((canonical::len(text_of(block)?), at)))
            .collect();
        texts.sort_by_key(|(length, _)| Reverse(*length));
        let lengths = texts.iter().map(|(length, _)| *length).collect();
        if let Some(count) = parts_to_store(lengths, excess) {
            let chosen: Vec<_> = texts[..count].iter().map(|(_, at)| *at).collect();
            let old = std::mem::take(blocks).into_iter().enumerate();
            for (at, block) in old {
                match text_of(&block).and_then(Value::as_str).filter(|_| chosen.contains(&at)) {
                    Some(text) => {
                        let large = Large::Text(text.to_owned());
                        let reference = self.reference(large, None, "result", EIGHTH).await?;
                        blocks.extend(as_blocks(reference));
                    }
                    None => blocks.push(block),
                }
            }
        }
        if size_of(blocks) > limit {
            let (mut media, others): (Vec<_>, Vec<_>) =
                std::mem::take(blocks).into_iter().partition(is_media);
            let reference = self.whole(&Value::Array(others), limit).await?;
            media.extend(as_blocks(reference));
            *blocks = media;
        }
        Ok(())
    }

    /// The reference for a value that is stored as JSON.
    async fn whole(&mut self, value: &Value, limit: usize) -> Result<Value, Failure> {
        let text = value.to_string();
        // The beginning may be six times as long as JSON.
        let share = EIGHTH.max(text.len().saturating_mul(EIGHTH) / limit.max(1) + 1);
        self.reference(Large::Text(text), Some("application/json"), WHOLE, share).await
    }
}

impl Structured {
    /// Replaces the text blocks of a result that repeat the structured content: clients compare the two.
    fn repeat_in(&self, result: &mut Value) {
        let blocks = result.get_mut("content").and_then(Value::as_array_mut);
        for block in blocks.into_iter().flatten() {
            let text = block.get("text").and_then(Value::as_str).unwrap_or_default();
            if let Some(Some(replaced)) = self.repeated_by(text) {
                block["text"] = json!(replaced.to_string());
            }
        }
    }
}

/// The length of an answer with these blocks, images and audio left out.
fn size_of(blocks: &[Value]) -> usize {
    let data = |block: &Value| block.get("data").and_then(Value::as_str).map_or(0, str::len);
    let media: usize = blocks.iter().filter(|block| is_media(block)).map(data).sum();
    let all: usize = blocks.iter().map(|block| canonical::len(block) + 1).sum();
    (all + FRAME_BYTES).saturating_sub(media)
}

/// The text of a block that a reference can replace.
fn text_of(block: &Value) -> Option<&Value> {
    let text = match block.get("type").and_then(Value::as_str) {
        Some("text") => block.get("text"),
        Some("resource") => block.get("resource").and_then(|resource| resource.get("text")),
        _ => None,
    };
    text.filter(|text| text.is_string())
}

/// The lengths of all texts of a value.
fn add_text_lengths(value: &Value, lengths: &mut Vec<usize>) {
    match value {
        Value::String(_) => lengths.push(canonical::len(value)),
        Value::Array(items) => items.iter().for_each(|item| add_text_lengths(item, lengths)),
        Value::Object(map) => map.values().for_each(|item| add_text_lengths(item, lengths)),
        _ => {}
    }
}

/// How many of the longest texts must be stored to save `excess` bytes; none if they are too many or not enough.
fn parts_to_store(mut lengths: Vec<usize>, excess: usize) -> Option<usize> {
    lengths.sort_by_key(|length| Reverse(*length));
    let long = lengths.into_iter().take_while(|length| *length > LEAST_STORED).take(MAX_PARTS);
    let mut saved = 0_usize;
    for (index, length) in long.enumerate() {
        saved += length - BEGINNING_BYTES.min(length / EIGHTH) - REFERENCE_BYTES;
        if saved >= excess {
            return Some(index + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::parts_to_store;

    #[test]
    fn as_few_of_the_longest_are_stored_as_needed() {
        for (lengths, excess, expected) in [
            (vec![60_000; 5], 38_000, Some(1)),
            (vec![100, 60_000, 3_000], 56_000, Some(2)),
            (vec![1_900; 200], 1, None),
            (vec![3_000; 40], 100_000, None),
            (vec![3_000; 40], 20_000, Some(9)),
            (Vec::new(), 1, None),
        ] {
            assert_eq!(parts_to_store(lengths.clone(), excess), expected, "{lengths:?}");
        }
    }
}
