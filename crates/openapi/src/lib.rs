//! OpenAPI documents as tools: the operations of a document, their schemas, and the HTTP request of one call.

mod document;
mod operation;
mod request;
mod schema;

pub use document::{Document, Fault, MAX_BYTES};
pub use operation::{
    Operation, OperationTool, Unusable, essence, is_json, read as read_operations,
};
pub use request::build as build_request;
