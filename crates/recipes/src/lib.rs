//! How known MCP servers are added: from the catalog that ships with the program, or from an MCP registry.

pub mod catalog;
pub mod mcp_registry;
mod recipe;

pub use recipe::Recipe;
