use serde::Deserialize;

/// What the address of a run's page may say.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Params {
    /// The task to open.
    pub(super) task: String,
    /// The command that was just given.
    pub(super) did: String,
}
