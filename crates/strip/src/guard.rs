//! One guard per file, with its error type. Their order is in `stack.rs`.

pub(crate) mod approval;
pub(crate) mod arguments;
pub(crate) mod audit;
pub(crate) mod deadline;
pub(crate) mod determinism;
pub(crate) mod idempotency;
pub(crate) mod rate;
pub(crate) mod records;
pub(crate) mod shape;
pub(crate) mod size;
