//! The index of files; their bytes are in object storage.

use std::collections::HashSet;

use proto::{FileId, FileKind, Principal, TenantId, UploadId};

use crate::sql::{Query, Row, query, value_rows};
use crate::{Database, Listed, ObjectKey, StoreError};

const COLUMNS: &str = "id, tenant, owner, kind, name, media_type, size, sha256, object, created_ms, expires_ms, run, \
                       origin_server, origin_ref, text_object, origin_agent";

/// How many expired files are removed at once: a crash leaves as many objects to the search for orphans.
const EXPIRED_AT_ONCE: i64 = 100;

/// How many objects one statement looks for.
const CHUNK: usize = 1_000;

/// The record of a stored file: everything but its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRecord {
    pub id: FileId,
    pub tenant: TenantId,
    /// The subject who stored it.
    pub owner: String,
    pub kind: FileKind,
    pub name: String,
    /// Detected from its bytes.
    pub media_type: String,
    pub size: u64,
    pub sha256: [u8; 32],
    pub object: ObjectKey,
    /// In milliseconds since 1970, like `expires_ms`.
    pub created_ms: u64,
    pub expires_ms: Option<u64>,
    /// The run that it belongs to.
    pub run: Option<String>,
    pub origin: Option<Origin>,
    /// The object that holds its text, once that was extracted.
    pub text: Option<ObjectKey>,
}

/// The objects of a file whose record is deleted.
#[derive(Debug, PartialEq, Eq)]
pub struct FileObjects {
    pub id: String,
    pub object: ObjectKey,
    pub text: Option<ObjectKey>,
}

/// Which server a file came from, and what that server calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub server: String,
    pub reference: Option<String>,
    /// The agent for which the server provided it.
    pub agent: Option<String>,
}

/// Which files of a tenant to list, newest first.
#[derive(Clone, Debug)]
pub struct FileFilter {
    pub tenant: TenantId,
    pub kind: Option<FileKind>,
    pub run: Option<String>,
    /// Only files that were stored before the one with this time and id.
    pub after: Option<(u64, FileId)>,
    pub limit: u32,
    /// Files that have expired by this time are left out.
    pub now_ms: u64,
}

/// An upload in parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadRow {
    pub id: UploadId,
    pub tenant: TenantId,
    pub owner: String,
    pub name: String,
    /// How many bytes it will have in all.
    pub size: u64,
    pub created_ms: u64,
    pub expires_ms: u64,
}

impl Database {
    /// Stores a file's record; returns false if its tenant would then have more than `quota` bytes.
    pub async fn add_file(
        &self,
        file: &FileRecord,
        quota: Option<u64>,
    ) -> Result<bool, StoreError> {
        let origin = file.origin.as_ref();
        let mut insert = query(format!(
            "INSERT INTO files ({COLUMNS}) \
             SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16"
        ))
        .bind(file.id.as_str())
        .bind(file.tenant.as_str())
        .bind(&file.owner)
        .bind(file.kind.as_str())
        .bind(&file.name)
        .bind(&file.media_type)
        .bind(file.size)
        .bind(file.sha256.as_slice())
        .bind(file.object.as_str())
        .bind(file.created_ms)
        .bind(file.expires_ms)
        .bind(file.run.as_ref())
        .bind(origin.map(|origin| &origin.server))
        .bind(origin.and_then(|origin| origin.reference.as_ref()))
        .bind(file.text.as_ref().map(ObjectKey::as_str))
        .bind(origin.and_then(|origin| origin.agent.as_ref()));
        let Some(quota) = quota else { return Ok(self.sql.execute(insert).await? == 1) };
        insert = insert
            .push(" WHERE COALESCE((SELECT bytes FROM file_totals WHERE tenant = $2), 0) + $7 <= ")
            .push_bind(quota);
        Ok(self.sql.execute_locked(&quota_lock(&file.tenant), insert).await? == 1)
    }

