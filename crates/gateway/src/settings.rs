//! Applies a changed config while the gateway runs.

use std::sync::{Arc, PoisonError};

use auth::LocalAccess;
use auth::client::Holder;
use config::{Config, Loaded, Resolved};
use proto::{TraceId, digest};
use store::AuditRow;

use super::{Gateway, servers, workflows};

impl Gateway {
    /// Writes an audit row for a protection that a changed config removes.
    pub async fn audit_removal(&self, key: &str, now: &Config) {
        let row = AuditRow {
            trace: TraceId::random(),
            at_unix_ms: self.strip.clock().unix_ms(),
            caller: LocalAccess::default().user(),
            door: "config".into(),
            tool: format!("config:{key}").into(),
            version: "".into(),
            definition: None,
            // cannot fail: a config was read from a text, so its keys and paths are texts.
            arguments: digest(&serde_json::to_vec(now).unwrap_or_default()),
            decision: "removed".into(),
            outcome: "OK".into(),
            blame: None,
            duration_us: 0,
        };
        if let Err(error) = self.store.commits.record(row).await {
            tracing::error!(%error, key, "the audit row of a removed protection could not be written");
        }
    }

    /// Ends the processes and sessions that use a person's secrets; the next call starts them with the new values.
    pub async fn end_sessions_of(&self, person: &Holder) {
        self.upstreams.end_sessions_of(Some(person)).await;
    }

    /// Ends the processes and sessions that use secrets of any person.
    pub async fn end_personal_sessions(&self) {
        self.upstreams.end_sessions_of(None).await;
    }

    /// Applies a changed config, as far as that is possible without a restart.
    pub async fn reconfigure(&self, before: &Config, loaded: &Loaded, resolved: Resolved) {
        let now = &loaded.config;
        let resolved = Arc::new(resolved);
        *self.resolved.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&resolved);
        self.secret_service.set_names(loaded.secret_names());
        self.audit_retention.apply(&self.strip, now, resolved.scrubber());
        // The clients of tools, servers and models follow the rules of this one.
        if before.egress != now.egress {
            self.client.policy().set_allowed(now.egress.rules());
        }
        // Before servers, one of which may replace the built-in web tools.
        let variables = loaded.environment.texts();
        self.web_tools.apply(now, &resolved.provider_keys, &variables).await;
        // Unchanged servers keep running.
        servers::apply(&self.upstreams, resolved.servers.clone(), &self.strip).await;
        let mut sources = self.sources.lock().await;
        self.strip.reconfigure(now.settings());
        self.strip.files().set_rules(now.file_rules());
        self.strip.set_agents(now.profiles());
        self.workflows.all.set_settings(workflows::settings(now));
        self.workflows.planner.plan_by(workflows::plan_by(now, &resolved, &self.client));
        self.indexes.set_model(now.embeddings.path.clone());
        self.flow.apply(now, workflows::model(now, &resolved, &self.client));
        let other_variables = sources.set_environment(variables);
        let runs_differently = other_variables
            || before.tools != now.tools
            || before.sandbox != now.sandbox
            || before.limits.max != now.limits.max;
        if runs_differently {
            sources.follow_packs(now).await;
        }
        if before.prompts != now.prompts {
            sources.follow_prompts(now.prompts.clone()).await;
        }
    }
}

/// The keys that differ and need a restart.
pub fn needs_restart(before: &Config, now: &Config) -> Vec<&'static str> {
    let keys = [
        ("listen", before.listen != now.listen),
        ("public_url", before.public_url != now.public_url),
        ("auth", before.auth != now.auth),
        // Whether the caller's user may decide depends on `auth`, which needs a restart as well.
        ("approvals", before.approvals != now.approvals),
        ("data_dir", before.data_dir != now.data_dir),
        ("limits.body_memory", before.limits.body_memory != now.limits.body_memory),
        ("limits.sessions", before.limits.sessions != now.limits.sessions),
        ("storage", before.storage != now.storage),
        ("registration", before.registration != now.registration),
        ("telemetry", before.telemetry != now.telemetry),
    ];
    keys.into_iter().filter(|(_, differs)| *differs).map(|(key, _)| key).collect()
}
