//! The workflows of this process, for the parts of a workflow's page.

use std::sync::Arc;

use auth::scope;
use axum::response::Response;
use operations::workflows::WorkflowConsole;

use crate::state::Dashboard;
use crate::viewer::Viewer;

/// Why a workflow is paused in which processes died.
pub(super) const QUARANTINED: &str = "quarantined";

/// The workflows of this process.
pub(super) fn console<'a>(
    dashboard: &'a Dashboard,
    viewer: &Viewer,
) -> Result<&'a Arc<dyn WorkflowConsole>, Response> {
    let missing = || viewer.missing("Workflows are not available in this process.");
    dashboard.parts.workflows.as_ref().ok_or_else(missing)
}

/// The workflows of this process, for a viewer who may start and steer some.
pub(super) fn steering_console<'a>(
    dashboard: &'a Dashboard,
    viewer: &Viewer,
) -> Result<&'a Arc<dyn WorkflowConsole>, Response> {
    viewer.require(scope::RUNS_READ)?;
    viewer.require(scope::TOOLS_CALL)?;
    console(dashboard, viewer)
}
