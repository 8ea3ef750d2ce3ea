//! The parts of a server that its calls share.

use std::sync::Arc;

use crate::base::Base;
use crate::jobs::Jobs;
use crate::stored::ReferenceStore;

/// The parts of a server that its calls use.
#[derive(Debug, Clone)]
pub(crate) struct Shared {
    pub(crate) references: Option<ReferenceStore>,
    pub(crate) jobs: Option<Jobs>,
    pub(crate) base: Arc<Base>,
}
