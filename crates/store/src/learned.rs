//! What the planner has learned from complete workflows.

use crate::sql::{Row, Value, in_transaction, query, value_rows};
use crate::{Database, StoreError};

/// How many edges one statement carries.
const CHUNK: usize = 100;

/// An output that was used as an argument in workflows of a tenant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanEdgeRow {
    pub from_tool: String,
    pub from_field: String,
    pub to_tool: String,
    pub to_argument: String,
    /// How often, in thousandths, as of the last time.
    pub count: u64,
    pub last_unix_ms: u64,
}

impl Database {
    /// The edges of a tenant, in the order of their names.
    pub async fn plan_edges(&self, tenant: &str) -> Result<Vec<PlanEdgeRow>, StoreError> {
        let select = query(
            "SELECT from_tool, from_field, to_tool, to_argument, count, last_ms FROM plan_edges \
             WHERE tenant = $1 ORDER BY from_tool, from_field, to_tool, to_argument",
        );
        self.sql.all(select.bind(tenant)).await?.iter().map(read).collect()
    }

    /// Stores edges of a tenant in place of their earlier rows, and removes the oldest beyond `most`. No edge occurs
    /// twice.
    pub async fn save_plan_edges(
        &self,
        tenant: &str,
        edges: &[PlanEdgeRow],
        most: u64,
    ) -> Result<(), StoreError> {
        in_transaction!(self.sql, |transaction| {
            for some in edges.chunks(CHUNK) {
                query(
                    "INSERT INTO plan_edges \
                         (tenant, from_tool, from_field, to_tool, to_argument, count, last_ms) VALUES ",
                )
                .push(&value_rows(some.len(), 7))
                .push(
                    " ON CONFLICT (tenant, from_tool, from_field, to_tool, to_argument) \
                     DO UPDATE SET count = excluded.count, last_ms = excluded.last_ms",
                )
                .bind_all(some.iter().flat_map(|edge| {
                    [
                        Value::from(tenant),
                        Value::from(&edge.from_tool),
                        Value::from(&edge.from_field),
                        Value::from(&edge.to_tool),
                        Value::from(&edge.to_argument),
                        Value::from(edge.count),
                        Value::from(edge.last_unix_ms),
                    ]
                }))
                .once()
                .execute(transaction.connection())
                .await?;
            }
            query(
                "DELETE FROM plan_edges WHERE tenant = $1 \
                     AND (from_tool, from_field, to_tool, to_argument) IN ( \
                         SELECT from_tool, from_field, to_tool, to_argument FROM plan_edges \
                         WHERE tenant = $1 \
                         ORDER BY last_ms DESC, from_tool, from_field, to_tool, to_argument \
                         LIMIT 1000000 OFFSET $2)",
            )
            .bind(tenant)
            .bind(most)
            .execute(transaction.connection())
            .await?;
        })
    }
}

fn read(row: &Row) -> Result<PlanEdgeRow, StoreError> {
    Ok(PlanEdgeRow {
        from_tool: row.get("from_tool")?,
        from_field: row.get("from_field")?,
        to_tool: row.get("to_tool")?,
        to_argument: row.get("to_argument")?,
        count: row.get("count")?,
        last_unix_ms: row.get("last_ms")?,
    })
}
