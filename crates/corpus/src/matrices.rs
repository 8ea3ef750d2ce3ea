//! The matrices of the collections that were searched last.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use store::{CollectionRow, Database, StoreError};

use super::matrix::Matrix;

/// How many vectors are read at once.
const PAGE: u32 = 2_000;

/// Matrices up to a number of bytes; those that were not used lately leave first.
#[derive(Debug, Default)]
pub(super) struct Matrices {
    kept: Mutex<Kept>,
    /// One is loaded at a time, so that memory for loading is needed once.
    loading: tokio::sync::Mutex<()>,
}

#[derive(Debug, Default)]
struct Kept {
    by_collection: HashMap<i64, (Arc<Matrix>, u64)>,
    /// Counts uses.
    uses: u64,
}

impl Matrices {
    /// The matrix of a collection as it is now.
    pub(super) async fn of(
        &self,
        database: &Database,
        row: &CollectionRow,
        memory: u64,
    ) -> Result<Arc<Matrix>, StoreError> {
        if let Some(matrix) = self.kept().current(row) {
            return Ok(matrix);
        }
        let _one = self.loading.lock().await;
        if let Some(matrix) = self.kept().current(row) {
            return Ok(matrix);
        }
        let matrix = Arc::new(self.load(database, row).await?);
        self.kept().keep(row.seq, &matrix, memory);
        Ok(matrix)
    }

    async fn load(&self, database: &Database, row: &CollectionRow) -> Result<Matrix, StoreError> {
        let count = usize::try_from(row.vectors).unwrap_or(usize::MAX);
        let dimensions = row.model.as_ref().map_or(0, |model| model.dimensions);
        let dimensions = usize::try_from(dimensions).unwrap_or_default();
        let before = self.kept().take(row.seq);
        // What was read before stays, unless vectors were taken away since: new ones come after them.
        let mut matrix = match before.filter(|before| before.revision >= row.removed) {
            Some(before) => {
                let mut matrix = Arc::unwrap_or_clone(before);
                matrix.reserve(count.saturating_sub(matrix.len()));
                matrix
            }
            None => Matrix::with_rows(count, dimensions),
        };
        matrix.revision = row.revision;
        let mut after = matrix.last();
        loop {
            let page = database.chunk_vectors(row.seq, after, PAGE).await?;
            let Some((last, _)) = page.last() else { return Ok(matrix) };
            after = *last;
            for (seq, vector) in &page {
                matrix.push(*seq, vector);
            }
        }
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many bytes are in use.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> u64 {
        self.kept().bytes()
    }
}

impl Kept {
    fn current(&mut self, row: &CollectionRow) -> Option<Arc<Matrix>> {
        self.uses += 1;
        let (matrix, used) = self.by_collection.get_mut(&row.seq)?;
        *used = self.uses;
        (matrix.revision == row.revision).then(|| Arc::clone(matrix))
    }

    fn take(&mut self, collection: i64) -> Option<Arc<Matrix>> {
        self.by_collection.remove(&collection).map(|(matrix, _)| matrix)
    }

    fn keep(&mut self, collection: i64, matrix: &Arc<Matrix>, memory: u64) {
        if matrix.bytes() > memory {
            return;
        }
        while self.bytes() + matrix.bytes() > memory {
            let oldest = self.by_collection.iter().min_by_key(|(_, (_, used))| *used);
            let Some(oldest) = oldest.map(|(collection, _)| *collection) else { break };
            self.by_collection.remove(&oldest);
        }
        self.uses += 1;
        self.by_collection.insert(collection, (Arc::clone(matrix), self.uses));
    }

    fn bytes(&self) -> u64 {
        self.by_collection.values().map(|(matrix, _)| matrix.bytes()).sum()
    }
}
