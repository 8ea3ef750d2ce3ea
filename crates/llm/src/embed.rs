//! The vectors of texts.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::{MAX_REQUEST_BYTES, Model, ModelError};

/// The most texts of one request.
const MAX_TEXTS: usize = 64;

/// The most bytes of the texts of one request: JSON may double them.
const MAX_TEXT_BYTES: usize = MAX_REQUEST_BYTES / 2 - 1_000;

/// The largest answer: 64 vectors of 8,192 numbers with 20 digits each.
const MAX_ANSWER_BYTES: u64 = 12 << 20;

/// The most numbers of a vector.
pub const MAX_DIMENSIONS: usize = 8_192;

/// The model that makes vectors, at the same address and with the same key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmbeddingOptions {
    pub name: String,
    /// How many numbers a vector has, for models that offer several lengths.
    pub dimensions: Option<usize>,
}

impl Model {
    /// The model that makes vectors, if one is configured.
    pub fn embeddings(&self) -> Option<&EmbeddingOptions> {
        self.options.embeddings.as_ref()
    }

    /// The vectors of texts, in their order and all of one length. An empty list needs no request.
    pub async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, ModelError> {
        let options = self.embeddings().ok_or(ModelError::NoEmbeddings)?;
        let mut vectors: Vec<Vec<f32>> = Vec::with_capacity(texts.len());
        let mut rest = texts;
        while !rest.is_empty() {
            let (batch, others) = rest.split_at(batch(rest)?);
            rest = others;
            let mut body =
                json!({"model": options.name, "input": batch, "encoding_format": "float"});
            if let Some(dimensions) = options.dimensions {
                body["dimensions"] = dimensions.into();
            }
            let answer = self.send("embeddings", &body, MAX_ANSWER_BYTES).await?;
            let dimensions = options.dimensions.or(vectors.first().map(Vec::len));
            vectors.extend(read(answer, batch.len(), dimensions)?);
        }
        Ok(vectors)
    }
}

/// How many of the next texts go into one request: at least one.
fn batch(texts: &[String]) -> Result<usize, ModelError> {
    let mut bytes = 0;
    let fits = |text: &&String| {
        bytes += text.len();
        bytes <= MAX_TEXT_BYTES
    };
    match texts.iter().take(MAX_TEXTS).take_while(fits).count() {
        0 => Err(ModelError::TooLarge(texts.first().map_or(0, String::len))),
        count => Ok(count),
    }
}

#[derive(Deserialize)]
struct Answer {
    data: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    index: Option<usize>,
    embedding: Vec<f32>,
}

fn read(
    answer: Value,
    count: usize,
    dimensions: Option<usize>,
) -> Result<Vec<Vec<f32>>, ModelError> {
    let unreadable = |why: String| ModelError::Answer(why);
    let Answer { mut data } =
        serde_json::from_value(answer).map_err(|error| unreadable(error.to_string()))?;
    if data.len() != count {
        return Err(unreadable(format!("it has {} vectors for {count} texts", data.len())));
    }
    // The index is the text's; without one the order is that of the texts.
    if data.iter().all(|entry| entry.index.is_some()) {
        data.sort_by_key(|entry| entry.index);
        if data.iter().zip(0..).any(|(entry, at)| entry.index != Some(at)) {
            return Err(unreadable("its vectors do not belong to the texts".to_owned()));
        }
    }
    let length = dimensions.or(data.first().map(|entry| entry.embedding.len())).unwrap_or_default();
    for Entry { embedding, .. } in &data {
        if embedding.len() != length || !(1..=MAX_DIMENSIONS).contains(&length) {
            let own = embedding.len();
            return Err(unreadable(format!("a vector has {own} numbers instead of {length}")));
        }
        if embedding.iter().any(|number| !number.is_finite()) {
            return Err(unreadable("a vector has a number that is none".to_owned()));
        }
    }
    Ok(data.into_iter().map(|entry| entry.embedding).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_come_in_the_order_of_the_texts() {
        let answer = json!({"data": [
            {"index": 1, "embedding": [0.0, 1.0]}, {"index": 0, "embedding": [1.0, 0.0]},
        ]});
        let vectors = read(answer, 2, None).expect("vectors");
        assert_eq!(vectors, [[1.0, 0.0], [0.0, 1.0]]);
    }

    #[test]
    fn answers_that_do_not_fit_are_refused() {
        for answer in [
            json!({}),
            json!({"data": []}),
            json!({"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]}),
            json!({"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]}),
            json!({"data": [{"embedding": []}, {"embedding": []}]}),
            json!({"data": [{"embedding": [1e300]}, {"embedding": [1.0]}]}),
        ] {
            assert!(read(answer.clone(), 2, None).is_err(), "{answer}");
        }
        let one = json!({"data": [{"embedding": [1.0, 2.0]}]});
        assert!(read(one.clone(), 1, Some(3)).is_err());
        assert!(read(one, 1, Some(2)).is_ok());
    }

    #[test]
    fn a_request_has_a_bounded_size() {
        let texts = vec!["x".repeat(30_000); 100];
        assert_eq!(batch(&texts).ok(), Some(3));
        assert_eq!(batch(&vec!["x".to_owned(); 100]).ok(), Some(MAX_TEXTS));
        assert!(matches!(batch(&["x".repeat(200_000)]), Err(ModelError::TooLarge(200_000))));
    }
}
