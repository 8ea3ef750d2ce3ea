//! Making the vectors of a whole collection.

use proto::{Code, Failure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    CollectionName, Collections, Embedding, MAX_VECTORS, NO_MODEL, matrix, too_many_vectors,
    unreadable, unwritable,
};

/// How many chunks get their vectors at once.
const PAGE: u32 = 200;

/// A collection whose chunks have vectors.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Embedded {
    pub collection: String,
    /// How many vectors were made.
    pub made: u64,
    /// How many chunks have a vector now.
    pub vectors: u64,
    pub chunks: u64,
    pub revision: u64,
    pub embedding: Embedding,
}

impl Collections {
    /// Gives every chunk of a collection a vector of the configured model. What an interrupted call has made stays.
    pub async fn embed(&self, tenant: &str, name: &CollectionName) -> Result<Embedded, Failure> {
        let row = self.row(tenant, name).await?;
        let Some(embedder) = self.embedder.get().await? else {
            return Err(Failure::new(Code::Unsupported, NO_MODEL));
        };
        if row.chunks > MAX_VECTORS {
            return Err(too_many_vectors(name.as_str(), row.chunks));
        }
        let model = embedder.about();
        let clock = &self.clock;
        let set =
            self.database.set_vector_model(tenant, name.as_str(), model, clock.unix_ms()).await;
        self.changes.note(name);
        if !set.map_err(unwritable)? {
            return Err(name.unknown());
        }
        let (mut after, mut made) = (0, 0);
        loop {
            let page = self.database.chunks_without_vector(row.seq, after, PAGE).await;
            let page = page.map_err(unreadable)?;
            let Some((last, _)) = page.last() else { break };
            after = *last;
            let (seqs, texts): (Vec<_>, Vec<_>) = page.into_iter().unzip();
            let vectors = embedder.embed(texts).await?;
            let vectors: Vec<_> = seqs
                .into_iter()
                .zip(vectors)
                .filter_map(|(seq, vector)| Some((seq, matrix::stored(&vector?))))
                .collect();
            made += vectors.len() as u64;
            let stored = self
                .database
                .set_vectors(tenant, name.as_str(), model, &vectors, clock.unix_ms())
                .await;
            if !stored.map_err(unwritable)? {
                let message = format!("the collection `{name}` was deleted or got another model");
                return Err(Failure::new(Code::NotFound, message));
            }
        }
        self.changes.note(name);
        let row = self.row(tenant, name).await?;
        Ok(Embedded {
            collection: row.name,
            made,
            vectors: row.vectors,
            chunks: row.chunks,
            revision: row.revision,
            embedding: model.clone().into(),
        })
    }
}
