//! What the database knows of files; their bytes are elsewhere.

use proto::{FileId, Principal, TenantId, UploadId};

use super::{Database, Engine};
use crate::{FileFilter, FileRecord, ObjectKey, StoreError, UploadRow};

impl Database {
    /// Keeps a file's record, unless its tenant would then have more than `quota` bytes; says whether it did.
    pub async fn add_file(
        &self,
        file: &FileRecord,
        quota: Option<u64>,
    ) -> Result<bool, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.add_file(file, quota).await
    }

    /// A tenant's file, if there is one that has not expired.
    pub async fn file(
        &self,
        tenant: &TenantId,
        id: &FileId,
        now_ms: u64,
    ) -> Result<Option<FileRecord>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.file(tenant, id, now_ms).await
    }

    /// A caller's newest file that a server lent under this name, if it has not expired.
    pub async fn file_of_origin(
        &self,
        caller: &Principal,
        server: &str,
        reference: &str,
        now_ms: u64,
    ) -> Result<Option<FileRecord>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.file_of_origin(caller, server, reference, now_ms).await
    }

    /// The files that a filter lets through, newest first.
    pub async fn files(&self, filter: &FileFilter) -> Result<Vec<FileRecord>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.files(filter).await
    }

    /// Forgets a tenant's file and gives back what was known, for its objects to be removed.
    pub async fn remove_file(
        &self,
        tenant: &TenantId,
        id: &FileId,
    ) -> Result<Option<FileRecord>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.remove_file(tenant, id).await
    }

    /// Some of the files that have expired, of all tenants.
    pub async fn expired_files(&self, now_ms: u64) -> Result<Vec<FileRecord>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.expired_files(now_ms).await
    }

    /// Notes where a file's text is; says no if it has one already, is gone, or its tenant
    /// would then have more than `quota` bytes.
    pub async fn set_file_text(
        &self,
        id: &FileId,
        text: &ObjectKey,
        size: u64,
        quota: Option<u64>,
    ) -> Result<bool, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.set_file_text(id, text, size, quota).await
    }

    /// Those of the objects that no file names.
    pub async fn unknown_objects(&self, keys: &[ObjectKey]) -> Result<Vec<ObjectKey>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.unknown_objects(keys).await
    }

    /// How many bytes a tenant keeps.
    pub async fn tenant_bytes(&self, tenant: &TenantId) -> Result<u64, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.tenant_bytes(tenant).await
    }

    /// Notes an upload that will come in parts, unless its tenant has `most` already or would have more than `quota`
    /// bytes when all of them are there; says whether it did.
    pub async fn add_upload(
        &self,
        upload: &UploadRow,
        most: u64,
        quota: Option<u64>,
    ) -> Result<bool, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.add_upload(upload, most, quota).await
    }

    /// An upload, whoever's it is.
    pub async fn upload(&self, id: &UploadId) -> Result<Option<UploadRow>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.upload(id).await
    }

    /// How many uploads of a tenant are begun.
    pub async fn uploads_of(&self, tenant: &TenantId) -> Result<u64, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.uploads_of(tenant).await
    }

    /// Forgets an upload.
    pub async fn remove_upload(&self, id: &UploadId) -> Result<(), StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.remove_upload(id).await
    }

    /// The uploads that have expired, of all tenants.
    pub async fn expired_uploads(&self, now_ms: u64) -> Result<Vec<UploadId>, StoreError> {
        let Engine::Sqlite(sqlite) = &self.0;
        sqlite.expired_uploads(now_ms).await
    }
}
