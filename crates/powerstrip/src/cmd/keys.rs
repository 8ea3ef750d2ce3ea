use std::process::ExitCode;

use auth::key_operations::{
    AddKey, AddKeyInput, KeyList, KeyView, ListKeys, RevokeKey, RevokeKeyInput, RevokedView,
};
use clap::{Args, Subcommand};
use config::{Config, Span};
use operations::NoInput;

use super::approvals::note_damaged;
use crate::context::Context;
use crate::operation_client::OperationClient;
use crate::telemetry::Telemetry;
use terminal::table::{Cell, Table};
use terminal::{Style, Tone, time};

const EXAMPLES: &str = "\
Examples:
  powerstrip keys add ci --scope tools:read --scope tools:call --expires 90d
  powerstrip keys add weather --registration            for a server that announces itself
  powerstrip keys ls
  powerstrip keys revoke ci

A key is shown once, when it is made; send it as `Authorization: Bearer ps_…`. A running gateway takes changes at once.
Keys matter where the config has `auth:`; without it, the doors serve this machine's user and ask for none.";

/// Make, list and revoke keys for callers and for servers
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct KeysCommand {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make a key and show it, once
    Add(Add),
    /// List all keys, without their secrets
    #[command(visible_alias = "list")]
    Ls,
    /// Revoke a key
    Revoke {
        /// The key's name or id; of a damaged key, the id.
        key: String,
    },
}

#[derive(Debug, Args)]
struct Add {
    /// The key's name in lists and in the audit trail.
    name: String,
    /// A scope of its bearer; may be given several times [default: tools:read and tools:call].
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    /// The tenant of its bearer [default: local].
    #[arg(long)]
    tenant: Option<String>,
    /// The subject of its bearer [default: key:NAME].
    #[arg(long)]
    subject: Option<String>,
    /// The agent of its bearer.
    #[arg(long)]
    agent: Option<String>,
    /// How long it is valid, such as `90d` [default: until it is revoked].
    #[arg(long, value_name = "TIME")]
    expires: Option<Span>,
    /// A key for servers that announce themselves; it can do nothing else.
    #[arg(long)]
    registration: bool,
}

impl KeysCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        let client = OperationClient::for_keys(&loaded).await?;
        let action = self.action.unwrap_or(Action::Ls);
        action.warn_of_unknown_agent(&loaded.config, context);
        action.warn_without_auth(&loaded.config, context);
        let done = action.run(&client, context).await;
        client.close().await;
        telemetry.flush().await;
        done.map(|()| ExitCode::SUCCESS)
    }
}

impl Action {
    /// A key may be made before its agent is configured, but a misspelt name would leave its bearer without tools.
    fn warn_of_unknown_agent(&self, config: &Config, context: &Context) {
        let Self::Add(Add { agent: Some(agent), .. }) = self else { return };
        if config.agents.contains_key(agent) {
            return;
        }
        let near = schema::yaml::nearest(agent, config.agents.keys().map(String::as_str));
        let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        let warning = Style::stderr(&context.environment).doubtful("warning:");
        terminal::note(format_args!(
            "{warning} the config has no agent `{}`{hint}",
            terminal::shown(agent)
        ));
    }

    /// Without `auth`, the gateway asks for no key.
    fn warn_without_auth(&self, config: &Config, context: &Context) {
        let for_callers = matches!(self, Self::Add(Add { registration: false, .. }));
        if for_callers && config.auth.is_none() {
            let warning = Style::stderr(&context.environment).doubtful("warning:");
            terminal::note(format_args!(
                "{warning} keys have no effect until `auth:` is in the config; write `auth: {{}}` to ask for one"
            ));
        }
    }

    async fn run(self, client: &OperationClient, context: &Context) -> anyhow::Result<()> {
        let as_json = context.global.json;
        match self {
            Self::Add(add) => {
                let key = client.run::<AddKey>(&add.into_input()).await?;
                if as_json {
                    return Ok(terminal::record(&key)?);
                }
                terminal::line(key.secret.as_deref().unwrap_or_default())?;
                terminal::note("The key is shown only once; the gateway stores a hash of it.");
            }
            Self::Ls => {
                let KeyList { keys, damaged } = client.run::<ListKeys>(&NoInput {}).await?;
                note_damaged("key", &damaged);
                let style = Style::stdout(&context.environment);
                if as_json { terminal::record(&keys)? } else { list(&keys, style)? }
            }
            Self::Revoke { key } => {
                let revoked = client.run::<RevokeKey>(&RevokeKeyInput { key }).await?;
                if as_json {
                    return Ok(terminal::record(&revoked)?);
                }
                let name = match revoked {
                    RevokedView::Key(key) => key.name,
                    RevokedView::Damaged(row) => row.id,
                };
                terminal::line(format_args!("{name} is revoked"))?;
            }
        }
        Ok(())
    }
}

impl Add {
    fn into_input(self) -> AddKeyInput {
        let milliseconds = |span: Span| u64::try_from(span.0.as_millis()).unwrap_or(u64::MAX);
        AddKeyInput {
            name: self.name,
            registration: self.registration,
            tenant: self.tenant,
            subject: self.subject,
            agent: self.agent,
            scopes: self.scopes,
            lifetime_ms: self.expires.map(milliseconds),
        }
    }
}

fn list(keys: &[KeyView], style: Style) -> anyhow::Result<()> {
    if keys.is_empty() {
        return Ok(terminal::line("no keys: `powerstrip keys add NAME` makes one")?);
    }
    let headers = ["NAME", "ID", "KIND", "STATE", "USED", "BEARER", "SCOPES"];
    let mut table = Table::new(headers).cut(["NAME", "BEARER", "SCOPES"]);
    for key in keys {
        let agent = key.agent.as_ref().map(|agent| format!(" as {agent}")).unwrap_or_default();
        table.row([
            Cell::new(&key.name).tone(Tone::Strong),
            Cell::new(&key.id),
            Cell::new(&key.kind),
            validity(key),
            key.used_unix_ms.map_or_else(
                || Cell::new("never").tone(Tone::Faint),
                |at| Cell::new(time::ago(at)),
            ),
            Cell::new(format_args!("{}/{}{agent}", key.tenant, key.subject)),
            Cell::new(key.scopes.join(" ")),
        ]);
    }
    Ok(table.print(style)?)
}

fn validity(key: &KeyView) -> Cell {
    if key.revoked_unix_ms.is_some() {
        return Cell::new("revoked").tone(Tone::Bad);
    }
    match key.expires_unix_ms {
        None => Cell::new("good").tone(Tone::Good),
        Some(expires) if time::is_past(expires) => Cell::new("expired").tone(Tone::Bad),
        Some(expires) => {
            Cell::new(format_args!("good for {}", time::left(expires))).tone(Tone::Good)
        }
    }
}
