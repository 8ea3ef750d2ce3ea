use proto::{FileId, Principal, TenantId, UploadId};
use sqlx::sqlite::SqliteRow;
use sqlx::{QueryBuilder, Row as _};

use super::audit::{integer, unsigned};
use super::{Sqlite, settle};
use crate::{FileFilter, FileRecord, ObjectKey, Origin, StoreError, UploadRow};

const COLUMNS: &str = "id, tenant, owner, kind, name, media_type, size, sha256, object, created_ms, expires_ms, run, \
                       origin_server, origin_ref, text_object, origin_agent";

/// How many expired files are removed in one go.
const EXPIRED_AT_ONCE: i64 = 500;

impl Sqlite {
    pub(crate) async fn add_file(
        &self,
        file: &FileRecord,
        quota: Option<u64>,
    ) -> Result<bool, StoreError> {
        let mut connection = self.writer.acquire().await?;
        // In one statement with the quota: of two that would both just fit, the second does not.
        let mut query = QueryBuilder::new("INSERT INTO files (");
        query.push(COLUMNS).push(") SELECT ");
        let mut values = query.separated(", ");
        values.push_bind(file.id.as_str());
        values.push_bind(file.tenant.as_str());
        values.push_bind(&file.owner);
        values.push_bind(file.kind.as_str());
        values.push_bind(&file.name);
        values.push_bind(&file.media_type);
        values.push_bind(integer(file.size));
        values.push_bind(file.sha256.as_slice());
        values.push_bind(file.object.as_str());
        values.push_bind(integer(file.created_ms));
        values.push_bind(file.expires_ms.map(integer));
        values.push_bind(&file.run);
        values.push_bind(file.origin.as_ref().map(|origin| &origin.server));
        values.push_bind(file.origin.as_ref().and_then(|origin| origin.reference.as_ref()));
        values.push_bind(file.text.as_ref().map(ObjectKey::as_str));
        values.push_bind(file.origin.as_ref().and_then(|origin| origin.agent.as_ref()));
        if let Some(quota) = quota {
            query.push(" WHERE COALESCE((SELECT bytes FROM file_totals WHERE tenant = ");
            query.push_bind(file.tenant.as_str()).push("), 0) + ").push_bind(integer(file.size));
            query.push(" <= ").push_bind(integer(quota));
        }
        let result = query.build().execute(&mut *connection).await;
        settle(connection, result.map(|done| done.rows_affected() == 1))
    }

    pub(crate) async fn file(
        &self,
        tenant: &TenantId,
        id: &FileId,
        now_ms: u64,
    ) -> Result<Option<FileRecord>, StoreError> {
        let mut query = QueryBuilder::new("SELECT ");
        query.push(COLUMNS).push(" FROM files WHERE id = ").push_bind(id.as_str());
        query.push(" AND tenant = ").push_bind(tenant.as_str());
        query.push(" AND (expires_ms IS NULL OR expires_ms > ").push_bind(integer(now_ms));
        query.push(")");
        query.build().fetch_optional(&self.readers).await?.as_ref().map(record).transpose()
    }

    pub(crate) async fn file_of_origin(
        &self,
        caller: &Principal,
        server: &str,
        reference: &str,
        now_ms: u64,
    ) -> Result<Option<FileRecord>, StoreError> {
        let mut query = QueryBuilder::new("SELECT ");
        query.push(COLUMNS).push(" FROM files WHERE tenant = ").push_bind(caller.tenant.as_str());
        query.push(" AND owner = ").push_bind(&caller.subject);
        query.push(" AND origin_agent IS ").push_bind(caller.agent.as_deref());
        query.push(" AND origin_ref = ").push_bind(reference);
        query.push(" AND origin_server = ").push_bind(server);
        query.push(" AND (expires_ms IS NULL OR expires_ms > ").push_bind(integer(now_ms));
        query.push(") ORDER BY created_ms DESC, id DESC LIMIT 1");
        query.build().fetch_optional(&self.readers).await?.as_ref().map(record).transpose()
    }

