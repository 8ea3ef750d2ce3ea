//! Servers that the gateway is compared with or put in front of: the same echo on axum and on rmcp, without guards.

mod files;

use std::io::Write as _;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::Path;
use axum::routing::post;
use axum::{Json, Router};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use uuid::Uuid;

pub(crate) use files::{Copy, files};

/// The largest answer of `/bytes/{count}`.
const MOST_BYTES: usize = 16 << 20;

/// How many tools a page of `tools/list` holds.
const PAGE: usize = 1_000;

/// Serves the envelope of an echo, and any number of prepared bytes.
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

/// Options of the bare MCP server.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct McpServer {
    /// How many tools it lists; the first is the echo.
    #[arg(long, default_value_t = 1)]
    tools: usize,
    /// Answer everything but calls.
    #[arg(long)]
    hang: bool,
}

/// Serves an echo tool over MCP, in both eras and without sessions.
pub(crate) async fn mcp(server: McpServer) -> anyhow::Result<()> {
    let config = StreamableHttpServerConfig::default()
        .disable_allowed_hosts()
        .with_legacy_session_mode(false)
        .with_json_response(true);
    let tools: Arc<[Tool]> = (0..server.tools).map(tool).collect();
    let service = StreamableHttpService::new(
        move || Ok(Echo { tools: Arc::clone(&tools), hangs: server.hang }),
        Arc::new(LocalSessionManager::default()),
        config,
    );
    serve(Router::new().route_service("/mcp", service)).await
}

/// The echo, and after it tools of the usual size, which echo as well but have no `readOnlyHint`.
fn tool(number: usize) -> Tool {
    let mut schema = json!({
        "type": "object",
        "required": ["message"],
        "properties": {"message": {"type": "string", "description": "What to say."}},
    });
    if number == 0 {
        let described = "Answers with the message that it was given, unchanged.";
        // The gateway answers calls without this hint only after their audit row is on disk.
        return Tool::new("echo", described, rmcp::model::object(schema))
            .with_annotations(ToolAnnotations::new().read_only(true));
    }
    schema["properties"]["fields"] = json!({
        "type": "array",
        "maxItems": 50,
        "items": {"type": "string"},
        "description": "Which fields to return; all of them if left out.",
    });
    let described = format!(
        "Looks up record {number} by what the message says and returns the fields that were asked for. Use it when a \
         person names the record; for a search over all records, use the search tool instead."
    );
    Tool::new(format!("record{number:05}"), described, rmcp::model::object(schema))
}

struct Echo {
    tools: Arc<[Tool]>,
    hangs: bool,
}

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(Implementation::new("bare", "1.0.0"))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let from = match cursor.map(|cursor| cursor.parse::<usize>()) {
            None => 0,
            Some(Ok(from)) if from < self.tools.len() => from,
            Some(_) => return Err(ErrorData::invalid_params("there is no such page", None)),
        };
        let to = self.tools.len().min(from + PAGE);
        let mut listed = ListToolsResult::with_all_items(self.tools[from..to].to_vec());
        listed.next_cursor = (to < self.tools.len()).then(|| to.to_string());
        Ok(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.hangs {
            std::future::pending::<()>().await;
        }
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
