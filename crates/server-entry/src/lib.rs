//! One entry of `servers:`: its keys, as the config file writes them and as the gateway uses them, and its checks.

mod check;
mod choices;
mod config;
mod entry;
mod invalid;
mod personal;
mod secrets;

pub use check::{ConfigFault, is_url};
pub use choices::{
    EraChoice, Instances, Kind, Pin, Reach, Sandbox, SandboxMode, Start, UrlTransport,
};
pub use entry::{Server, ServerConfig, StoredParts, Values};
pub use invalid::InvalidKey;
pub use personal::{Personal, PersonalSecret};

#[cfg(test)]
mod tests;
