//! One tool of the catalog, and what an operator sets for all of them.

use std::fmt;
use std::sync::{Arc, OnceLock};

use files::FilePlan;
use proto::{Descriptor, Digest, FileRule, Limits, ToolId};
use schema::Schema;

use crate::Tool;
use crate::files::Strategies;

/// The names of sources of built-in tools begin with this.
pub const BUILT_IN: &str = "built-in";

/// One tool in one major version, checked and ready to be called.
pub struct Entry {
    /// The cleaned copy of what the tool says about itself, with schemas as its callers see them.
    pub descriptor: Descriptor,
    pub tool: Arc<dyn Tool>,
    /// The version's text, for answers and audit rows.
    pub version: Arc<str>,
    /// Its name for MCP clients.
    pub wire: String,
    /// The schema of callers' input.
    pub input: Schema,
    /// The tool's own output, before large parts are replaced by references.
    pub output: Option<Schema>,
    /// How it takes files, if it does.
    pub files: Option<FilePlan>,
    /// The rule that its file plan was made from.
    pub(crate) file_rule: Option<FileRule>,
    pub limits: Limits,
    pub definition: Digest,
    /// The major that replaced this one.
    pub superseded_by: Option<u64>,
    /// How many invisible characters its definition carried.
    pub hidden_characters: usize,
    /// The source that published it.
    pub source: String,
    /// Why a model API refuses its input schema; computed on first use.
    pub(super) refusal: OnceLock<Option<String>>,
}

impl Entry {
    /// The server that the tool belongs to. Built-in tools may have ids like those of a server.
    pub fn server(&self) -> Option<&str> {
        self.descriptor.id.server().filter(|_| !self.source.starts_with(BUILT_IN))
    }

    /// The patterns that are not checked, because our engine cannot run them: `input` or `output`, and a JSON Pointer into
    /// that schema.
    pub fn unchecked_patterns(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let input = self.input.unchecked_patterns().iter().map(|one| ("input", one.as_str()));
        let output = self.output.iter().flat_map(Schema::unchecked_patterns);
        input.chain(output.map(|one| ("output", one.as_str())))
    }
}

impl fmt::Debug for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Entry").field(&self.descriptor.id).field(&self.version).finish()
    }
}

/// A tool that was offered but is not in the catalog, and why.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fault {
    pub source: String,
    pub tool: ToolId,
    pub reason: String,
}

/// The limits of tools that declare none, and the limits that no tool can exceed.
#[derive(Clone, Copy, Debug)]
pub struct LimitBounds {
    pub default: Limits,
    /// The largest input of a server's tool, where that is more than the default.
    pub server_input: usize,
    pub max: Limits,
}

impl LimitBounds {
    /// The limits in force for a tool.
    pub(super) fn of(&self, tool: &Descriptor) -> Limits {
        let mut default = self.default;
        if tool.id.server().is_some() {
            default.max_input_bytes = default.max_input_bytes.max(self.server_input);
        }
        tool.limits.within(default, self.max)
    }
}

/// The operator's settings for all tools.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) bounds: LimitBounds,
    pub(crate) files: Strategies,
}
