//! Files at the boundary: a real gateway over HTTP and MCP, its files in a folder or in a real S3 service.

mod attacks;
mod bucket;
mod commands;
mod resources;
mod store;
mod support;
mod tenants;
mod uploads;
