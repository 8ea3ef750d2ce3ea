//! Finds the tool of a call by any of its names.

use std::sync::Arc;

use proto::{Code, ToolId, ToolRef, wire};
use serde_json::json;

use crate::agents::View;
use crate::catalog::Entry;
use crate::guards::Guards;
use crate::{Failure, Request};

/// The tool that runs, and the tool that forwarded to it if there is one.
pub(crate) struct Resolved {
    pub(crate) forwarder: Option<Arc<Entry>>,
    pub(crate) found: Result<Arc<Entry>, Failure>,
}

impl Guards {
    /// Finds the tool of a call. A call is forwarded once: the guards of the tool that runs apply.
    pub(crate) fn resolve(&self, request: &mut Request) -> Resolved {
        let view = self.view(&request.principal);
        let entry = match self.find(&view, request) {
            Ok(entry) => entry,
            Err(unknown) => return Resolved { forwarder: None, found: Err(unknown) },
        };
        let Some((tool, input)) = entry.tool.forwards_to(&request.input) else {
            return Resolved { forwarder: None, found: Ok(entry) };
        };
        request.tool = tool;
        request.input = Arc::new(input);
        // Only a model calls through another tool.
        let found = self.find(&view, request).and_then(refuse_app_only);
        Resolved { forwarder: Some(entry), found }
    }

    fn find(&self, view: &View, request: &mut Request) -> Result<Arc<Entry>, Failure> {
        let unknown = match view.tools().resolve(&request.tool) {
            Ok(entry) => return Ok(Arc::clone(entry)),
            Err(unknown) if unknown.code != Code::NotFound => return Err(unknown),
            Err(unknown) => unknown,
        };
        if let Some(entry) = self.tool_of_open_app(view, request) {
            // Later guards resolve the call again, and its bare name is ambiguous.
            request.tool = entry.wire.clone();
            return Ok(entry);
        }
        Err(self.outage(request).unwrap_or(unknown))
    }

    /// The tool of a bare name that several servers have, if exactly one of them has an app open for the caller. With
    /// several open apps the call is refused: one server must not receive what the app of another one sends.
    fn tool_of_open_app(&self, view: &View, request: &Request) -> Option<Arc<Entry>> {
        let reference: ToolRef = request.tool.parse().ok()?;
        let of_open_app = |entry: &&Arc<Entry>| {
            let descriptor = &entry.descriptor;
            descriptor.is_for_apps()
                && descriptor.id.server().is_some_and(|server| self.apps.is_open(request, server))
        };
        let mut found = view.tools().bare(reference.id.as_str()).filter(of_open_app);
        let entry = found.next().filter(|_| reference.major.is_none())?;
        found.next().is_none().then(|| Arc::clone(entry))
    }

    /// The failure of a call to a tool that the caller may have, of a server that cannot be used.
    fn outage(&self, request: &Request) -> Option<Failure> {
        let outages = self.outages.get()?.upgrade()?;
        let id = match request.tool.parse::<ToolRef>().ok()?.id {
            id if id.server().is_some() => id,
            _ => outages.servers().iter().find_map(|server| of_wire_name(server, &request.tool))?,
        };
        if !self.views.may_hold(&request.principal, &id) {
            return None;
        }
        outages.outage(id.server()?)
    }
}

/// The id that a wire name with the prefix of a server abbreviates. Only for messages: calls never split a wire name.
fn of_wire_name(server: &str, name: &str) -> Option<ToolId> {
    let prefix: ToolId = format!("{server}:x").parse().ok()?;
    let prefix = wire::preferred(&prefix, None);
    let tool = name.strip_prefix(prefix.strip_suffix('x')?)?;
    format!("{server}:{tool}").parse().ok()
}

fn refuse_app_only(entry: Arc<Entry>) -> Result<Arc<Entry>, Failure> {
    if entry.descriptor.is_for_models() {
        return Ok(entry);
    }
    let id = &entry.descriptor.id;
    let message = format!("`{id}` is only for the app of its server, not for models");
    Err(Failure::new(Code::Denied, message).details(json!({"tool": id})))
}
