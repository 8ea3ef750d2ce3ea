use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use auth::LocalAccess;
use clap::Args;
use doors::{HttpDoor, Options};
use gateway::Gateway;
use gateway::login::{LogIn, LogInInput, LoginStatus};
use serde_json::json;
use tokio::net::TcpListener;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::access::Access;
use crate::context::Context;
use crate::telemetry::Telemetry;

const EXAMPLES: &str = "\
Examples:
  powerstrip login crm                prints a link, and waits until you have followed it
  powerstrip login crm --json         prints {\"server\", \"login\"} and ends; `login` is null if none is needed

It asks the gateway that runs on this data folder; where none runs, it waits for the browser itself.";

/// How long a link lives.
const LINK_LIFETIME: Duration = Duration::from_secs(600);

/// A link leads back to a process that listens.
const NOT_RUNNING: &str = "no gateway runs on this data folder: start `powerstrip serve`, or leave out --json, so that this command waits for \
     the browser itself";

const POLL_INTERVAL: Duration = Duration::from_millis(1_500);

/// Log in to a protected server
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Login {
    /// The server's name in the config.
    server: String,
}

impl Login {
    pub(crate) async fn run(self, context: &Context) -> anyhow::Result<ExitCode> {
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, context, Telemetry::QUIET)?;
        let access = Access::open(context, &loaded, None).await?;
        let stop = CancellationToken::new();
        let outcome = self.with(context, &access, &stop).await;
        stop.cancel();
        access.close().await;
        telemetry.flush().await;
        outcome
    }

    async fn with(
        &self,
        context: &Context,
        access: &Access,
        stop: &CancellationToken,
    ) -> anyhow::Result<ExitCode> {
        // Only a process that stays can be come back to.
        if let Access::Here(gateway, _) = access
            && !context.global.json
        {
            listen(gateway, stop).await?;
        }
        let mut input = LogInInput { server: self.server.clone(), link: None };
        let login = match access.run_unsettled::<LogIn>(&input).await {
            Ok(status) => status.login,
            Err(error) if context.global.json && matches!(access, Access::Here(..)) => {
                return Err(error.context(NOT_RUNNING));
            }
            Err(error) => return Err(error),
        };
        if context.global.json {
            terminal::json(&json!({"server": self.server, "login": login}))?;
            return Ok(ExitCode::SUCCESS);
        }
        let Some(link) = login else {
            terminal::line(format_args!("{} needs no login", self.server))?;
            return Ok(ExitCode::SUCCESS);
        };
        terminal::line(format_args!("Open this link in a browser:\n\n  {link}\n"))?;
        input.link = Some(link);
        let deadline = Instant::now() + LINK_LIFETIME;
        while Instant::now() < deadline {
            tokio::time::sleep(POLL_INTERVAL).await;
            match access.run_unsettled::<LogIn>(&input).await? {
                LoginStatus { failed: Some(why), .. } => {
                    bail!("{} is not logged in: {why}", self.server)
                }
                LoginStatus { login: None, .. } => {
                    terminal::line(format_args!("{} is logged in", self.server))?;
                    return Ok(ExitCode::SUCCESS);
                }
                LoginStatus { login: Some(_), .. } => {}
            }
        }
        bail!(
            "the link was not followed within ten minutes; run `powerstrip login {}` for a new one",
            self.server
        );
    }
}

/// Opens the callback on a free port, for as long as this command runs.
async fn listen(gateway: &Gateway, stop: &CancellationToken) -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    gateway.listeners().register(address);
    gateway.keyring().set_base_url(&format!("http://{address}"));
    let logins = Some(Arc::clone(gateway.keyring()));
    let operations = Arc::clone(gateway.operations());
    let options = Options { shutdown: stop.clone(), logins, operations, ..Options::default() };
    let door = HttpDoor::new(Arc::clone(gateway.strip()), LocalAccess::default(), options);
    tokio::spawn(http_server::serve(
        listener,
        Arc::new(door),
        stop.clone(),
        Duration::from_secs(1),
    ));
    Ok(())
}
