//! Operations: what people and programs may ask of a gateway apart from calling tools. Each is one typed row in the
//! crate that owns its logic; REST route, scope, OpenAPI entry, socket method and typed client come from the row.

mod caller;
pub mod calls;
mod console;
mod error;
pub mod install;
mod operation;
mod schema;
pub mod scope;
pub mod servers;
mod table;
pub mod workflows;

pub use caller::{Caller, IDEMPOTENCY_KEY};
pub use console::Console;
pub use error::OperationError;
pub use operation::{Audience, Method, NoInput, Operation, Reply, Route, Row};
pub use schema::{input_schema, output_schema};
pub use table::{RawInput, Table};
