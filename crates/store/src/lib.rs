//! Everything that outlives a call: the database, the audit trail, the cache, object storage, and ownership of the data
//! folder.
//!
//! The only crate with SQL: one set of statements for SQLite and PostgreSQL (`sql`), one file per table. It knows nothing
//! of tools, doors or HTTP.

mod approvals;
mod audit;
mod audit_kinds;
mod audit_query;
mod audit_stats;
mod cache;
mod call_details;
mod calls;
mod collections;
mod commit_queue;
mod crashes;
mod database;
mod error;
mod files;
mod folder;
mod keys;
mod learned;
mod listed;
mod names;
mod objects;
mod pins;
mod references;
mod runs;
mod sql;
mod vault;
mod workflows;

pub use approvals::{
    ApprovalFilter, ApprovalRow, ApprovalRuleRow, ApprovalSpan, ApprovalState, Ruling,
};
pub use audit::AuditRow;
pub use audit_query::{
    AuditFilter, AuditOrder, AuditPosition, AuditRecord, AuditRecords, DamagedRecord,
};
pub use audit_stats::{AuditStats, MAX_COUNTED, StatsFilter};
pub use cache::{Cache, Recorded};
pub use call_details::CallDetail;
pub use calls::{CallChange, CallRecord, CallState, RecordedCall};
pub use collections::{
    AddedChunks, ChunkContent, ChunkFilter, ChunkRow, ChunkSelector, ChunkTerms, CollectionLimits,
    CollectionRow, NewChunks, RUN_COLLECTION, RemovedChunks, VectorModel,
};
pub use commit_queue::{BegunCall, CommitQueue, Receipt};
pub use crashes::Crashes;
pub use database::Database;
pub use error::StoreError;
pub use files::{FileFilter, FileObjects, FileRecord, Origin, UploadRow};
pub use folder::{Claim, DATABASE_FILE, DataFolder, private_key};
pub use keys::KeyRow;
pub use learned::PlanEdgeRow;
pub use listed::{DamagedRow, Listed};
pub use names::{DamagedName, ServerNameRow, StoredWireNames};
pub use objects::{
    Appended, BucketOptions, Drafts, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
    HttpResponse, HttpResponseBody, HttpService, LinkHeaders, ListedObject, ObjectKey,
    ObjectStream, Objects, PutFault, Spooled, Stored,
};
pub use pins::{DamagedPin, Pin, PinnedDefinition, StoredPins};
pub use references::ForeignReference;
pub use runs::{
    NamedRun, QuestionRow, QuestionState, RunCallRow, RunChanges, RunFilter, RunName, RunRow,
    Settlement,
};
pub use sql::SqlError;
pub use vault::{VaultRow, VaultSlot};
pub use workflows::{
    Lease, RowChange, WorkflowAnswer, WorkflowAnswerRow, WorkflowChange, WorkflowCheckpointRow,
    WorkflowEventRow, WorkflowFilter, WorkflowOwner, WorkflowPhase, WorkflowRow, WorkflowTaskRow,
    WorkflowUpdate,
};
