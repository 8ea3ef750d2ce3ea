//! How known MCP servers are added: from the catalog that ships with the program, or from an MCP registry.

pub mod bundled;
pub mod catalog;
pub mod mcp_registry;
mod plan;
mod recipe;

pub use plan::{Plan, PlanError, check_name, own_names, plan};
pub use recipe::{Recipe, quoted};
