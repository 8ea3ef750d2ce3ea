//! Tools that are offered but not served until an operator has approved them.

use std::sync::Arc;

use proto::{Blame, Code, Digest, Failure, ListedQuarantine, ToolId};
use serde_json::{Value, json};
use store::PinnedDefinition;

use super::pins::{self, Pinning, QuarantineReason};
use crate::Tool;

/// A tool that waits for approval.
pub struct Quarantined {
    pub id: ToolId,
    pub why: QuarantineReason,
    /// The parts of the definition that are not as they were.
    pub changed: Vec<&'static str>,
    /// The digest of the tool's present definition.
    pub definition: Digest,
    pub server: String,
    /// The server's own name for it.
    pub tool: String,
    /// The source that published it.
    pub source: String,
    /// The name under which MCP clients knew it, or will.
    pub(super) wire: String,
    pub(super) offered: Arc<dyn Tool>,
}

impl PartialEq for Quarantined {
    fn eq(&self, other: &Self) -> bool {
        (&self.id, self.why, &self.changed, self.definition, &self.source)
            == (&other.id, other.why, &other.changed, other.definition, &other.source)
    }
}

impl Quarantined {
    /// The pin by which the tool would be served as it is now.
    pub fn pin(&self) -> PinnedDefinition {
        pins::pin(self.pinning(), self.offered.descriptor())
    }

    fn pinning(&self) -> Pinning<'_> {
        let listed = self.offered.pinning().and_then(|pinning| pinning.listed);
        let (server, tool) = (&self.server, &self.tool);
        Pinning { server, tool, first_use: false, announced: false, listed }
    }

    /// The tool's present definition, not cleaned.
    pub fn says(&self) -> Value {
        pins::definition(self.pinning(), self.offered.descriptor())
    }

    pub(super) fn unprefixed(&self) -> bool {
        self.offered.descriptor().unprefixed
    }

    /// Why the tool is not served, in a sentence.
    pub fn reason(&self) -> String {
        match self.why {
            QuarantineReason::Changed => {
                format!("server `{}` has changed what the tool says of itself", self.server)
            }
            QuarantineReason::New => {
                format!("this tool of server `{}` has not been approved yet", self.server)
            }
            QuarantineReason::TooMany => {
                format!("server `{}` has offered too many different tools", self.server)
            }
        }
    }

    /// The tool as discovery lists it.
    pub(crate) fn listed(&self) -> ListedQuarantine {
        ListedQuarantine {
            name: self.id.to_string(),
            reason: self.reason(),
            changed: self.changed.iter().map(|part| (*part).to_owned()).collect(),
            definition: self.definition.to_string(),
        }
    }

    /// The failure of a call. It has nothing of the unapproved definition, because a model reads it.
    pub(super) fn failure(&self) -> Failure {
        let message = format!(
            "`{}` is quarantined: {}. An operator can look at it with `powerstrip tools diff {}` and accept it \
             with `powerstrip tools approve {}`",
            self.id,
            self.reason(),
            self.id,
            self.id
        );
        Failure::new(Code::Denied, message)
            .blame(Blame::Tool)
            .details(json!({"tool": self.id, "quarantined": true, "changed": self.changed}))
    }
}
