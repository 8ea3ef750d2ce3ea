//! Operations on the servers behind the strip: their state and logs, and switching them.

use std::sync::Arc;

use operations::scope::METRICS_READ;
use operations::servers::{
    LogQuery, ServerChange, ServerDetail, ServerList, ServerLogs, ServerName, ServerSwitch,
};
use operations::{
    Audience, Caller, Console as _, NoInput, Operation, OperationError, Route, Table,
};
use proto::ADMIN;

use super::console::GatewayConsole;

/// The operations on servers.
pub(super) fn table(console: &Arc<GatewayConsole>) -> Table {
    Table::default()
        .with::<ListServers>(console)
        .with::<ShowServer>(console)
        .with::<ReadLogs>(console)
        .with::<RestartServer>(console)
        .with::<EnableServer>(console)
        .with::<DisableServer>(console)
}

pub struct ListServers;

impl Operation for ListServers {
    const NAME: &'static str = "powerstrip.servers.list";
    const SUMMARY: &'static str = "List the servers and their state";
    // It shows URLs and errors, which agents must not see.
    const AUDIENCE: Audience = Audience::LocalUser;
    const ROUTE: Option<Route> =
        Some(Route::get("/v1/servers", METRICS_READ, "gateway.listServers"));
    type Service = GatewayConsole;
    type Input = NoInput;
    type Output = ServerList;

    async fn run(
        console: Arc<GatewayConsole>,
        _: Caller,
        _: NoInput,
    ) -> Result<ServerList, OperationError> {
        Ok(console.servers())
    }
}

pub struct ShowServer;

impl Operation for ShowServer {
    const NAME: &'static str = "powerstrip.servers.show";
    const SUMMARY: &'static str = "Show a server with its processes, logs, tools and calls";
    const ROUTE: Option<Route> =
        Some(Route::get("/v1/servers/{name}", METRICS_READ, "gateway.getServer"));
    type Service = GatewayConsole;
    type Input = ServerName;
    type Output = ServerDetail;

    async fn run(
        console: Arc<GatewayConsole>,
        caller: Caller,
        input: ServerName,
    ) -> Result<ServerDetail, OperationError> {
        console.server(&caller, input).await
    }
}

pub struct ReadLogs;

impl Operation for ReadLogs {
    const NAME: &'static str = "powerstrip.servers.logs";
    const SUMMARY: &'static str =
        "Read what a server wrote to stderr, and when it went up and down";
    const ROUTE: Option<Route> =
        Some(Route::get("/v1/servers/{name}/logs", METRICS_READ, "gateway.getServerLogs"));
    type Service = GatewayConsole;
    type Input = LogQuery;
    type Output = ServerLogs;

    async fn run(
        console: Arc<GatewayConsole>,
        _: Caller,
        query: LogQuery,
    ) -> Result<ServerLogs, OperationError> {
        console.logs(&query)
    }
}

pub struct RestartServer;

impl Operation for RestartServer {
    const NAME: &'static str = "powerstrip.servers.restart";
    const SUMMARY: &'static str = "Restart a server";
    const ROUTE: Option<Route> =
        Some(Route::post("/v1/servers/{name}/restart", ADMIN, "gateway.restartServer"));
    type Service = GatewayConsole;
    type Input = ServerName;
    type Output = ServerChange;

    async fn run(
        console: Arc<GatewayConsole>,
        caller: Caller,
        input: ServerName,
    ) -> Result<ServerChange, OperationError> {
        console.switch(&caller, input, ServerSwitch::Restart).await
    }
}

pub struct EnableServer;

impl Operation for EnableServer {
    const NAME: &'static str = "powerstrip.servers.enable";
    const SUMMARY: &'static str =
        "Remove `disabled` of a server from the config file, and start it";
    const ROUTE: Option<Route> =
        Some(Route::post("/v1/servers/{name}/enable", ADMIN, "gateway.enableServer"));
    type Service = GatewayConsole;
    type Input = ServerName;
    type Output = ServerChange;

    async fn run(
        console: Arc<GatewayConsole>,
        caller: Caller,
        input: ServerName,
    ) -> Result<ServerChange, OperationError> {
        console.switch(&caller, input, ServerSwitch::Enable).await
    }
}

pub struct DisableServer;

impl Operation for DisableServer {
    const NAME: &'static str = "powerstrip.servers.disable";
    const SUMMARY: &'static str = "Set `disabled` of a server in the config file, and stop it";
    const ROUTE: Option<Route> =
        Some(Route::post("/v1/servers/{name}/disable", ADMIN, "gateway.disableServer"));
    type Service = GatewayConsole;
    type Input = ServerName;
    type Output = ServerChange;

    async fn run(
        console: Arc<GatewayConsole>,
        caller: Caller,
        input: ServerName,
    ) -> Result<ServerChange, OperationError> {
        console.switch(&caller, input, ServerSwitch::Disable).await
    }
}
