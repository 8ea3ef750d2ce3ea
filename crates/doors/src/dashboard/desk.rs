//! What the pages need from the process around them.

use async_trait::async_trait;
use strip::Finding;
use strip::catalog::Change;

/// What a look over the whole gateway found.
#[derive(Clone, Debug)]
pub struct Checkup {
    /// The rung of the sandbox ladder, and what it means.
    pub sandbox: (String, String),
    /// Facts in the order in which they are shown: what, whether it is as it should be, and more about it.
    pub facts: Vec<(String, bool, String)>,
    /// Programs that nobody has to install: the version found, and what each is good for.
    pub programs: Vec<(String, Option<String>, String)>,
    pub findings: Vec<Finding>,
    /// The config in force as YAML, secrets left out.
    pub config: String,
}

/// A tool that waits for the operator's trust, and what has changed in it.
#[derive(Clone, Debug)]
pub struct Held {
    pub reason: String,
    /// The sum of the definition that is shown.
    pub definition: String,
    pub changes: Vec<Change>,
    /// How many changes more there are.
    pub left_out: usize,
}

/// Who knows what the strip does not.
#[async_trait]
pub trait DashboardDesk: Send + Sync {
    /// Looks over the settings and this machine.
    async fn checkup(&self) -> Checkup;

    /// A tool in quarantine, compared with what was trusted.
    async fn held(&self, tool: &str) -> Result<Held, String>;

    /// Trusts a tool's definition as it was shown.
    async fn trust(&self, tool: &str, definition: &str) -> Result<(), String>;
}
