//! The configuration: one YAML file, overridden by flags and environment variables, and the documentation of its keys.

mod agents;
mod approvals;
mod audit;
mod auth;
pub mod client_files;
pub mod clients;
mod docs;
mod dotenv;
pub mod edit;
mod fault;
mod file;
mod file_strategies;
mod files;
mod limits;
mod listen;
mod literals;
mod loaded;
mod loosened;
mod masked;
mod model;
mod overrides;
mod reader;
mod references;
mod registration;
mod research;
mod secret;
mod server_auth;
mod servers;
mod settings;
mod sign_in;
mod telemetry;
mod units;
mod variables;
mod workflows;

pub use crate::auth::Auth;
pub use agents::{Agent, Approve, Discovery, Embeddings, Schemas, Skill, Tools};
pub use approvals::{Approvals, Elicitation, Webhook};
pub use audit::{Audit, Payloads};
pub use docs::{reference_page, schema};
pub use fault::{BadConfig, Fault};
pub use file::load;
pub use files::{Files, Storage};
pub use limits::Limits;
pub use listen::Listen;
pub use loaded::{Loaded, Resolved, Servers};
pub use loosened::loosened;
pub use model::{Model, ModelEmbeddings, ModelKind};
pub use overrides::Overrides;
pub use registration::Registration;
pub use research::{
    Browser, Collections, ProviderKeys, Research, Robots, SearchOrder,
    Sessions as ResearchSessions, Switch, WEB_RESEARCH,
};
pub use secret::{HeaderSource, Per, SecretSource, VaultSecrets};
pub use servers::{Server, with_scheme};
pub use settings::{Config, Egress, FILE_NAME, Sandbox};
pub use telemetry::{LogFormat, Telemetry};
pub use units::Span;
pub use variables::unknown_variables;
pub use workflows::{PlannerKind, Workflows};

#[cfg(test)]
mod tests;
