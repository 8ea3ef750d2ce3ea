//! Types that all crates share: ids, descriptors, envelopes, error codes, principals.
//!
//! Pure data: no runtime, no I/O.

mod big_integers;
pub mod canonical;
pub mod clean;
mod clock;
mod code;
mod descriptor;
pub mod diff;
mod discovery;
mod envelope;
mod failure;
mod file;
mod file_rule;
mod finding;
pub mod frame;
pub mod graph;
mod id;
mod pattern;
mod principal;
mod scrub;
mod secret;
mod server_name;
mod slot;
pub mod sse;
mod surrogates;
pub mod time;
pub mod units;
mod uri_template;
pub mod wire;

pub use big_integers::big_integers;
pub use canonical::{Digest, InvalidDigest, digest, digest_of_parts};
pub use clock::Clock;
pub use code::{Blame, Code};
pub use descriptor::{
    Annotations, Caps, Descriptor, FileCaps, Limits, RequestedLimits, UI_META, UI_RESOURCE,
    UI_RESOURCE_META,
};
pub use discovery::{
    Discovery, Health, ListedCaps, ListedPrompt, ListedPromptVersion, ListedQuarantine, ListedTool,
    ServerInfo,
};
pub use envelope::{ANSWERED_BY, Envelope, ErrorItem, Meta};
pub use failure::Failure;
pub use file::{FILE_ID_BYTES, FileId, FileKind, InvalidFileId, UploadId};
pub use file_rule::{
    FILE_ARGS_META, FILE_STRATEGY_META, FileArgs, FileRule, FileStrategy, WrittenFileArgs,
};
pub use finding::{Finding, Severity};
pub use id::{InvalidId, PromptRef, ToolId, ToolRef, TraceId};
pub use pattern::{InvalidPattern, Pattern};
pub use principal::{ADMIN, APPROVALS_DECIDE, Audience, Principal, TenantId, Via};
pub use scrub::{MASK, Scrubber, is_secret_name, secrets_of};
pub use secret::Secret;
pub use server_name::{
    OWN_SERVER, OWN_SERVER_ALIAS, RefusedServerName, WEB_RESEARCH, check_look_alike,
    check_server_name,
};
pub use slot::SlotType;
pub use surrogates::{replace_lone_surrogates, without_lone_surrogates};
pub use uri_template::UriTemplate;
