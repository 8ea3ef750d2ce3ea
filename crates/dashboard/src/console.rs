//! What the pages ask the gateway about its servers and calls, for a viewer.

use std::collections::HashMap;

use axum::response::Response;
use http::StatusCode;
use operations::calls::OverviewQuery;
use operations::{Caller, Operation, OperationError, RawInput};
use proto::{Code, Failure, TraceId};

use crate::layout::error_page;
use crate::state::Dashboard;
use crate::viewer::Viewer;

/// How far back the catalog looks for the last use of a tool.
const LAST_USES_RANGE: &str = "30d";
const MAX_LAST_USES: u32 = 1_000;

impl Viewer {
    /// The viewer as a caller of operations.
    pub(super) fn caller(&self) -> Caller {
        Caller::remote(self.session.principal.clone(), TraceId::random())
    }

    /// The page for an operation that failed.
    pub(super) fn failed(&self, title: &str, error: &OperationError) -> Response {
        let status = StatusCode::from_u16(error.code.http_status());
        let status = if error.conflict { Ok(StatusCode::CONFLICT) } else { status };
        let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        error_page(self, status, title, &error.message)
    }

    /// The page for something that an operation could not give. What could not be read is not said to be missing.
    pub(super) fn unavailable(&self, error: &OperationError) -> Response {
        let title = if error.code == Code::NotFound { "Not found" } else { "Not available" };
        self.failed(title, error)
    }

    /// The page for something that cannot be shown. What could not be read is not said to be missing.
    pub(super) fn cannot_show(&self, failure: Failure) -> Response {
        match failure.code {
            Code::NotFound => self.missing(&failure.message),
            _ => self.failed("Not available", &failure.into()),
        }
    }
}

impl Dashboard {
    /// Runs an operation for a viewer. The page has checked the scope.
    pub(super) async fn run<O: Operation>(
        &self,
        viewer: &Viewer,
        input: &O::Input,
    ) -> Result<O::Output, OperationError> {
        let unreadable = |error: serde_json::Error| {
            OperationError::new(Code::Internal, format!("{} failed: {error}", O::NAME))
        };
        let input = RawInput::Params(serde_json::to_value(input).map_err(unreadable)?);
        let output = self.parts.operations.run(O::NAME, viewer.caller(), input).await?;
        serde_json::from_value(output).map_err(unreadable)
    }

    /// When tools were last called by the viewer's tenant, by id.
    pub(super) async fn last_uses(&self, viewer: &Viewer) -> HashMap<String, u64> {
        let query = OverviewQuery {
            range: Some(LAST_USES_RANGE.to_owned()),
            tools: Some(MAX_LAST_USES),
            ..OverviewQuery::default()
        };
        match self.parts.console.overview(&viewer.caller(), query).await {
            Ok(overview) => {
                let tools = overview.top_tools.into_iter();
                tools.map(|tool| (tool.tool, tool.last_unix_ms)).collect()
            }
            Err(error) => {
                tracing::warn!(%error, "the last uses of tools cannot be read");
                HashMap::new()
            }
        }
    }
}
