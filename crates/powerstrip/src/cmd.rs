//! One file per subcommand.

pub(crate) mod add;
pub(crate) mod agents;
pub(crate) mod approvals;
pub(crate) mod call;
pub(crate) mod calls;
pub(crate) mod check;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod connect;
pub(crate) mod doctor;
pub(crate) mod files;
pub(crate) mod import;
pub(crate) mod keys;
pub(crate) mod login;
pub(crate) mod new;
pub(crate) mod prompts;
pub(crate) mod remove;
pub(crate) mod runs;
pub(crate) mod secret;
pub(crate) mod serve;
pub(crate) mod servers;
pub(crate) mod stdio;
pub(crate) mod text;
pub(crate) mod tools;
pub(crate) mod workflows;
