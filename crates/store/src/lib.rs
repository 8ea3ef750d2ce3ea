//! What outlives a call: the database, the audit trail, the cache, and who owns the data folder.
//!
//! The only crate with SQL. It knows nothing of tools, doors or HTTP.

mod approvals;
mod audit;
mod cache;
mod database;
mod error;
mod folder;
mod keys;
mod pins;
mod sqlite;
mod trail;
mod vault;

pub use approvals::{ApprovalFilter, ApprovalRow, ApprovalRuleRow, ApprovalState, Ruling};
pub use audit::{AuditFilter, AuditRow};
pub use cache::Cache;
pub use database::Database;
pub use error::StoreError;
pub use folder::{Claim, DataFolder};
pub use keys::KeyRow;
pub use pins::{Pin, PinnedDefinition};
pub use trail::{AuditTrail, Receipt};
pub use vault::{VaultPlace, VaultRow};
