//! What outlives a call: the database, the audit trail, the cache, object storage, and who owns the data folder.
//!
//! The only crate with SQL. It knows nothing of tools, doors or HTTP.

mod approvals;
mod audit;
mod cache;
mod calls;
mod database;
mod error;
mod files;
mod folder;
mod keys;
mod names;
mod objects;
mod pins;
mod references;
mod runs;
mod sqlite;
mod trail;
mod vault;

pub use approvals::{ApprovalFilter, ApprovalRow, ApprovalRuleRow, ApprovalState, Ruling};
pub use audit::{AuditCount, AuditFilter, AuditPage, AuditPlace, AuditRow};
pub use cache::{Cache, Recorded};
pub use calls::{CallChange, CallRecord, CallState, FoundCall};
pub use database::Database;
pub use error::StoreError;
pub use files::{FileFilter, FileRecord, Origin, UploadRow};
pub use folder::{Claim, DataFolder, private_key};
pub use keys::KeyRow;
pub use names::ServerNameRow;
pub use objects::{
    Appended, BucketOptions, Drafts, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody,
    HttpResponse, HttpResponseBody, HttpService, LinkHeaders, Met, ObjectKey, ObjectStream,
    Objects, PutFault, Spooled, Stored,
};
pub use pins::{Pin, PinnedDefinition};
pub use references::ForeignReference;
pub use runs::{QuestionRow, RunCallRow, RunFilter, RunName, RunRow, Settlement};
pub use trail::{AuditTrail, BegunCall, Receipt};
pub use vault::{VaultPlace, VaultRow};
