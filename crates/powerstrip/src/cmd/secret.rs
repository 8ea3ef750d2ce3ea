mod prune;

use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use auth::secrets::operations::{
    ListOwnSecrets, ListSecrets, PersonalSecretList, PersonalSecretView, RemoveOwnSecret,
    RemoveSecret, SecretInput, SecretText, SecretView, SetOwnSecret, SetSecret, SetSecretInput,
};
use clap::{Args, Subcommand};
use http::Method;
use operations::NoInput;
use proto::Secret;
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use serde_json::{Value, json};
use url::Url;

use crate::context::Context;
use crate::exit::Usage;
use crate::operation_client::OperationClient;
use crate::telemetry::Telemetry;
use remote::Remote;
use terminal::table::{Cell, Table};
use terminal::{Style, Tone, shown, time};

const EXAMPLES: &str = "\
Examples:
  powerstrip secret set crm_token                       asks for the value and does not show it
  pass crm/token | powerstrip secret set crm_token      takes it from standard input
  powerstrip secret ls                                  names only; values are never shown
  powerstrip secret rm crm_token
  powerstrip secret prune                               remove those that the config does not use
  powerstrip secret set --mine github                   your own value of a secret with `per: person`
  powerstrip secret set --mine github --url https://tools.example.com

The config uses a stored secret as `{secret: crm_token}`. A running gateway takes changes at once.";

/// The longest value that is read; the vault refuses it with a message.
const MAX_INPUT: u64 = 128 * 1024;

/// Store, list and remove secrets in the vault
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SecretCommand {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Store a secret; the value comes from standard input or a hidden prompt
    Set {
        /// The secret's name in `{secret: NAME}`.
        name: String,
        #[command(flatten)]
        whose: Whose,
    },
    /// List secrets, without their values
    #[command(visible_alias = "list")]
    Ls {
        #[command(flatten)]
        whose: Whose,
    },
    /// Remove a secret
    Rm {
        /// The secret's name.
        name: String,
        #[command(flatten)]
        whose: Whose,
    },
    /// Remove the secrets that the config does not use
    Prune(prune::Prune),
}

#[derive(Debug, Default, Args)]
struct Whose {
    /// Your own value of a secret that the config marks `per: person`, instead of the gateway's secret.
    #[arg(long)]
    mine: bool,
    /// The gateway at this URL, with --mine; POWERSTRIP_TOKEN holds your token or key.
    #[arg(long, value_name = "URL", requires = "mine")]
    url: Option<Url>,
}

impl SecretCommand {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let action = self.action.unwrap_or(Action::Ls { whose: Whose::default() });
        // Asked for before anything is opened, so that nothing waits for the person.
        let value = match &action {
            Action::Set { name, .. } => Some(SecretText(read_value(name)?)),
            Action::Ls { .. } | Action::Rm { .. } | Action::Prune(_) => None,
        };
        let everyone = Whose::default();
        let client = Client::open(context, action.whose().unwrap_or(&everyone)).await?;
        let done = action.run(value, &client, context).await;
        client.close().await;
        done.map(|()| ExitCode::SUCCESS)
    }
}

impl Action {
    fn whose(&self) -> Option<&Whose> {
        match self {
            Self::Set { whose, .. } | Self::Ls { whose } | Self::Rm { whose, .. } => Some(whose),
            Self::Prune(_) => None,
        }
    }

    async fn run(
        self,
        value: Option<SecretText>,
        client: &Client,
        context: &Context,
    ) -> anyhow::Result<()> {
        let (as_json, mine) = (context.global.json, self.whose().is_some_and(|whose| whose.mine));
        let style = Style::stdout(&context.environment);
        let (name, done) = match self {
            Self::Set { name, .. } => {
                let Some(value) = value else { bail!("there is no value") };
                client.set(mine, SetSecretInput { name: name.clone(), value }).await?;
                (name, "stored")
            }
            Self::Rm { name, .. } => {
                client.remove(mine, SecretInput { name: name.clone() }).await?;
                (name, "removed")
            }
            Self::Prune(prune) => return prune.run(client, as_json).await,
            Self::Ls { .. } if mine => {
                let list = client.list_own().await?;
                return if as_json { Ok(terminal::record(&list)?) } else { list_own(&list, style) };
            }
            Self::Ls { .. } => {
                let secrets = client.list().await?;
                return if as_json {
                    Ok(terminal::record(&secrets)?)
                } else {
                    list(&secrets, style)
                };
            }
        };
        if as_json {
            return Ok(terminal::json(&json!({"name": name, "result": done}))?);
        }
        terminal::line(format_args!("{name} is {done}"))?;
        if done == "stored" && !mine {
            terminal::note(format_args!("Use it in powerstrip.yaml as {{secret: {name}}}."));
        }
        Ok(())
    }
}

/// Where the secrets are.
enum Client {
    Local(Box<OperationClient>, Telemetry),
    Remote(Remote),
}

impl Client {
    async fn open(context: &Context, whose: &Whose) -> anyhow::Result<Self> {
        if let Some(url) = &whose.url {
            return Ok(Self::Remote(Remote::new(url, &context.environment)?));
        }
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        let client = OperationClient::for_secrets(context, &loaded).await?;
        Ok(Self::Local(Box::new(client), telemetry))
    }

