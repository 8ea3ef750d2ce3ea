//! Finds the tool of a call by any of its names.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use proto::{Code, ToolId, ToolRef, wire};
use serde_json::json;

use crate::agents::View;
use crate::catalog::Entry;
use crate::guards::Guards;
use crate::servers::Outages;
use crate::{Failure, Request};

/// How long a call waits for a server that is being started, unless its own timeout is shorter.
const START_WAIT: Duration = Duration::from_secs(10);

/// The tool that runs, and the tool that forwarded to it if there is one.
pub(crate) struct Resolved {
    pub(crate) forwarder: Option<Arc<Entry>>,
    pub(crate) found: Result<Arc<Entry>, Failure>,
}

impl Guards {
    /// Finds the tool of a call. A call to a server that is being started waits for its tools.
    pub(crate) async fn resolve(&self, request: &mut Request) -> Resolved {
        let resolved = self.find_tool(request);
        match &resolved.found {
            Err(unknown) if unknown.code == Code::NotFound => {}
            _ => return resolved,
        }
        // Boxed to keep the common future small.
        Box::pin(self.await_server(request, resolved)).await
    }

    /// Finds the tool again once its server has listed its tools, or says why the server cannot be used.
    async fn await_server(&self, request: &mut Request, unresolved: Resolved) -> Resolved {
        let Some(outages) = self.outages.get().and_then(Weak::upgrade) else { return unresolved };
        let Some(server) = self.server_of(request, &*outages) else { return unresolved };
        let began = Instant::now();
        let limit = request.timeout.map_or(START_WAIT, |timeout| timeout.min(START_WAIT));
        tokio::select! {
            () = outages.wait_for_first_list(&server, limit) => {}
            () = request.cancel.cancelled() => return unresolved,
        }
        request.timeout = request.timeout.map(|timeout| timeout.saturating_sub(began.elapsed()));
        let mut resolved = self.find_tool(request);
        resolved.forwarder = resolved.forwarder.or(unresolved.forwarder);
        if let Err(unknown) = &mut resolved.found
            && unknown.code == Code::NotFound
            && let Some(outage) = outages.outage(&server, &request.principal).await
        {
            *unknown = outage;
        }
        resolved
    }

    /// Finds the tool of a call. A call is forwarded once: the guards of the tool that runs apply.
    fn find_tool(&self, request: &mut Request) -> Resolved {
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
        Err(unknown)
    }

    /// The tool of a bare name that several servers have, if exactly one of them has an app open for the caller. With
    /// several open apps the call is refused: one server must not receive what the app of another one sends.
    fn tool_of_open_app(&self, view: &View, request: &Request) -> Option<Arc<Entry>> {
        let reference: ToolRef = request.tool.parse().ok()?;
        let of_open_app = |entry: &&Arc<Entry>| {
            entry.descriptor.is_for_apps()
                && entry.server().is_some_and(|server| self.apps.is_open(request, server))
        };
        let mut found = view.tools().bare(reference.id.as_str()).filter(of_open_app);
        let entry = found.next().filter(|_| reference.major.is_none())?;
        found.next().is_none().then(|| Arc::clone(entry))
    }

    /// The server of a tool that is not in the catalog, if the caller may have the tool.
    fn server_of(&self, request: &Request, outages: &dyn Outages) -> Option<String> {
        let id = match request.tool.parse::<ToolRef>().ok()?.id {
            id if id.server().is_some() => id,
            _ => outages.servers().iter().find_map(|server| of_wire_name(server, &request.tool))?,
        };
        let server = id.server()?.to_owned();
        self.views.may_hold(&request.principal, &id).then_some(server)
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