    pub(crate) async fn files(&self, filter: &FileFilter) -> Result<Vec<FileRecord>, StoreError> {
        let mut query = QueryBuilder::new("SELECT ");
        query.push(COLUMNS).push(" FROM files WHERE tenant = ").push_bind(filter.tenant.as_str());
        query.push(" AND (expires_ms IS NULL OR expires_ms > ").push_bind(integer(filter.now_ms));
        query.push(")");
        if let Some(kind) = filter.kind {
            query.push(" AND kind = ").push_bind(kind.as_str());
        }
        if let Some(run) = &filter.run {
            query.push(" AND run = ").push_bind(run);
        }
        if let Some((created_ms, id)) = &filter.after {
            query.push(" AND (created_ms, id) < (").push_bind(integer(*created_ms));
            query.push(", ").push_bind(id.as_str()).push(")");
        }
        query.push(" ORDER BY created_ms DESC, id DESC LIMIT ").push_bind(i64::from(filter.limit));
        query.build().fetch_all(&self.readers).await?.iter().map(record).collect()
    }

    pub(crate) async fn remove_file(
        &self,
        tenant: &TenantId,
        id: &FileId,
    ) -> Result<Option<FileRecord>, StoreError> {
        let mut connection = self.writer.acquire().await?;
        let mut query = QueryBuilder::new("DELETE FROM files WHERE id = ");
        query.push_bind(id.as_str()).push(" AND tenant = ").push_bind(tenant.as_str());
        query.push(" RETURNING ").push(COLUMNS);
        let result = query.build().fetch_optional(&mut *connection).await;
        settle(connection, result)?.as_ref().map(record).transpose()
    }

    pub(crate) async fn expired_files(&self, now_ms: u64) -> Result<Vec<FileRecord>, StoreError> {
        let mut query = QueryBuilder::new("SELECT ");
        query.push(COLUMNS).push(" FROM files WHERE expires_ms <= ").push_bind(integer(now_ms));
        query.push(" LIMIT ").push_bind(EXPIRED_AT_ONCE);
        query.build().fetch_all(&self.readers).await?.iter().map(record).collect()
    }

