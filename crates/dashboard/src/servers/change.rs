//! Switches a server. The gateway writes an audit row for each change.

use auth::scope;
use axum::extract::{Path, State};
use operations::servers::{ServerName, ServerSwitch};

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
    let Some(switch) = ServerSwitch::named(posted.text("do")) else {
        let known = ServerSwitch::participles();
        return Err(viewer.missing(&format!("A server can be {known} here.")));
    };
    match console.switch(&caller, input, switch).await {
        Ok(_) => Ok(see_other(&format!("{}?did={}", server_page(&name), switch.as_str()))),
        Err(error) => Err(viewer.failed("Not changed", &error)),
    }
}
