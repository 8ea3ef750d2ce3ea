//! What the dashboard shows about the process: config, programs, sandbox and quarantine.

use std::sync::Arc;

use async_trait::async_trait;
use auth::secrets::SecretService;
use auth::secrets::operations::PersonalSecretView;
use config::clients::{Client, Endpoint};
use config::{BadConfig, Overrides};
use dashboard::{Checkup, ClientSetup, DashboardService, OwnSecret, QuarantinedTool};
use egress::process::Runner;
use proto::{Principal, Secret, Severity};
use tokio::sync::OnceCell;

use super::quarantine::{Quarantine, ShownDefinition};
use crate::Process;
use crate::findings::{as_finding, check_config, missing_secrets};
use crate::programs::{Program, describe_tier, find_programs};

/// Checks the settings, and shows and approves tools in quarantine.
pub struct Board {
    process: Process,
    flags: Overrides,
    quarantine: Arc<Quarantine>,
    runner: Arc<Runner>,
    secrets: Arc<SecretService>,
    /// Looked up once: starting seven programs takes a moment.
    programs: OnceCell<Vec<Program>>,
}

impl Board {
    pub(super) fn new(
        process: Process,
        flags: Overrides,
        quarantine: Arc<Quarantine>,
        runner: Arc<Runner>,
        secrets: Arc<SecretService>,
    ) -> Self {
        Self { process, flags, quarantine, runner, secrets, programs: OnceCell::new() }
    }
}

#[async_trait]
impl DashboardService for Board {
    async fn checkup(&self) -> Checkup {
        // The file is watched, so its content is in effect, unless it is invalid.
        let (facts, findings, config) = match self.process.load(&self.flags) {
            Ok(loaded) => {
                let file = loaded.file.as_ref();
                let file = file.map_or("none: defaults".to_owned(), |f| f.display().to_string());
                let config = schema::yaml::to_string(&loaded.config.masked());
                let facts = vec![
                    ("Config".to_owned(), true, file),
                    ("Data folder".to_owned(), true, loaded.config.data_dir.display().to_string()),
                    ("Address".to_owned(), true, loaded.config.listen.to_string()),
                ];
                let mut findings = check_config(&loaded);
                findings.extend(missing_secrets(&loaded, Severity::Warning));
                (facts, findings, config.unwrap_or_default())
            }
            Err(BadConfig(faults)) => {
                let text = "the file is invalid; the previous configuration is still in effect";
                let facts = vec![("Config".to_owned(), false, text.to_owned())];
                (facts, faults.into_iter().map(as_finding).collect(), String::new())
            }
        };
        let tier = self.runner.host().tier();
        let found =
            self.programs.get_or_init(|| find_programs(&self.runner, &config::Browser::Auto)).await;
        let row = |program: &Program| {
            (program.name.to_owned(), program.version.clone(), program.unlocks.to_owned())
        };
        Checkup {
            sandbox: (tier.to_string(), describe_tier(tier).to_owned()),
            facts,
            programs: found.iter().map(row).collect(),
            findings,
            config,
        }
    }

    fn client_setups(&self, base_url: &str, needs_key: bool) -> Vec<ClientSetup> {
        let program = std::env::current_exe().ok();
        let program = program.and_then(|path| path.to_str().map(str::to_owned));
        let endpoint = Endpoint {
            base_url: base_url.to_owned(),
            needs_key,
            program: program.unwrap_or_else(|| "powerstrip".to_owned()),
        };
        let setup = |client: Client| ClientSetup {
            id: client.id().to_owned(),
            title: client.title().to_owned(),
            command: client.command(&endpoint),
            file: client.file().to_owned(),
            file_elsewhere: client.file_elsewhere().map(str::to_owned),
            snippet: client.snippet(&endpoint),
        };
        Client::ALL.into_iter().map(setup).collect()
    }

    async fn own_secrets(&self, principal: &Principal) -> Result<Vec<OwnSecret>, String> {
        let secrets = self.secrets.list_of_person(principal).await;
        let shown = |secret: PersonalSecretView| OwnSecret {
            name: secret.name,
            servers: secret.servers,
            stored_unix_ms: secret.stored_unix_ms,
        };
        secrets
            .map(|secrets| secrets.into_iter().map(shown).collect())
            .map_err(|error| error.message)
    }

    async fn set_own_secret(
        &self,
        principal: &Arc<Principal>,
        name: &str,
        value: Secret,
    ) -> Result<(), String> {
        let stored = self.secrets.set_of_person(principal, name, value).await;
        stored.map_err(|error| error.message)
    }

    async fn remove_own_secret(
        &self,
        principal: &Arc<Principal>,
        name: &str,
    ) -> Result<(), String> {
        self.secrets.remove_of_person(principal, name).await.map_err(|error| error.message)
    }

    async fn quarantined(&self, tool: &str) -> Result<QuarantinedTool, String> {
        self.quarantine.compare(tool).await.map_err(|error| error.message)
    }

    async fn trust(&self, tool: &str, definition: &str) -> Result<(), String> {
        let definition = serde_json::from_value(definition.into())
            .map_err(|error| format!("the digest of the definition cannot be read: {error}"))?;
        let shown = ShownDefinition { tool: tool.to_owned(), definition };
        self.quarantine.approve(&[shown]).await.map(drop).map_err(|error| error.message)
    }
}
