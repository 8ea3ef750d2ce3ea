//! What the pages need from the process around them.

use std::sync::Arc;

use async_trait::async_trait;
use proto::diff::Change;
use proto::{Finding, Principal, Secret};

/// The result of checking the settings and this machine.
#[derive(Clone, Debug)]
pub struct Checkup {
    /// The tier of the sandbox, and what it means.
    pub sandbox: (String, String),
    /// Facts in the order in which they are shown: a name, whether it is fine, and a description.
    pub facts: Vec<(String, bool, String)>,
    /// Optional programs: the name, the version that is installed, and what the program is used for.
    pub programs: Vec<(String, Option<String>, String)>,
    pub findings: Vec<Finding>,
    /// The config in force as YAML, without secrets.
    pub config: String,
}

/// A tool that the operator has to trust before it can be called, and what has changed in it.
#[derive(Clone, Debug)]
pub struct QuarantinedTool {
    pub reason: String,
    /// The digest of the definition that is shown.
    pub definition: String,
    pub changes: Vec<Change>,
    /// How many more changes there are.
    pub left_out: usize,
}

/// How one client is connected to this gateway.
#[derive(Clone, Debug)]
pub struct ClientSetup {
    /// The name in commands, such as `claude-code`.
    pub id: String,
    pub title: String,
    /// The client's own command that connects it, if it has one.
    pub command: Option<String>,
    /// The configuration file of the client.
    pub file: String,
    /// Where the file is on other systems or for one project.
    pub file_elsewhere: Option<String>,
    /// What belongs into the file.
    pub snippet: String,
}

/// A secret of which each person has a value of their own.
#[derive(Clone, Debug)]
pub struct OwnSecret {
    pub name: String,
    /// The servers that use it.
    pub servers: Vec<String>,
    /// When the viewer has stored a value.
    pub stored_unix_ms: Option<u64>,
}

/// What only the process knows: its settings and the quarantine.
#[async_trait]
pub trait DashboardService: Send + Sync {
    /// Checks the settings and this machine.
    async fn checkup(&self) -> Checkup;

    /// How clients are connected to the gateway at this address, which may need a key.
    fn client_setups(&self, base_url: &str, needs_key: bool) -> Vec<ClientSetup>;

    /// The secrets of which this person stores a value of their own.
    async fn own_secrets(&self, principal: &Principal) -> Result<Vec<OwnSecret>, String>;

    /// Stores a person's own value.
    async fn set_own_secret(
        &self,
        principal: &Arc<Principal>,
        name: &str,
        value: Secret,
    ) -> Result<(), String>;

    /// Removes a person's own value.
    async fn remove_own_secret(&self, principal: &Arc<Principal>, name: &str)
    -> Result<(), String>;

    /// A tool in quarantine, compared with the definition that was trusted.
    async fn quarantined(&self, tool: &str) -> Result<QuarantinedTool, String>;

    /// Trusts the definition of a tool that was shown.
    async fn trust(&self, tool: &str, definition: &str) -> Result<(), String>;
}
