//! Operations on calls that have ended: list, show and count them.

use std::sync::Arc;

use operations::calls::{CallDetails, CallPage, CallQuery, CallTrace, Overview, OverviewQuery};
use operations::scope::AUDIT_READ;
use operations::{Caller, Console as _, Operation, OperationError, Route, Table};

use super::console::GatewayConsole;

/// The operations on calls.
pub(super) fn table(console: &Arc<GatewayConsole>) -> Table {
    Table::default()
        .with::<ListCalls>(console)
        .with::<ShowCall>(console)
        .with::<ShowOverview>(console)
}

pub struct ListCalls;

impl Operation for ListCalls {
    const NAME: &'static str = "powerstrip.calls.list";
    const SUMMARY: &'static str = "List calls of the caller's tenant that have ended";
    const ROUTE: Option<Route> = Some(Route::get("/v1/calls", AUDIT_READ, "gateway.listCalls"));
    type Service = GatewayConsole;
    type Input = CallQuery;
    type Output = CallPage;

    async fn run(
        console: Arc<GatewayConsole>,
        caller: Caller,
        query: CallQuery,
    ) -> Result<CallPage, OperationError> {
        console.calls(&caller, query).await
    }
}

pub struct ShowCall;

impl Operation for ShowCall {
    const NAME: &'static str = "powerstrip.calls.show";
    const SUMMARY: &'static str = "Show the calls of a trace";
    const ROUTE: Option<Route> =
        Some(Route::get("/v1/calls/{trace}", AUDIT_READ, "gateway.getCall"));
    type Service = GatewayConsole;
    type Input = CallTrace;
    type Output = CallDetails;

    async fn run(
        console: Arc<GatewayConsole>,
        caller: Caller,
        input: CallTrace,
    ) -> Result<CallDetails, OperationError> {
        console.call(&caller, input).await
    }
}

pub struct ShowOverview;

impl Operation for ShowOverview {
    const NAME: &'static str = "powerstrip.overview";
    const SUMMARY: &'static str =
        "Count the calls of the caller's tenant, their errors and their durations";
    const ROUTE: Option<Route> = Some(Route::get("/v1/overview", AUDIT_READ, "gateway.overview"));
    type Service = GatewayConsole;
    type Input = OverviewQuery;
    type Output = Overview;

    async fn run(
        console: Arc<GatewayConsole>,
        caller: Caller,
        query: OverviewQuery,
    ) -> Result<Overview, OperationError> {
        console.overview(&caller, query).await
    }
}
