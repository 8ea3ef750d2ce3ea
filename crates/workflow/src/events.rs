//! The journal of a workflow as people and programs follow it.

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use operations::OperationError;
use operations::workflows::WorkflowEvent;
use proto::Failure;
use store::WorkflowEventRow;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;
use uuid::Uuid;

use crate::failures::damaged;
use crate::outage::read;
use crate::service::Service;

/// How many rows are read at a time.
const PAGE: u32 = 200;

/// Rows of the journal as they are shown, without those that only the gateway reads.
pub(crate) fn shown(rows: Vec<WorkflowEventRow>) -> Result<Vec<WorkflowEvent>, Failure> {
    let shown = rows.into_iter().filter(|row| row.kind != "snapshot").map(|row| {
        Ok(WorkflowEvent {
            number: i64::try_from(row.number).unwrap_or(i64::MAX),
            at_unix_ms: row.at_unix_ms,
            kind: row.kind,
            data: serde_json::from_str(&row.data).map_err(|error| damaged(row.workflow, error))?,
        })
    });
    shown.collect()
}

/// Reads the journal of a workflow from one row on.
pub(crate) struct JournalReader {
    service: Arc<Service>,
    workflow: Uuid,
    /// Subscribed before the first read, so that no row is missed in between.
    notices: broadcast::Receiver<Uuid>,
    /// The number of the last row that was read.
    after: u64,
    /// Whether the last row is written.
    over: bool,
}

impl JournalReader {
    pub(crate) fn new(service: &Arc<Service>, workflow: Uuid, after: u64) -> Self {
        let notices = service.announcements();
        Self { service: Arc::clone(service), workflow, notices, after, over: false }
    }

    /// The events that are there and those that come. An error is the last item, and is logged when it is made. What is
    /// there is read before the stream begins, so that a client which reconnects to a damaged journal is refused.
    pub(crate) async fn follow(
        mut self,
    ) -> Result<BoxStream<'static, Result<WorkflowEvent, OperationError>>, OperationError> {
        let first = self.read().await?.unwrap_or_default();
        let later = stream::unfold(Some(self), |reader: Option<Self>| async move {
            let mut reader = reader?;
            match reader.next().await {
                Ok(events) => {
                    let events: Vec<_> = events?.into_iter().map(Ok).collect();
                    Some((stream::iter(events), Some(reader)))
                }
                Err(failure) => Some((stream::iter(vec![Err(failure.into())]), None)),
            }
        });
        Ok(stream::iter(first.into_iter().map(Ok)).chain(later.flatten()).boxed())
    }

    /// The next events, once there are any; none after the last, and when the gateway stops.
    async fn next(&mut self) -> Result<Option<Vec<WorkflowEvent>>, Failure> {
        loop {
            if let Some(events) = self.read().await? {
                return Ok(Some(events));
            }
            if self.over {
                return Ok(None);
            }
            // The client may have seen the last event. What was written since the read above is read first.
            let (database, workflow) = (&self.service.database, self.workflow);
            self.over = read(|| database.workflow(workflow)).await?.is_none();
            if !self.over && !self.wait_for_rows().await {
                return Ok(None);
            }
        }
    }

    /// The events of the next rows; none if there are no more rows by now.
    async fn read(&mut self) -> Result<Option<Vec<WorkflowEvent>>, Failure> {
        let (database, workflow, after) = (&self.service.database, self.workflow, self.after);
        let rows = read(|| database.workflow_events(workflow, after, PAGE)).await?;
        let Some(last) = rows.last() else { return Ok(None) };
        self.after = last.number;
        let events = shown(rows)?;
        self.over |= events.iter().any(WorkflowEvent::is_last);
        Ok(Some(events))
    }

    /// Waits until there may be new rows; false if the gateway stops.
    async fn wait_for_rows(&mut self) -> bool {
        loop {
            tokio::select! {
                () = self.service.draining.cancelled() => return false,
                notice = self.notices.recv() => match notice {
                    Ok(workflow) if workflow != self.workflow => {}
                    Ok(_) | Err(RecvError::Lagged(_)) => return true,
                    Err(RecvError::Closed) => return false,
                }
            }
        }
    }
}
