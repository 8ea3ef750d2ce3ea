use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::{Args, Subcommand};
use config::Span;
use serde_json::{Value, json};

use crate::context::Context;
use crate::keys::{ADD, KeyDesk, LIST, REVOKE};
use crate::output::{self, Style};
use crate::telemetry::Telemetry;

const EXAMPLES: &str = "\
Examples:
  powerstrip keys add ci --scope tools:read --scope tools:call --expires 90d
  powerstrip keys add weather --registration            for a server that announces itself
  powerstrip keys list
  powerstrip keys revoke ci

A key is shown once, when it is made; send it as `Authorization: Bearer ps_…`. A running gateway takes changes at once.
Keys matter where the config has `auth:`; without it, the doors serve this machine's user and ask for none.";

/// Make, list and revoke keys for callers and for servers
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct KeysCommand {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make a key and show it, once
    Add(Add),
    /// List all keys, without their secrets
    List,
    /// Make a key worthless
    Revoke {
        /// The key's name or id.
        key: String,
    },
}

#[derive(Debug, Args)]
struct Add {
    /// What the key is called in lists and in the audit trail.
    name: String,
    /// What its bearer may do; may be given several times [default: tools:read and tools:call].
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    /// The tenant whose key it is [default: local].
    #[arg(long)]
    tenant: Option<String>,
    /// Whom the key stands for [default: key:NAME].
    #[arg(long)]
    subject: Option<String>,
    /// The agent that its bearer comes as.
    #[arg(long)]
    agent: Option<String>,
    /// For how long it is good, such as `90d` [default: until it is revoked].
    #[arg(long, value_name = "TIME")]
    expires: Option<Span>,
    /// A key for servers that announce themselves; it opens nothing else.
    #[arg(long)]
    registration: bool,
}

impl KeysCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        let (method, params) = match &self.action {
            Action::Add(add) => (ADD, add.params()),
            Action::List => (LIST, json!({})),
            Action::Revoke { key } => (REVOKE, json!({"key": key})),
        };
        let desk = KeyDesk::open(&loaded).await?;
        let answer = desk.ask(method, params).await;
        desk.close().await;
        telemetry.flush().await;
        let answer = answer?;
        if context.global.json {
            output::json(&answer)?;
            return Ok(ExitCode::SUCCESS);
        }
        let style = Style::stdout(&context.environment);
        match self.action {
            Action::Add(_) => {
                output::line(text(&answer, "secret"))?;
                output::note(
                    "This is the only time that the key is shown; the gateway keeps a hash of it.",
                );
            }
            Action::List => list(answer.as_array().map_or(&[], Vec::as_slice), style)?,
            Action::Revoke { .. } => {
                output::line(format_args!("{} is revoked", text(&answer, "name")))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Add {
    fn params(&self) -> Value {
        let milliseconds = |span: &Span| u64::try_from(span.0.as_millis()).unwrap_or(u64::MAX);
        json!({
            "name": self.name,
            "registration": self.registration,
            "tenant": self.tenant,
            "subject": self.subject,
            "agent": self.agent,
            "scopes": self.scopes,
            "lifetimeMs": self.expires.as_ref().map(milliseconds),
        })
    }
}

fn list(keys: &[Value], style: Style) -> anyhow::Result<()> {
    if keys.is_empty() {
        output::line("no keys: `powerstrip keys add NAME` makes one")?;
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let width = keys.iter().map(|key| text(key, "name").chars().count()).max().unwrap_or(0);
    for key in keys {
        let name = format!("{:width$}", text(key, "name"));
        let scopes: Vec<_> =
            key["scopes"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let agent = key["agent"].as_str().map(|agent| format!(" as {agent}")).unwrap_or_default();
        output::line(format_args!(
            "{}  {}  {:12}  {}/{}{agent}  {}  {}, {}",
            style.bold(name),
            text(key, "id"),
            text(key, "kind"),
            text(key, "tenant"),
            text(key, "subject"),
            scopes.join(" "),
            standing(key, now, style),
            time(key, "usedUnixMs").map_or_else(
                || "never used".to_owned(),
                |used| format!("used {} ago", about(now.saturating_sub(used)))
            ),
        ))?;
    }
    Ok(())
}

fn standing(key: &Value, now: Duration, style: Style) -> String {
    if time(key, "revokedUnixMs").is_some() {
        return style.bad("revoked");
    }
    match time(key, "expiresUnixMs") {
        None => style.good("good"),
        Some(expires) if expires <= now => style.bad("expired"),
        Some(expires) => {
            style.good(format_args!("good for {}", about(expires.saturating_sub(now))))
        }
    }
}

fn text<'a>(key: &'a Value, field: &str) -> &'a str {
    key[field].as_str().unwrap_or("-")
}

fn time(key: &Value, field: &str) -> Option<Duration> {
    key[field].as_u64().map(Duration::from_millis)
}

/// A length of time as people say it.
fn about(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7_200 => format!("{}m", seconds / 60),
        7_200..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}
