//! One guard, one file. What each refuses and with which error stands there; their order stands in `stack.rs`.

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