    pub(crate) async fn set_file_text(
        &self,
        id: &FileId,
        text: &ObjectKey,
        size: u64,
        quota: Option<u64>,
    ) -> Result<bool, StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = sqlx::query(
            "UPDATE files SET text_object = ?2, text_size = ?3 WHERE id = ?1 AND text_object IS NULL \
             AND (?4 IS NULL OR ?3 + (SELECT bytes FROM file_totals WHERE tenant = files.tenant) <= ?4)",
        )
        .bind(id.as_str())
        .bind(text.as_str())
        .bind(integer(size))
        .bind(quota.map(integer))
        .execute(&mut *connection)
        .await;
        settle(connection, result.map(|done| done.rows_affected() == 1))
    }

    pub(crate) async fn unknown_objects(
        &self,
        keys: &[ObjectKey],
    ) -> Result<Vec<ObjectKey>, StoreError> {
        let keys: Vec<_> = keys.iter().map(ObjectKey::as_str).collect();
        let unknown: Vec<String> = sqlx::query_scalar(
            "SELECT value FROM json_each(?1) \
             WHERE NOT EXISTS (SELECT 1 FROM files WHERE object = value) \
               AND NOT EXISTS (SELECT 1 FROM files WHERE text_object = value)",
        )
        .bind(serde_json::json!(keys).to_string())
        .fetch_all(&self.readers)
        .await?;
        unknown.iter().map(|key| key.parse()).collect()
    }

    pub(crate) async fn tenant_bytes(&self, tenant: &TenantId) -> Result<u64, StoreError> {
        let bytes: Option<i64> =
            sqlx::query_scalar("SELECT bytes FROM file_totals WHERE tenant = ?1")
                .bind(tenant.as_str())
                .fetch_optional(&self.readers)
                .await?;
        Ok(bytes.map_or(0, unsigned))
    }

    pub(crate) async fn add_upload(
        &self,
        upload: &UploadRow,
        most: u64,
        quota: Option<u64>,
    ) -> Result<bool, StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = sqlx::query(
            "INSERT INTO uploads (id, tenant, owner, name, size, created_ms, expires_ms) \
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 \
             WHERE (SELECT COUNT(*) FROM uploads WHERE tenant = ?2) < ?8 \
               AND (?9 IS NULL OR ?5 + (SELECT COALESCE(SUM(size), 0) FROM uploads WHERE tenant = ?2) \
                    + COALESCE((SELECT bytes FROM file_totals WHERE tenant = ?2), 0) <= ?9)",
        )
        .bind(upload.id.as_str())
        .bind(upload.tenant.as_str())
        .bind(&upload.owner)
        .bind(&upload.name)
        .bind(integer(upload.size))
        .bind(integer(upload.created_ms))
        .bind(integer(upload.expires_ms))
        .bind(integer(most))
        .bind(quota.map(integer))
        .execute(&mut *connection)
        .await;
        settle(connection, result.map(|done| done.rows_affected() == 1))
    }

    pub(crate) async fn upload(&self, id: &UploadId) -> Result<Option<UploadRow>, StoreError> {
        type Columns = (String, String, String, i64, i64, i64);
        let found: Option<Columns> = sqlx::query_as(
            "SELECT tenant, owner, name, size, created_ms, expires_ms FROM uploads WHERE id = ?1",
        )
        .bind(id.as_str())
        .fetch_optional(&self.readers)
        .await?;
        Ok(found.map(|(tenant, owner, name, size, created_ms, expires_ms)| UploadRow {
            id: id.clone(),
            tenant: TenantId::new(tenant),
            owner,
            name,
            size: unsigned(size),
            created_ms: unsigned(created_ms),
            expires_ms: unsigned(expires_ms),
        }))
    }

    pub(crate) async fn uploads_of(&self, tenant: &TenantId) -> Result<u64, StoreError> {
        let count: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM uploads WHERE tenant = ?1")
            .bind(tenant.as_str())
            .fetch_one(&self.readers)
            .await?;
        Ok(unsigned(count))
    }

    pub(crate) async fn remove_upload(&self, id: &UploadId) -> Result<(), StoreError> {
        let mut connection = self.writer.acquire().await?;
        let result = sqlx::query("DELETE FROM uploads WHERE id = ?1")
            .bind(id.as_str())
            .execute(&mut *connection)
            .await;
        settle(connection, result.map(drop))
    }

    pub(crate) async fn expired_uploads(&self, now_ms: u64) -> Result<Vec<UploadId>, StoreError> {
        let ids: Vec<String> = sqlx::query_scalar("SELECT id FROM uploads WHERE expires_ms <= ?1")
            .bind(integer(now_ms))
            .fetch_all(&self.readers)
            .await?;
        Ok(ids.iter().filter_map(|id| id.parse().ok()).collect())
    }
}

fn record(row: &SqliteRow) -> Result<FileRecord, StoreError> {
    let text: Option<String> = row.try_get(14)?;
    let server: Option<String> = row.try_get(12)?;
    let (reference, agent) = (row.try_get(13)?, row.try_get(15)?);
    let sha256: &[u8] = row.try_get(7)?;
    Ok(FileRecord {
        id: readable("the file id", row.try_get(0)?)?,
        tenant: TenantId::new(row.try_get::<String, _>(1)?),
        owner: row.try_get(2)?,
        kind: readable("the kind of file", row.try_get(3)?)?,
        name: row.try_get(4)?,
        media_type: row.try_get(5)?,
        size: unsigned(row.try_get(6)?),
        sha256: sha256.try_into().map_err(|_| unreadable("the hash", ""))?,
        object: row.try_get::<String, _>(8)?.parse()?,
        created_ms: unsigned(row.try_get(9)?),
        expires_ms: row.try_get::<Option<i64>, _>(10)?.map(unsigned),
        run: row.try_get(11)?,
        origin: server.map(|server| Origin { server, reference, agent }),
        text: text.map(|key| key.parse()).transpose()?,
    })
}

fn readable<T: std::str::FromStr>(column: &'static str, text: &str) -> Result<T, StoreError> {
    text.parse().map_err(|_| unreadable(column, text))
}

fn unreadable(column: &'static str, text: &str) -> StoreError {
    StoreError::Unreadable { column, value: text.chars().take(100).collect() }
}
