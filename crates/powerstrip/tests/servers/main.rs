//! Many MCP servers behind one gateway, none of which can hurt another.

mod isolation;
mod reload;
mod side_by_side;
mod support;
