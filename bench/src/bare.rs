//! What the gateway is measured against: the same echo on axum and on rmcp, without a single guard.

use std::io::Write as _;

use axum::body::Bytes;
use axum::extract::Path;
use axum::routing::post;
use axum::{Json, Router};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, Implementation,
    ServerCapabilities, ServerConfig,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use uuid::Uuid;

/// The largest answer of `/bytes/{count}`.
const MOST_BYTES: usize = 16 << 20;

/// Serves the envelope of an echo, and any number of bytes that lie ready.
pub(crate) async fn http() -> anyhow::Result<()> {
    let ready_made = Bytes::from(vec![b' '; MOST_BYTES]);
    let bytes =
        move |Path(count): Path<usize>| async move { ready_made.slice(..count.min(MOST_BYTES)) };
    let router =
        Router::new().route("/mcp/tool/{tool}", post(echo)).route("/bytes/{count}", post(bytes));
    serve(router).await
}

async fn echo(Path(tool): Path<String>, Json(input): Json<Value>) -> Json<Value> {
    Json(json!({
        "ok": true,
        "data": input,
        "meta": {
            "tool": tool,
            "version": "1.0.0",
            "durationMs": 0,
            "traceId": Uuid::new_v4(),
            "warnings": [],
        },
        "errors": [],
    }))
}

/// Serves an echo tool over MCP.
pub(crate) async fn mcp() -> anyhow::Result<()> {
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_legacy_session_mode(false)
        .with_json_response(true);
    let service = StreamableHttpService::new(
        || Ok(Echo),
        std::sync::Arc::new(LocalSessionManager::default()),
        config,
    );
    serve(Router::new().route_service("/mcp", service)).await
}

struct Echo;

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("bare", "1.0.0"))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let input = Value::Object(request.arguments.unwrap_or_default());
        Ok(CallToolResult::structured(input).into())
    }
}

async fn serve(router: Router) -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(std::io::stderr(), "listening on http://{}", listener.local_addr()?)?;
    axum::serve(listener, router).await?;
    Ok(())
}
