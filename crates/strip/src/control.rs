//! The control-flow tools, which every agent has: to ask a person, to keep an artifact, to end a run.

mod ask;
mod complete;
mod store;

use std::sync::{Arc, Weak};

use proto::{Annotations, Blame, Caps, Code, Descriptor, RequestedLimits, ToolId};
use semver::Version;
use serde_json::Value;

use crate::agents::{CALL_TOOL, DESCRIBE_TOOL, SEARCH_TOOLS};
use crate::runs::{Run, RunOf};
use crate::{Failure, Request, Strip, Tool};

/// Pauses a run and asks a person.
pub const REQUEST_USER_INPUT: &str = "powerstrip:request_user_input";
/// Keeps what a run has made.
pub const STORE_ARTIFACT: &str = "powerstrip:store_artifact";
/// Ends a run.
pub const COMPLETE_WORKFLOW: &str = "powerstrip:complete_workflow";

/// All of them.
pub const CONTROL: [&str; 3] = [REQUEST_USER_INPUT, STORE_ARTIFACT, COMPLETE_WORKFLOW];

/// The name that the catalog knows these tools' source by.
pub const SOURCE: &str = "control";

/// The control-flow tools of a strip. The strip holds them, so they must not hold the strip.
pub fn tools(strip: &Arc<Strip>) -> Vec<Arc<dyn Tool>> {
    let strip = Arc::downgrade(strip);
    vec![
        Arc::new(ask::RequestUserInput::new(Weak::clone(&strip))),
        Arc::new(store::StoreArtifact::new(Weak::clone(&strip))),
        Arc::new(complete::CompleteWorkflow::new(strip)),
    ]
}

/// What a tool is to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// It does the work.
    Data,
    /// It finds other tools.
    Finder,
    Control,
    /// It ends the run.
    End,
}

impl Part {
    pub(crate) fn of(tool: &ToolId) -> Self {
        match tool.as_str() {
            COMPLETE_WORKFLOW => Self::End,
            id if CONTROL.contains(&id) => Self::Control,
            SEARCH_TOOLS | DESCRIBE_TOOL | CALL_TOOL => Self::Finder,
            _ => Self::Data,
        }
    }

    pub(crate) fn is_control(self) -> bool {
        matches!(self, Self::Control | Self::End)
    }

    pub(crate) fn ends(self) -> bool {
        self == Self::End
    }
}

/// What each of them says about itself; the rest is the same for all.
struct Sheet {
    id: &'static str,
    title: &'static str,
    description: &'static str,
    input: Value,
    limits: RequestedLimits,
    /// Whether the same call again has no further effect.
    idempotent: bool,
}

impl Sheet {
    fn descriptor(self) -> Descriptor {
        Descriptor {
            unprefixed: false,
            id: self.id.parse().expect("ids of control-flow tools are well formed"),
            version: Version::new(1, 0, 0),
            title: Some(self.title.to_owned()),
            description: self.description.to_owned(),
            input_schema: self.input,
            output_schema: None,
            deterministic: false,
            limits: self.limits,
            caps: Caps::default(),
            files: None,
            annotations: Annotations {
                title: None,
                read_only_hint: Some(false),
                destructive_hint: Some(false),
                idempotent_hint: Some(self.idempotent),
                open_world_hint: Some(false),
            },
            implementation: None,
        }
    }
}

fn strip_of(strip: &Weak<Strip>) -> Result<Arc<Strip>, Failure> {
    strip.upgrade().ok_or_else(|| {
        Failure::new(Code::Unavailable, "the gateway is shutting down").blame(Blame::Gateway)
    })
}

/// The run of a call that the guards let in.
fn run_of(call: &Request) -> Result<&Arc<Run>, Failure> {
    match &call.run {
        RunOf::Joined(run) => Ok(run),
        _ => Err(Failure::new(Code::Internal, "the call has no run").blame(Blame::Gateway)),
    }
}

/// All that is wrong with an input, at once.
fn invalid(faults: &[String]) -> Result<(), Failure> {
    match faults {
        [] => Ok(()),
        faults => Err(Failure::new(Code::InvalidInput, faults.join("; "))
            .details(serde_json::json!({"faults": faults}))),
    }
}