    /// A tenant's file, if it exists and has not expired.
    pub async fn file(
        &self,
        tenant: &TenantId,
        id: &FileId,
        now_ms: u64,
    ) -> Result<Option<FileRecord>, StoreError> {
        let select = unexpired(tenant, now_ms).and("id = ", Some(id.as_str()));
        self.sql.first(select).await?.as_ref().map(read).transpose()
    }

    /// A caller's newest file that a server provided under this reference, if it has not expired.
    pub async fn file_of_origin(
        &self,
        caller: &Principal,
        server: &str,
        reference: &str,
        now_ms: u64,
    ) -> Result<Option<FileRecord>, StoreError> {
        let select = unexpired(&caller.tenant, now_ms)
            .and("owner = ", Some(&caller.subject))
            .and("origin_agent IS NOT DISTINCT FROM ", Some(caller.agent.as_deref()))
            .and("origin_ref = ", Some(reference))
            .and("origin_server = ", Some(server))
            .push(" ORDER BY created_ms DESC, id DESC LIMIT 1");
        self.sql.first(select).await?.as_ref().map(read).transpose()
    }

    /// A caller's artifact of a run with this name and these bytes, if it has not expired.
    pub async fn artifact_of_run(
        &self,
        caller: &Principal,
        run: &str,
        name: &str,
        sha256: &[u8],
        now_ms: u64,
    ) -> Result<Option<FileRecord>, StoreError> {
        let select = unexpired(&caller.tenant, now_ms)
            .and("run = ", Some(run))
            .and("owner = ", Some(&caller.subject))
            .and("kind = ", Some(FileKind::Artifact.as_str()))
            .and("name = ", Some(name))
            .and("sha256 = ", Some(sha256))
            .push(" ORDER BY created_ms, id LIMIT 1");
        self.sql.first(select).await?.as_ref().map(read).transpose()
    }

    /// A page of the files that match a filter, newest first.
    pub async fn files(&self, filter: &FileFilter) -> Result<Listed<FileRecord>, StoreError> {
        let mut select = unexpired(&filter.tenant, filter.now_ms)
            .and("kind = ", filter.kind.map(FileKind::as_str))
            .and("run = ", filter.run.as_ref());
        if let Some((created_ms, id)) = &filter.after {
            select = select.push(" AND (created_ms, id) < (").push_bind(*created_ms);
            select = select.push(", ").push_bind(id.as_str()).push(")");
        }
        // One more than the page has shows whether another one follows.
        select = select.push(" ORDER BY created_ms DESC, id DESC LIMIT ");
        let mut rows = self.sql.all(select.push_bind(u64::from(filter.limit) + 1)).await?;
        let more = rows.len() > filter.limit as usize;
        rows.truncate(filter.limit as usize);
        let mut listed = Listed::read("files", "id", &rows, read)?;
        if more {
            // A row that has no position is behind all others, or before them.
            let position = |row: &Row| {
                let id: FileId = row.parsed("id").ok()?;
                Some((row.get("created_ms").ok()?, id.to_string()))
            };
            listed.next = rows.iter().rev().find_map(position);
        }
        Ok(listed)
    }

    /// Deletes the record of a tenant's file and returns it, so that its objects can be removed.
    pub async fn remove_file(
        &self,
        tenant: &TenantId,
        id: &FileId,
    ) -> Result<Option<FileRecord>, StoreError> {
        let delete =
            query(format!("DELETE FROM files WHERE id = $1 AND tenant = $2 RETURNING {COLUMNS}"))
                .bind(id.as_str())
                .bind(tenant.as_str());
        let rows = delete.rows(&mut self.sql.writer().await?).await?;
        rows.first().map(read).transpose()
    }

