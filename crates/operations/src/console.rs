use async_trait::async_trait;

use crate::calls::{CallDetails, CallPage, CallQuery, CallTrace, Overview, OverviewQuery};
use crate::servers::{
    LogQuery, ServerChange, ServerDetail, ServerList, ServerLogs, ServerName, ServerSwitch,
};
use crate::{Caller, OperationError};

/// What an operator does with a running gateway: watch its servers and calls, and switch servers. The operations of the
/// table and the pages of the dashboard share it.
///
/// Rows are limited to the caller's tenant here. Doors and pages check scopes: servers need
/// `metrics:read`, calls `audit:read`, and changes `admin`.
#[async_trait]
pub trait Console: Send + Sync {
    /// The state of every server.
    fn servers(&self) -> ServerList;

    /// One server with its processes, logs, tools and calls.
    async fn server(
        &self,
        caller: &Caller,
        input: ServerName,
    ) -> Result<ServerDetail, OperationError>;

    /// Lines of a server's log.
    fn logs(&self, query: &LogQuery) -> Result<ServerLogs, OperationError>;

    /// Restarts, enables or disables a server.
    async fn switch(
        &self,
        caller: &Caller,
        input: ServerName,
        switch: ServerSwitch,
    ) -> Result<ServerChange, OperationError>;

    /// A page of calls.
    async fn calls(&self, caller: &Caller, query: CallQuery) -> Result<CallPage, OperationError>;

    /// The calls of one trace.
    async fn call(&self, caller: &Caller, input: CallTrace) -> Result<CallDetails, OperationError>;

    /// Statistics of the calls since a time.
    async fn overview(
        &self,
        caller: &Caller,
        query: OverviewQuery,
    ) -> Result<Overview, OperationError>;
}
