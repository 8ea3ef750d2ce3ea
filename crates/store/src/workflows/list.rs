//! Lists of workflows, ended ones included.

use uuid::Uuid;

use super::WorkflowPhase;
use crate::sql::{Query, Row, query};
use crate::{Crashes, Database, Listed, StoreError};

/// No list is longer, whatever limit is asked for.
const MAX_LISTED: u32 = 500;

/// Which workflows to list.
#[derive(Clone, Debug, Default)]
pub struct WorkflowFilter {
    /// Only of this tenant.
    pub tenant: Option<String>,
    /// Only in this phase.
    pub phase: Option<WorkflowPhase>,
    /// Only those that are not resumed because processes died while they drove them.
    pub quarantined: bool,
    /// Only those whose run has an id that begins so.
    pub run_prefix: Option<String>,
    pub limit: Option<u32>,
    pub offset: u32,
}

impl Database {
    /// The workflows that match a filter, the last changed first. Those that have ended are known by their runs.
    pub async fn workflows(&self, filter: &WorkflowFilter) -> Result<Vec<Uuid>, StoreError> {
        let limit = filter.limit.unwrap_or(MAX_LISTED).min(MAX_LISTED);
        let first = limit.saturating_add(filter.offset);
        let phase = || filter.phase.map(WorkflowPhase::as_str);
        let select = query(
            "SELECT run FROM (SELECT run, changed FROM \
             (SELECT run, updated_at AS changed FROM workflow_dags WHERE true",
        )
        .and("phase = ", phase());
        let select = if filter.quarantined {
            select.push(&format!(" AND {}", Crashes::poison_condition()))
        } else {
            select
        };
        let select = narrow(select, filter, "run")
            .push(" ORDER BY updated_at DESC, run LIMIT ")
            .push_bind(first)
            .push(
                ") AS active UNION ALL SELECT run, changed FROM \
                 (SELECT id AS run, touched_ms AS changed FROM runs \
                 WHERE kind = 'workflow' AND id NOT IN (SELECT run FROM workflow_dags)",
            )
            .and("'ended' = ", phase());
        let select = narrow(select, filter, "id")
            .push(" ORDER BY touched_ms DESC, id LIMIT ")
            .push_bind(first)
            .push(") AS ended) AS workflows ORDER BY changed DESC, run LIMIT ")
            .push_bind(limit)
            .push(" OFFSET ")
            .push_bind(filter.offset);
        let rows = self.sql.all(select).await?;
        let read = |row: &Row| {
            let run: String = row.get("run")?;
            workflow_of(&run).ok_or(StoreError::Unreadable { column: "run", value: run })
        };
        // One damaged row must not hide the others.
        Ok(Listed::read("workflow_dags", "run", &rows, read)?.rows)
    }
}

/// Adds the conditions that active and ended workflows have in common; `run` is the column with the id of the run.
fn narrow<'q>(select: Query<'q>, filter: &'q WorkflowFilter, run: &str) -> Query<'q> {
    let length = filter.run_prefix.as_ref().map_or(0, |prefix| prefix.chars().count());
    select
        .and("tenant = ", filter.tenant.as_deref())
        .and(&format!("substr({run}, 1, {length}) = "), filter.run_prefix.as_deref())
}

/// The workflow of a run.
fn workflow_of(run: &str) -> Option<Uuid> {
    Uuid::parse_str(run.strip_prefix("run_")?).ok()
}
