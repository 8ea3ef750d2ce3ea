//! The flags that every capability server takes.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use proto::Secret;

use crate::Limits;

/// The default path of the token that a gateway in the same folder writes for servers of its user.
const USUAL_TOKEN_FILE: &str = ".powerstrip/registration-token";

/// How a server is started. Without `--listen` or `--gateway` it speaks MCP over stdin and stdout.
#[derive(Debug, Clone, Args)]
pub struct Options {
    /// Serve streamable HTTP at /mcp on this address (port 0 picks a free one; the URL is printed)
    #[arg(long, value_name = "HOST:PORT")]
    pub listen: Option<SocketAddr>,

    /// Speak MCP over stdin and stdout (the default)
    #[arg(long, conflicts_with = "listen")]
    pub stdio: bool,

    #[command(flatten)]
    pub gateway: GatewayOptions,

    /// Accept this Host header too, such as the name other machines know this one by
    #[arg(long = "allow-host", value_name = "HOST")]
    pub allow_hosts: Vec<String>,

    /// Accept browser requests from this origin too, such as `https://app.example.com:443`
    #[arg(long = "allow-origin", value_name = "ORIGIN")]
    pub allow_origins: Vec<String>,

    /// Keep stored results in this folder, which replicas may share; `off` keeps them in memory
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,

    /// Largest request in bytes
    #[arg(long, value_name = "BYTES")]
    pub max_body_bytes: Option<usize>,

    /// Largest answer in bytes
    #[arg(long, value_name = "BYTES")]
    pub max_output_bytes: Option<usize>,

    /// Longest call in milliseconds, for tools that do not name their own
    #[arg(long, value_name = "MS")]
    pub timeout_ms: Option<u64>,

    /// How long calls in flight may go on after a signal to stop
    #[arg(long, value_name = "MS", default_value_t = 10_000)]
    pub drain_ms: u64,

    /// What is logged to stderr
    #[arg(long, value_name = "FILTER", env = "POWERSTRIP_LOG", default_value = "info,rmcp=warn")]
    pub log: String,
}

/// Options for registration with a gateway.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Registration with a gateway")]
pub struct GatewayOptions {
    /// Register with the gateway at this URL; without --listen the server takes a free port of this machine
    #[arg(long = "gateway", value_name = "URL", env = "POWERSTRIP_GATEWAY")]
    pub url: Option<String>,

    /// The file with the registration token [default: the variable, or else .powerstrip/registration-token]
    #[arg(long = "gateway-token-file", value_name = "FILE")]
    pub token_file: Option<PathBuf>,

    /// The token itself; hidden, because other users of this machine can read command lines
    #[arg(
        long = "gateway-token",
        value_name = "TOKEN",
        env = "POWERSTRIP_REGISTRATION_TOKEN",
        hide = true,
        hide_env_values = true
    )]
    pub token: Option<Secret>,

    /// The name to register under [default: the program's own]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// Where the gateway reaches this server, if that is not the address listened on
    #[arg(long, value_name = "URL")]
    pub public_url: Option<String>,

    /// Run in parallel with other processes of the same name, instead of replacing them
    #[arg(long)]
    pub replica: bool,
}

/// Where the registration token comes from.
#[derive(Debug, Clone)]
pub(crate) enum Token {
    Given(Secret),
    File(PathBuf),
}

impl GatewayOptions {
    /// The named file, or else the variable, or else the default file.
    pub(crate) fn token(&self) -> Token {
        match (&self.token_file, &self.token) {
            (Some(file), _) => Token::File(file.clone()),
            (None, Some(token)) => Token::Given(token.clone()),
            (None, None) => Token::File(USUAL_TOKEN_FILE.into()),
        }
    }
}

impl Token {
    /// The token as it is now.
    pub(crate) fn read(&self) -> Result<String, String> {
        let token = match self {
            Self::Given(token) => token.expose().to_owned(),
            Self::File(path) => std::fs::read_to_string(path).map_err(|error| {
                format!("the registration token {} cannot be read: {error}", path.display())
            })?,
        };
        let token = token.trim();
        if token.is_empty() {
            Err("the registration token is empty".to_owned())
        } else {
            Ok(token.to_owned())
        }
    }
}

impl Options {
    /// Where to listen; nothing for stdin and stdout.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        let any = SocketAddr::from(([127, 0, 0, 1], 0));
        let implied = self.gateway.url.as_ref().filter(|_| !self.stdio).map(|_| any);
        self.listen.or(implied)
    }

    /// The server's limits, overridden by flags.
    pub(crate) fn limits(&self, own: Limits) -> Limits {
        Limits {
            body_bytes: self.max_body_bytes.unwrap_or(own.body_bytes),
            output_bytes: self.max_output_bytes.unwrap_or(own.output_bytes),
            timeout: self.timeout_ms.map_or(own.timeout, Duration::from_millis),
        }
    }

    pub(crate) fn drain(&self) -> Duration {
        Duration::from_millis(self.drain_ms)
    }
}
