//! Operations on the servers behind the strip: their state.

use std::sync::Arc;

use operations::scope::METRICS_READ;
use operations::{Audience, Caller, NoInput, Operation, OperationError, Route, Table};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use strip::Strip;
use upstream::{Registry, Upstreams};

use super::servers;

/// What these operations work on.
pub(crate) struct ServerService {
    pub(super) upstreams: Arc<Upstreams>,
    pub(super) registry: Arc<Registry>,
    pub(super) strip: Arc<Strip>,
}

/// The operations on servers.
pub(super) fn table(service: &Arc<ServerService>) -> Table {
    Table::default().with::<ListServers>(service)
}

/// The state of every server.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ServerList {
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub(crate) servers: Vec<Value>,
}

pub(crate) struct ListServers;

impl Operation for ListServers {
    const NAME: &'static str = "powerstrip.servers";
    const SUMMARY: &'static str = "List the servers and their state";
    // It shows URLs and errors, which agents must not see.
    const AUDIENCE: Audience = Audience::LocalUser;
    const ROUTE: Option<Route> =
        Some(Route::get("/v1/servers", METRICS_READ, "gateway.listServers"));
    type Service = ServerService;
    type Input = NoInput;
    type Output = ServerList;

    async fn run(
        service: Arc<ServerService>,
        _: Caller,
        _: NoInput,
    ) -> Result<ServerList, OperationError> {
        let ServerService { upstreams, registry, strip } = &*service;
        let servers = match servers::report(upstreams, registry, strip) {
            Value::Array(servers) => servers,
            _ => Vec::new(),
        };
        Ok(ServerList { servers })
    }
}
