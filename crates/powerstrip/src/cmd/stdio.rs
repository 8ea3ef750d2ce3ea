use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;
use url::Url;

use crate::context::Context;
use crate::relay;
use crate::signals;
use crate::telemetry::Telemetry;
use remote::{Client, Remote, parse_url};

const EXAMPLES: &str = "\
Examples:
  claude mcp add powerstrip -- powerstrip stdio --config /path/to/powerstrip.yaml
  powerstrip stdio --url http://127.0.0.1:7777          a bridge to a gateway elsewhere

Newline-framed MCP and LSP-framed JSON-RPC (mcp.discover, mcp.prompt.get, mcp.tool.invoke) are recognised by their
first bytes. Any number of these may run next to one `powerstrip serve`: one process runs the strip, the others talk
to it, whatever the order in which they start and stop.";

/// Speak MCP, or LSP-framed JSON-RPC, over stdin and stdout
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Stdio {
    /// Pass everything on to the gateway at this URL.
    #[arg(long, value_name = "URL", value_parser = parse_url)]
    url: Option<Url>,
    /// Speak as this agent of the config: only the tools of its skills are there.
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

impl Stdio {
    pub(crate) async fn run(self, context: Context) -> anyhow::Result<ExitCode> {
        let context = Arc::new(context);
        let loaded = context.load()?;
        let telemetry = Telemetry::start(&loaded, &context, "warn")?;
        let client = Client::new(tokio::io::stdin(), tokio::io::stdout());
        let shutdown = signals::shutdown()?;
        let gone = relay::client_gone()?;
        let agent = self.agent.as_deref();
        let ended = match &self.url {
            Some(url) => {
                let gateway = Remote::at(url, agent, &context.environment)?;
                tokio::select! {
                    ended = remote::bridge(client, gateway, shutdown) => ended,
                    () = gone.cancelled() => Ok(()),
                }
            }
            None => relay::run(client, &context, &loaded, agent, shutdown, gone).await,
        };
        telemetry.flush().await;
        ended.map(|()| ExitCode::SUCCESS)
    }
}
