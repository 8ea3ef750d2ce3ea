//! The operations of this crate.

use std::sync::Arc;

use ::operations::Table;

use crate::{Strip, approval};

/// All operations that work on a strip.
pub fn table(strip: &Arc<Strip>) -> Table {
    approval::operations::table(strip)
}
