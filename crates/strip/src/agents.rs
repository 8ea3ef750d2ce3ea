//! Agents and their skills: which tools each agent sees and may call, and which tools a person must approve.

mod profiles;
mod report;
mod view;
mod views;

pub use profiles::{Agent, ApprovalRule, Approve, Listing, Profiles, Skill};
pub(crate) use proto::Pattern;
pub use report::AgentReport;
pub use view::View;
pub(crate) use views::Views;

/// Finds tools by a description of the task.
pub const SEARCH_TOOLS: &str = "powerstrip:search_tools";
/// Returns the whole definition of one tool.
pub const DESCRIBE_TOOL: &str = "powerstrip:describe_tool";
/// Calls a tool that is not in the client's list.
pub const CALL_TOOL: &str = "powerstrip:call_tool";

/// The tools that an agent with `discovery: search` is shown instead of a list.
pub const FINDERS: [&str; 3] = [SEARCH_TOOLS, DESCRIBE_TOOL, CALL_TOOL];

#[cfg(test)]
mod tests;
