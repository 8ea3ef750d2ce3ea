//! The vectors of chunks.

use super::change::lock_of;
use super::rows::save;
use super::{VectorModel, find};
use crate::sql::{in_transaction, query};
use crate::{Database, StoreError};

impl Database {
    /// Vectors of a collection's chunks after this one, in order.
    pub async fn chunk_vectors(
        &self,
        collection: i64,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, Vec<u8>)>, StoreError> {
        let select = query(
            "SELECT seq, vector FROM collection_chunks \
             WHERE collection = $1 AND seq > $2 AND vector IS NOT NULL ORDER BY seq LIMIT $3",
        );
        let rows = self.sql.all(select.bind(collection).bind(after).bind(limit)).await?;
        rows.iter().map(|row| Ok((row.get("seq")?, row.get("vector")?))).collect()
    }

    /// Texts of chunks without a vector after this one, in order.
    pub async fn chunks_without_vector(
        &self,
        collection: i64,
        after: i64,
        limit: u32,
    ) -> Result<Vec<(i64, String)>, StoreError> {
        let select = query(
            "SELECT seq, text FROM collection_chunks \
             WHERE collection = $1 AND seq > $2 AND vector IS NULL ORDER BY seq LIMIT $3",
        );
        let rows = self.sql.all(select.bind(collection).bind(after).bind(limit)).await?;
        rows.iter().map(|row| Ok((row.get("seq")?, row.get("text")?))).collect()
    }

    /// Gives a collection a model; vectors of another one are deleted. Returns false if there is no such collection.
    pub async fn set_vector_model(
        &self,
        tenant: &str,
        collection: &str,
        model: &VectorModel,
        now_unix_ms: u64,
    ) -> Result<bool, StoreError> {
        in_transaction!(self.sql, |transaction| {
            transaction.lock(&lock_of(tenant)).await?;
            let connection = transaction.connection();
            let found = find(connection, tenant, collection).await?;
            let exists = found.is_some();
            if let Some(mut row) = found.filter(|row| row.model.as_ref() != Some(model)) {
                let delete = query(
                    "UPDATE collection_chunks SET bytes = bytes - length(vector), vector = NULL \
                     WHERE collection = $1 AND vector IS NOT NULL",
                );
                delete.bind(row.seq).execute(connection).await?;
                let old = row.model.replace(model.clone());
                let freed = old.map_or(0, |old| row.vectors * old.dimensions * 4);
                row.bytes = row.bytes.saturating_sub(freed);
                row.vectors = 0;
                row.removed = row.revision + 1;
                save(connection, &mut row, now_unix_ms).await?;
            }
            exists
        })
    }

    /// Gives chunks of a collection their vectors, unless its model changed meanwhile; returns whether it did not.
    pub async fn set_vectors(
        &self,
        tenant: &str,
        collection: &str,
        model: &VectorModel,
        vectors: &[(i64, Vec<u8>)],
        now_unix_ms: u64,
    ) -> Result<bool, StoreError> {
        in_transaction!(self.sql, |transaction| {
            transaction.lock(&lock_of(tenant)).await?;
            let connection = transaction.connection();
            let found = find(connection, tenant, collection).await?;
            let found = found.filter(|row| row.model.as_ref() == Some(model));
            let holds = found.is_some();
            if let Some(mut row) = found {
                for (seq, vector) in vectors {
                    let update = query(
                        "UPDATE collection_chunks SET vector = $3, bytes = bytes + length($3) \
                         WHERE collection = $1 AND seq = $2 AND vector IS NULL",
                    );
                    let update = update.bind(row.seq).bind(*seq).bind(vector.as_slice());
                    let changed = update.execute(connection).await?;
                    row.vectors += changed;
                    row.bytes += changed * vector.len() as u64;
                }
                // They may come before vectors that others have read.
                row.removed = row.revision + 1;
                save(connection, &mut row, now_unix_ms).await?;
            }
            holds
        })
    }
}