    async fn set(&self, mine: bool, input: SetSecretInput) -> anyhow::Result<()> {
        match self {
            Self::Local(client, _) if mine => client.run::<SetOwnSecret>(&input).await.map(drop),
            Self::Local(client, _) => client.run::<SetSecret>(&input).await.map(drop),
            Self::Remote(remote) => {
                let body = json!({"value": input.value});
                let body = Some(&body);
                remote.request::<Value>(Method::POST, &path(&input.name), body).await.map(drop)
            }
        }
    }

    async fn remove(&self, mine: bool, input: SecretInput) -> anyhow::Result<()> {
        match self {
            Self::Local(client, _) if mine => client.run::<RemoveOwnSecret>(&input).await.map(drop),
            Self::Local(client, _) => client.run::<RemoveSecret>(&input).await.map(drop),
            Self::Remote(remote) => {
                remote.request::<Value>(Method::DELETE, &path(&input.name), None).await.map(drop)
            }
        }
    }

    async fn list(&self) -> anyhow::Result<Vec<SecretView>> {
        match self {
            Self::Local(client, _) => client.run::<ListSecrets>(&NoInput {}).await,
            Self::Remote(_) => bail!("secrets of a gateway are listed on its own host"),
        }
    }

    async fn list_own(&self) -> anyhow::Result<PersonalSecretList> {
        match self {
            Self::Local(client, _) => client.run::<ListOwnSecrets>(&NoInput {}).await,
            Self::Remote(remote) => remote.request(Method::GET, "/v1/secrets", None).await,
        }
    }

    async fn close(self) {
        if let Self::Local(client, telemetry) = self {
            client.close().await;
            telemetry.flush().await;
        }
    }
}

/// The route of one secret. The gateway checks names; this only keeps a name within its segment.
fn path(name: &str) -> String {
    let name: String = url::form_urlencoded::byte_serialize(name.as_bytes()).collect();
    format!("/v1/secrets/{name}")
}

/// Reads the value: from standard input, or without echo from the terminal.
fn read_value(name: &str) -> anyhow::Result<Secret> {
    let mut stdin = io::stdin().lock();
    let mut text = String::new();
    if io::stdin().is_terminal() {
        write!(io::stderr().lock(), "Value of {name}: ")?;
        let before = tcgetattr(&stdin).context("the terminal cannot be read without echo")?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(&stdin, OptionalActions::Flush, &hidden)
            .context("the terminal cannot be read without echo")?;
        let read = io::BufRead::read_line(&mut stdin, &mut text);
        tcsetattr(&stdin, OptionalActions::Now, &before)?;
        terminal::note("");
        read?;
    } else {
        let read = (&mut stdin).take(MAX_INPUT).read_to_string(&mut text);
        read.context("the value cannot be read from standard input")?;
    }
    let value = text.strip_suffix('\n').unwrap_or(&text);
    let value = value.strip_suffix('\r').unwrap_or(value);
    if value.is_empty() {
        let usage = format!(
            "the value is empty: pipe it in, as in `printf %s \"$TOKEN\" | powerstrip secret set {name}`, or type it \
             at the prompt"
        );
        return Err(Usage(usage).into());
    }
    Ok(Secret::new(value))
}

fn list(secrets: &[SecretView], style: Style) -> anyhow::Result<()> {
    if secrets.is_empty() {
        return Ok(terminal::line("no secrets: `powerstrip secret set NAME` stores one")?);
    }
    let mut table = Table::new(["NAME", "STATE", "STORED", "USED"]);
    for secret in secrets {
        let state = match (secret.stored_unix_ms, secret.readable) {
            _ if secret.damaged.is_some() => Cell::new("damaged").tone(Tone::Bad),
            (None, _) => Cell::new("missing").tone(Tone::Bad),
            (Some(_), false) => Cell::new("sealed with another key").tone(Tone::Bad),
            (Some(_), true) => Cell::new("stored").tone(Tone::Good),
        };
        table.row([
            Cell::new(&secret.name).tone(Tone::Strong),
            state,
            Cell::maybe(secret.stored_unix_ms.map(time::ago)),
            match (&secret.unknown, secret.used) {
                (Some(why), _) => Cell::new(format_args!("unknown: {why}")).tone(Tone::Doubtful),
                (None, true) => Cell::new("by the config"),
                (None, false) => Cell::new("unused").tone(Tone::Doubtful),
            },
        ]);
    }
    table.print(style)?;
    for secret in secrets {
        if let Some(column) = &secret.damaged {
            terminal::note(format_args!(
                "the stored secret {} is damaged: its {column} cannot be read; `powerstrip secret set` stores it again",
                shown(&secret.name)
            ));
        }
    }
    if secrets.iter().any(|secret| !secret.used) {
        terminal::note("`powerstrip secret prune` removes unused secrets");
    }
    Ok(())
}

fn list_own(list: &PersonalSecretList, style: Style) -> anyhow::Result<()> {
    if list.secrets.is_empty() {
        return Ok(terminal::line("the config asks people for no secrets of their own")?);
    }
    let mut table = Table::new(["NAME", "STATE", "STORED", "SERVERS"]);
    for PersonalSecretView { name, servers, stored_unix_ms } in &list.secrets {
        let state = match stored_unix_ms {
            None => Cell::new("missing").tone(Tone::Bad),
            Some(_) => Cell::new("stored").tone(Tone::Good),
        };
        table.row([
            Cell::new(name).tone(Tone::Strong),
            state,
            Cell::maybe(stored_unix_ms.map(time::ago)),
            Cell::new(servers.join(", ")),
        ]);
    }
    Ok(table.print(style)?)
}
