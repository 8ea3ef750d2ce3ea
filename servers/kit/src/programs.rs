//! The programs of a server, for health reports.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::base::Base;
use crate::program::Program;

/// The programs that a server uses.
#[derive(Debug, Clone, Default)]
pub struct Programs {
    pub(crate) list: Vec<Program>,
    pub(crate) base: Arc<Base>,
}

impl Programs {
    /// Which of them are installed; `None` if the server uses none.
    pub(crate) async fn report(&self) -> Option<Value> {
        if self.list.is_empty() {
            return None;
        }
        let runner = self.base.runner().await.ok()?;
        let mut rows = Vec::new();
        for program in &self.list {
            let engine = program.engine(runner).await.ok();
            let found = engine.is_some();
            let mut row = json!({"name": program.name(), "found": found});
            if let Some(version) = engine.and_then(|engine| engine.version) {
                row["version"] = version.into();
            }
            if !found {
                row["fix"] = program.fix().into();
            }
            rows.push(row);
        }
        Some(rows.into())
    }
}
