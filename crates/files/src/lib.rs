//! Files of callers, artifacts of runs, and references to large parts of answers: who may read them, how large they may
//! be and how long they are kept. Bytes are in object storage and are streamed.
//!
//! The second half is about files inside JSON: placeholders for large base64 in answers ([`BlobExtractor`]) and in
//! requests ([`Attachments`]), the schema of a tool whose callers name files by id ([`FilePlan`]), and what callers must
//! not see of files ([`Secrets`]).

mod attachments;
mod base64_text;
mod blobs;
mod extraction;
mod extraction_queue;
mod failures;
mod files;
mod fit_result;
mod in_flight;
mod inline;
mod issued;
mod large_parts;
mod link;
mod name;
mod owners;
mod picture;
mod plan;
mod record;
mod result_parts;
mod rules;
mod secrets;
mod signature;
mod sweep;
pub mod text;
mod upload;
mod upload_locks;
mod widen;

pub use attachments::{Attachments, Piece, encode_base64};
pub use base64_text::decode_text;
pub use blobs::{BINARY_BYTES, BlobExtractor, Blobs};
pub use files::{FileParts, Files, Sniff};
pub use inline::{InlineLimits, InlineOverrides, encoded};
pub use issued::IssuedReference;
pub use large_parts::{LargeParts, Reference, has_longer_text, references_in};
pub use picture::{CopyBudget, LONGEST_SIDE, Picture, PictureBounds};
pub use plan::{FilePlan, FilePlanError, MAX_FILES, Planned, Slot};
pub use record::{FileStream, Listing, NewFile, Page, URI, disposition, hex, uri};
pub use rules::FileRules;
pub use secrets::Secrets;
pub use signature::{Grant, InvalidLink};
pub use store::FileRecord;
pub use sweep::Swept;
pub use text::{PlainText, sniff_plain_text};
pub use upload::{Progress, Upload};
pub use widen::allow_references;
