//! Finds the tool of a call by any of its names.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use proto::{Code, Failure, ToolId, ToolRef, wire};
use serde_json::json;

use crate::Job;
use crate::agents::View;
use crate::catalog::{self, Entry, NameStyle};
use crate::guards::Guards;
use crate::servers::Outages;

/// How long a call waits for a server that is being started, unless its own timeout is shorter.
const START_WAIT: Duration = Duration::from_secs(10);

/// The tool that runs, and the tool that forwarded to it if there is one.
pub(crate) struct Resolved {
    pub(crate) forwarder: Option<Arc<Entry>>,
    pub(crate) found: Result<Arc<Entry>, Failure>,
}

impl Guards {
    /// Finds the tool of a call. A call to a server that is being started waits for its tools.
    pub(crate) async fn resolve(&self, job: &mut Job) -> Resolved {
        let resolved = self.find_tool(job);
        match &resolved.found {
            Err(unknown) if is_unlisted(unknown) => {}
            _ => return resolved,
        }
        // Boxed to keep the common future small.
        Box::pin(self.await_server(job, resolved)).await
    }

    /// Finds the tool again once its server has listed its tools, or says why the server cannot be used.
    async fn await_server(&self, job: &mut Job, unresolved: Resolved) -> Resolved {
        let Some(outages) = self.outages.get().and_then(Weak::upgrade) else { return unresolved };
        let Some(server) = self.server_of(job, &*outages) else { return unresolved };
        let began = Instant::now();
        let limit = job.timeout.map_or(START_WAIT, |timeout| timeout.min(START_WAIT));
        tokio::select! {
            () = outages.wait_for_first_list(&server, limit) => {}
            () = job.cancel().cancelled() => return unresolved,
        }
        job.timeout = job.timeout.map(|timeout| timeout.saturating_sub(began.elapsed()));
        let mut resolved = self.find_tool(job);
        resolved.forwarder = resolved.forwarder.or(unresolved.forwarder);
        if let Err(unknown) = &mut resolved.found
            && is_unlisted(unknown)
            && let Some(outage) = outages.outage(&server, &job.request().principal).await
        {
            *unknown = outage;
        }
        resolved
    }

    /// Finds the tool of a call. A call is forwarded once: the guards of the tool that runs apply.
    pub(crate) fn find_tool(&self, job: &mut Job) -> Resolved {
        let view = self.view_of_job(job);
        let entry = match self.find(&view, job) {
            Ok(entry) => entry,
            Err(unknown) => return Resolved { forwarder: None, found: Err(unknown) },
        };
        let Some((tool, input)) = entry.tool.forwards_to(&job.input) else {
            return Resolved { forwarder: None, found: Ok(entry) };
        };
        job.renamed = Some(tool);
        job.input = Arc::new(input);
        // Only a model calls through another tool.
        let found = self.find(&view, job).and_then(refuse_app_only);
        Resolved { forwarder: Some(entry), found }
    }

    fn find(&self, view: &View, job: &mut Job) -> Result<Arc<Entry>, Failure> {
        let style = self.shown_names(job.request().door);
        let found = view.tools().resolve_for(job.tool(), style);
        match &found {
            Ok(entry) if entry.wire == job.tool() => return Ok(Arc::clone(entry)),
            Ok(entry) if !view.tools().is_shared_bare(job.tool()) => {
                return Ok(Arc::clone(entry));
            }
            Err(unknown) if unknown.code != Code::NotFound => return found.map(Arc::clone),
            _ => {}
        }
        match self.tools_of_open_apps(view, job).as_slice() {
            [] => found.map(Arc::clone),
            [entry] => {
                // Later guards resolve the call again, and its bare name may belong to another tool.
                job.renamed = Some(entry.wire.clone());
                Ok(Arc::clone(entry))
            }
            several => {
                let shown = |entry: &'_ Arc<Entry>| match style {
                    NameStyle::Wire => entry.wire.clone(),
                    NameStyle::Canonical => entry.descriptor.id.as_str().to_owned(),
                };
                let names: Vec<_> = several.iter().map(shown).collect();
                let names = names.iter().map(String::as_str).collect();
                Err(catalog::ambiguous(job.tool(), names))
            }
        }
    }

    /// The tools of a bare name whose servers have an app open for the caller. With several open apps the call is
    /// refused: one server must not receive what the app of another one sends.
    fn tools_of_open_apps(&self, view: &View, job: &Job) -> Vec<Arc<Entry>> {
        let Ok(ToolRef { id, major: None }) = job.tool().parse() else { return Vec::new() };
        let of_open_app = |entry: &&Arc<Entry>| {
            entry.descriptor.is_for_apps()
                && entry.server().is_some_and(|server| self.apps.is_open(job.request(), server))
        };
        view.tools().bare(id.as_str()).filter(of_open_app).map(Arc::clone).collect()
    }

    /// The server of a tool that is not in the catalog, if the caller may have the tool.
    fn server_of(&self, job: &Job, outages: &dyn Outages) -> Option<String> {
        let named = job.tool().parse::<ToolRef>().ok()?.id;
        let id = if named.server().is_some() {
            named
        } else {
            let owner = self.view(&job.request().principal).tools().owner_of_bare(named.as_str());
            let of_wire_name = |server: &String| of_wire_name(server, job.tool());
            owner.or_else(|| outages.servers().iter().find_map(of_wire_name))?
        };
        let server = id.server()?.to_owned();
        self.views.may_hold(&job.request().principal, &id).then_some(server)
    }
}

/// Whether a call failed because the catalog does not have its tool.
fn is_unlisted(failure: &Failure) -> bool {
    matches!(failure.code, Code::NotFound | Code::Unavailable)
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
