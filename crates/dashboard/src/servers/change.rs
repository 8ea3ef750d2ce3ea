//! Restarts, disables and enables a server. The gateway writes an audit row for each change.

use auth::scope;
use axum::extract::{Path, State};
use operations::servers::ServerName;

use super::state::server_page;
use crate::layout::PageResult;
use crate::posted::{PostedForm, see_other};
use crate::state::Dashboard;

pub(crate) async fn change(
    State(dashboard): State<Dashboard>,
    Path(name): Path<String>,
    posted: PostedForm,
) -> PageResult {
    let viewer = &posted.viewer;
    viewer.require(scope::ADMIN)?;
    let (console, caller) = (&dashboard.parts.console, viewer.caller());
    let input = ServerName { name: name.clone() };
    let action = posted.text("do");
    let changed = match action {
        "restart" => console.restart(&caller, input).await,
        "disable" => console.set_disabled(&caller, input, true).await,
        "enable" => console.set_disabled(&caller, input, false).await,
        _ => return Err(viewer.missing("A server can be restarted, disabled and enabled here.")),
    };
    match changed {
        Ok(_) => Ok(see_other(&format!("{}?did={action}", server_page(&name)))),
        Err(error) => Err(viewer.failed("Not changed", &error)),
    }
}
