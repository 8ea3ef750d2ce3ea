//! Authentication of callers, and the gateway's own OAuth tokens for servers. The only crate that makes a `Principal`.

mod access;
mod admin;
mod agent;
mod attempts;
mod claims;
pub mod client;
mod fault;
mod introspection;
mod issuer;
mod jwt;
mod keys;
mod local;
mod options;
mod random;
mod recheck;
pub mod request_state;
pub mod scope;
mod secret;
pub mod secrets;
mod sessions;
mod sign_in_codes;
mod signing;
pub mod vault;
mod verdicts;

pub use access::{Access, Guarded, METADATA_PATH};
pub use admin::{AdminFault, AdminToken};
pub use agent::as_agent;
pub use attempts::{Attempts, Source, network};
pub use fault::{TokenFault, Unreachable};
pub use keys::operations as key_operations;
pub use keys::{ApiKeys, KeyFault, KeyKind, KeyService, NewKey, RevokedKey};
pub use local::{LOCAL_SUBJECT, LOCAL_TENANT, LocalAccess, Refusal};
pub use options::{
    AccessOptions, IntrospectionOptions, InvalidUrl, IssuerOptions, ScopeNames, SignInOptions,
    check_url,
};
pub use recheck::Gone;
pub use sessions::{Credential, NoRandomness, Session, Sessions};
pub use sign_in_codes::SignInCodes;
pub use signing::{ApprovalLinks, sign_webhook};
