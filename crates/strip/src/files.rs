//! Files in calls: ids in the input become what the tool takes, and large parts of the output become references. Storage
//! is in the crate [`files`](::files).

mod access;
mod audited;
mod fill;
mod issued;
pub mod operations;
mod references;
mod resolver;
mod results;
mod shown;
mod strategies;

pub(crate) use ::files::{Files, InlineLimits, Listing, NewFile, hex, uri};
pub use access::{check_storing, find_readable};
pub use audited::FileUse;
pub(crate) use fill::{Filled, files_to_fill, fill};
pub(crate) use issued::{issued_references, remember_issued};
pub(crate) use references::LargeAnswer;
pub use references::data_of;
pub(crate) use resolver::{FileResolver, GuardedServers};
pub use results::READ_RESULT;
pub(crate) use shown::shown_files;
pub use strategies::Strategies;
