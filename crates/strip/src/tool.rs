use async_trait::async_trait;
use files::InlineOverrides;
use proto::{Descriptor, Digest, Failure};
use serde_json::Value;

use crate::catalog::Pinning;
use crate::{Job, Output};

/// What a tool is to a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// A tool that does work: its answers count as completed data tools.
    #[default]
    Data,
    /// It finds other tools.
    Finder,
    /// It forwards to the tool that its input names. Callers who see every tool in a list need no such tool.
    Forwarder,
    /// It is another name of the tool that it forwards to, and in no list.
    Alias,
    /// It controls the run: it asks a person or stores an artifact.
    Control,
    /// It ends the run.
    End,
    /// It reads stored parts of earlier answers. Every agent has it.
    Reader,
    /// It starts or steers a workflow, which is a run of its own.
    Workflow,
}

impl Part {
    /// Whether every agent has it, whatever its skills are.
    pub fn is_for_every_agent(self) -> bool {
        self.is_control() || self == Self::Reader
    }

    /// Whether it belongs to the control-flow tools.
    pub fn is_control(self) -> bool {
        matches!(self, Self::Control | Self::End)
    }

    /// Whether it steers a run or a workflow. Such a tool needs no approval, because the calls that it leads to have their own,
    /// and it ends its waiting itself before its caller's timeout.
    pub fn steers(self) -> bool {
        self.is_control() || self == Self::Workflow
    }

    /// Whether a task of a workflow may call it.
    pub fn is_for_tasks(self) -> bool {
        self == Self::Data || self.is_for_every_agent()
    }

    /// Whether it belongs to the tools that an agent with `discovery: search` is shown instead of a list.
    pub fn is_finder(self) -> bool {
        matches!(self, Self::Finder | Self::Forwarder)
    }
}

/// What an empty text means where a property may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyTexts {
    /// An argument like any other.
    Keep,
    /// The property is absent: models send an empty text for every argument that they do not use. Where it means something,
    /// the property is named here.
    Drop { except: &'static [&'static str] },
}

impl EmptyTexts {
    /// Empty texts count as absent, whatever the property.
    pub const DROP: Self = Self::Drop { except: &[] };
}

/// Anything that can be plugged into the strip. The guard stack checks input, output, size and time for it.
#[async_trait]
pub trait Tool: Send + Sync + 'static {
    /// What the tool says about itself; the catalog keeps a cleaned copy and shows only that.
    fn descriptor(&self) -> &Descriptor;

    /// What the tool is to a run.
    fn part(&self) -> Part {
        Part::Data
    }

    /// Whether it asks people questions of its run. A call that names no run then belongs to the current run of its caller,
    /// where people find the question and the repeated call finds the answer.
    fn asks_people(&self) -> bool {
        false
    }

    /// Whether a caller's key names what the tool has started: repeated with it, the tool itself gives its current answer.
    fn owns_keys(&self) -> bool {
        self.part() == Part::Workflow
    }

    /// Whether a call with a key that was cut off may run again, because it finds what the first one has done.
    fn repeats_calls(&self) -> bool {
        self.part() == Part::Workflow
    }

    /// The key that the answer is recorded under, if the tool's author chose something other than the input.
    fn cache_key(&self, _input: &Value) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    /// Changes when equal inputs may get another answer although the definition is the same: code that the tool
    /// loads was edited, an index that it searches grew. Answers recorded before are then not given again.
    fn revision(&self) -> u64 {
        0
    }

    /// The server that a third party's tool comes from. Changes of such a tool's definition need approval.
    fn pinning(&self) -> Option<Pinning<'_>> {
        None
    }

    /// The tool and the input that a call is forwarded to. The strip makes that call instead, under the other tool's id:
    /// that tool's guards apply, and the audit trail names it.
    fn forwards_to(&self, _input: &Value) -> Option<(String, Value)> {
        None
    }

    /// The digest of all code that the call would execute, as it is on the disk now; none if the tool runs no code of
    /// this host. Only computed for calls that a person must approve. A tool that returns a digest runs a job whose
    /// `approved_code` is set with exactly that code, or fails with DENIED.
    async fn code_digest(&self, _job: &Job) -> Result<Option<Digest>, Failure> {
        Ok(None)
    }

    /// The schema that inputs must fit, where the tool itself reports what is wrong with a part that the descriptor describes.
    fn accepted_input(&self) -> Option<Value> {
        None
    }

    /// What an empty text means where a property may be left out. Built-in tools drop them.
    fn empty_texts(&self) -> EmptyTexts {
        EmptyTexts::Keep
    }

    /// Whether large parts of its answers are stored and replaced by references.
    fn references(&self) -> bool {
        true
    }

    /// Up to which sizes parts of its answers stay, where that differs from the operator's settings for all tools.
    fn inline_limits(&self) -> InlineOverrides {
        InlineOverrides::default()
    }

    /// Whether an answer above the output limit is made to fit: its longest texts are stored and replaced by references.
    fn stores_excess(&self) -> bool {
        false
    }

    /// Whether an answer that does not fit the output schema is passed on with a warning, because the call took effect.
    fn keeps_unfit_answers(&self) -> bool {
        false
    }

    /// Whether it streams large files; otherwise their contents are part of its input.
    fn streams(&self) -> bool {
        false
    }

    /// An answer as text for models, for MCP doors; otherwise they show its data as JSON.
    fn text_for_models(&self, _data: &Value) -> Option<String> {
        None
    }

    /// The failed result as MCP doors show it, if the tool's failures have a form of their own: an object with `content` and
    /// `structuredContent`. Asked for failures without a native result, those of guards included. Other doors show the
    /// failure itself.
    fn native_failure(&self, _failure: &Failure) -> Option<Value> {
        None
    }

    /// Does the work. The future is dropped at the deadline, which must end everything that it started.
    async fn run(&self, job: &Job) -> Result<Output, Failure>;
}
