use async_trait::async_trait;
use proto::{Descriptor, Digest};
use serde_json::Value;

use crate::catalog::Pinning;
use crate::{Failure, Job, Output, Request};

/// Anything that can be plugged into the strip. What a tool does not check, the guard stack has checked for it.
#[async_trait]
pub trait Tool: Send + Sync + 'static {
    /// What the tool says about itself; the catalog keeps a cleaned copy and shows only that.
    fn descriptor(&self) -> &Descriptor;

    /// What stands for the input when the answer is recorded, where the tool's author chose something else.
    fn cache_key(&self, _input: &Value) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    /// Changes when equal inputs may get another answer although the definition is the same: code that the tool
    /// loads was edited, an index that it searches grew. Answers recorded before are then not given again.
    fn revision(&self) -> u64 {
        0
    }

    /// Whose tool it is, if it is not the operator's own: what others' tools say of themselves may not change unseen.
    fn pinning(&self) -> Option<Pinning<'_>> {
        None
    }

    /// The call that is meant, for a tool that only passes calls on. The strip takes that call instead, under the other
    /// tool's own id: its guards hold, and the audit trail names it.
    fn stands_for(&self, _input: &Value) -> Option<(String, Value)> {
        None
    }

    /// The digest of all code that a run of this call would execute, as it is on the disk now; none if the tool runs
    /// no code of this host. Asked only for calls that a person must approve. A tool that answers with a digest runs a
    /// job whose `approved_code` is set with exactly that code, or fails with DENIED.
    async fn code_digest(&self, _request: &Request) -> Result<Option<Digest>, Failure> {
        Ok(None)
    }

    /// Whether what is large in its answers is kept, and a reference handed on instead.
    fn references(&self) -> bool {
        true
    }

    /// Whether it sends large files on as they are read; otherwise they stand in its input.
    fn streams(&self) -> bool {
        false
    }

    /// Does the work. The future is dropped at the deadline: whatever it started must end with it.
    async fn run(&self, job: &Job) -> Result<Output, Failure>;
}