    /// Deletes the records of some files that have expired, of all tenants, and returns their objects. A record that
    /// cannot be read is deleted as well.
    pub async fn remove_expired_files(
        &self,
        now_ms: u64,
    ) -> Result<Vec<Result<FileObjects, StoreError>>, StoreError> {
        let delete = query(
            "DELETE FROM files WHERE id IN (SELECT id FROM files WHERE expires_ms <= $1 LIMIT $2) \
             RETURNING id, object, text_object",
        );
        let delete = delete.bind(now_ms).bind(EXPIRED_AT_ONCE);
        let rows = delete.rows(&mut self.sql.writer().await?).await?;
        Ok(rows.iter().map(read_objects).collect())
    }

    /// Notes the object of a file's text; returns false if the file has a text, does not exist, or its tenant would
    /// then have more than `quota` bytes.
    pub async fn set_file_text(
        &self,
        id: &FileId,
        text: &ObjectKey,
        size: u64,
        quota: Option<u64>,
    ) -> Result<bool, StoreError> {
        let mut update = query(
            "UPDATE files SET text_object = $2, text_size = $3 WHERE id = $1 AND text_object IS NULL",
        )
        .bind(id.as_str())
        .bind(text.as_str())
        .bind(size);
        let Some(quota) = quota else { return Ok(self.sql.execute(update).await? == 1) };
        update = update
            .push(" AND $3 + (SELECT bytes FROM file_totals WHERE tenant = files.tenant) <= ")
            .push_bind(quota);
        let owner = query("SELECT tenant FROM files WHERE id = $1").bind(id.as_str());
        let Some(owner) = self.sql.first(owner).await? else { return Ok(false) };
        let lock = quota_lock(&owner.get("tenant")?);
        Ok(self.sql.execute_locked(&lock, update).await? == 1)
    }

    /// Those of the objects that no file refers to.
    pub async fn unknown_objects(&self, keys: &[ObjectKey]) -> Result<Vec<ObjectKey>, StoreError> {
        let mut known = HashSet::new();
        for some in keys.chunks(CHUNK) {
            for column in ["object", "text_object"] {
                let select =
                    query(format!("SELECT {column} AS object FROM files WHERE {column} IN "))
                        .push(&value_rows(1, some.len()))
                        .bind_all(some.iter().map(|key| key.as_str().into()))
                        .once();
                for row in self.sql.all(select).await? {
                    known.insert(row.get::<String>("object")?);
                }
            }
        }
        Ok(keys.iter().filter(|key| !known.contains(key.as_str())).cloned().collect())
    }

    /// How many bytes a tenant stores.
    pub async fn tenant_bytes(&self, tenant: &TenantId) -> Result<u64, StoreError> {
        let select = query("SELECT bytes FROM file_totals WHERE tenant = $1").bind(tenant.as_str());
        self.sql.first(select).await?.map_or(Ok(0), |row| row.get("bytes"))
    }

    /// Stores an upload in parts; returns false if its tenant has `limit` uploads, or would have more than `quota` bytes
    /// when all of them are complete.
    pub async fn add_upload(
        &self,
        upload: &UploadRow,
        limit: u64,
        quota: Option<u64>,
    ) -> Result<bool, StoreError> {
        let insert = query(
            "INSERT INTO uploads (id, tenant, owner, name, size, created_ms, expires_ms) \
             SELECT $1, $2, $3, $4, $5, $6, $7 \
             WHERE (SELECT count(*) FROM uploads WHERE tenant = $2) < $8 \
               AND ($9 IS NULL OR $5 + (SELECT COALESCE(sum(size), 0) FROM uploads WHERE tenant = $2) \
                    + COALESCE((SELECT bytes FROM file_totals WHERE tenant = $2), 0) <= $9)",
        )
        .bind(upload.id.as_str())
        .bind(upload.tenant.as_str())
        .bind(&upload.owner)
        .bind(&upload.name)
        .bind(upload.size)
        .bind(upload.created_ms)
        .bind(upload.expires_ms)
        .bind(limit)
        .bind(quota);
        Ok(self.sql.execute_locked(&quota_lock(&upload.tenant), insert).await? == 1)
    }

