use std::collections::BTreeMap;

use proto::{FileRule, ToolId};

use crate::agents::Pattern;

/// How tools take files, set by the operator; this overrides what a tool declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strategies(pub BTreeMap<Pattern, FileRule>);

impl Strategies {
    /// The rule for a tool: that of its id, or else of the longest matching pattern.
    pub fn of(&self, tool: &ToolId) -> Option<&FileRule> {
        let matching = self.0.iter().filter(|(pattern, _)| pattern.matches(tool));
        let rank = |pattern: &Pattern| (pattern.as_str() == tool.as_str(), pattern.as_str().len());
        matching.max_by_key(|(pattern, _)| rank(pattern)).map(|(_, rule)| rule)
    }
}