    /// The upload of this id; of this tenant, if one is named.
    pub async fn upload(
        &self,
        tenant: Option<&TenantId>,
        id: &UploadId,
    ) -> Result<Option<UploadRow>, StoreError> {
        let select = query(
            "SELECT id, tenant, owner, name, size, created_ms, expires_ms FROM uploads WHERE id = $1",
        )
        .bind(id.as_str())
        .and("tenant = ", tenant.map(TenantId::as_str));
        let read = |row: Row| {
            Ok(UploadRow {
                id: row.parsed("id")?,
                tenant: row.get("tenant")?,
                owner: row.get("owner")?,
                name: row.get("name")?,
                size: row.get("size")?,
                created_ms: row.get("created_ms")?,
                expires_ms: row.get("expires_ms")?,
            })
        };
        self.sql.first(select).await?.map(read).transpose()
    }

    /// How many uploads of a tenant are not complete.
    pub async fn uploads_of(&self, tenant: &TenantId) -> Result<u64, StoreError> {
        let select = query("SELECT count(*) AS uploads FROM uploads WHERE tenant = $1");
        let row = self.sql.first(select.bind(tenant.as_str())).await?;
        row.map_or(Ok(0), |row| row.get("uploads"))
    }

    /// Deletes the record of an upload.
    pub async fn remove_upload(&self, id: &str) -> Result<(), StoreError> {
        self.sql.execute(query("DELETE FROM uploads WHERE id = $1").bind(id)).await.map(drop)
    }

    /// The ids of uploads that have expired, of all tenants, as they are stored.
    pub async fn expired_uploads(&self, now_ms: u64) -> Result<Vec<String>, StoreError> {
        let select = query("SELECT id FROM uploads WHERE expires_ms <= $1").bind(now_ms);
        Ok(Listed::read("uploads", "id", &self.sql.all(select).await?, |row| row.get("id"))?.rows)
    }
}

/// The name of the lock under which everything that counts against a tenant's quota is checked and stored.
fn quota_lock(tenant: &TenantId) -> String {
    format!("files {}", tenant.as_str())
}

fn unexpired(tenant: &TenantId, now_ms: u64) -> Query<'_> {
    query(format!(
        "SELECT {COLUMNS} FROM files WHERE tenant = $1 AND (expires_ms IS NULL OR expires_ms > $2)"
    ))
    .bind(tenant.as_str())
    .bind(now_ms)
}

fn read_objects(row: &Row) -> Result<FileObjects, StoreError> {
    let text: Option<String> = row.optional("text_object")?;
    Ok(FileObjects {
        id: row.get("id")?,
        object: row.get::<String>("object")?.parse()?,
        text: text.map(|key| key.parse()).transpose()?,
    })
}

fn read(row: &Row) -> Result<FileRecord, StoreError> {
    let origin = row.optional("origin_server")?.map(|server| {
        Ok::<_, StoreError>(Origin {
            server,
            reference: row.optional("origin_ref")?,
            agent: row.optional("origin_agent")?,
        })
    });
    let sha256: Vec<u8> = row.get("sha256")?;
    let text: Option<String> = row.optional("text_object")?;
    Ok(FileRecord {
        id: row.parsed("id")?,
        tenant: row.get("tenant")?,
        owner: row.get("owner")?,
        kind: row.parsed("kind")?,
        name: row.get("name")?,
        media_type: row.get("media_type")?,
        size: row.get("size")?,
        sha256: sha256.try_into().map_err(|_| StoreError::Unreadable {
            column: "sha256",
            value: "a digest of another length".to_owned(),
        })?,
        object: row.get::<String>("object")?.parse()?,
        created_ms: row.get("created_ms")?,
        expires_ms: row.optional("expires_ms")?,
        run: row.optional("run")?,
        origin: origin.transpose()?,
        text: text.map(|key| key.parse()).transpose()?,
    })
}
