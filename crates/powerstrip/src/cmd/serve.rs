mod startup;

use std::io::{self, IsTerminal as _};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use auth::{AdminToken, SignInCodes};
use clap::Args;
use config::{Limits, Listen, Overrides};
use doors::{BodyReader, HttpDoor, Metrics, Options};
use gateway::programs::describe_tier;
use gateway::reload::Reload;
use gateway::{Foundation, Freshness, Gateway, approvals};
use http_server::ServerLimits;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::time::Instant;

use crate::context::Context;
use crate::memory;
use crate::signals;
use crate::telemetry::Telemetry;
use gateway::handover::{self, HandoverListener};
use gateway::port::find_holder;
use terminal::Style;

const EXAMPLES: &str = "\
Examples:
  powerstrip serve                                      everything by default
  powerstrip serve --listen 127.0.0.1:8080 --tools ./my-tools
  powerstrip serve --config powerstrip.yaml --log debug
  powerstrip serve --mcp-json ~/.cursor/mcp.json        with the servers of a client

Tools and prompts are followed while it runs: drop a *.tool.yaml into the tools folder and call it. The config file is
followed, too; SIGHUP reloads it. SIGTERM or Ctrl-C lets calls under way finish; a second one ends it at once.

Without `auth:` in the config only loopback addresses are accepted. --json prints {url, mcp, dashboard, adminToken, tools,
prompts, sandbox} to standard output once it listens.";

/// Start the gateway
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Serve {
    /// The address to listen on; port 0 takes a free one [default: 127.0.0.1:7777].
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<Listen>,
    /// An `mcpServers` JSON (Claude Desktop, Cursor, VS Code) whose servers are used in addition to those of the config.
    #[arg(long, value_name = "FILE")]
    mcp_json: Option<PathBuf>,
}

/// How long calls under way may take to finish when the gateway is stopped.
const DRAIN: Duration = Duration::from_secs(20);

/// How long `serve` tries to listen on an address that is in use. A process that was killed holds its port until its last
/// thread has left the kernel, which takes up to half a second on a busy machine.
const BIND_TIME: Duration = Duration::from_secs(3);

const BIND_PAUSE: Duration = Duration::from_millis(25);

/// The memory for bodies of requests, unless the config sets it.
const LEAST_BODY_MEMORY: usize = 16 << 20;
const MOST_BODY_MEMORY: usize = 256 << 20;

/// Connections may not take the descriptors that the rest of the gateway needs.
fn server_limits() -> ServerLimits {
    let limits = ServerLimits::default();
    let room = egress::process::room_for_connections();
    ServerLimits { max_connections: limits.max_connections.min(room), ..limits }
}

impl Serve {
    pub(crate) async fn run(self, context: Context) -> anyhow::Result<ExitCode> {
        let context = Arc::new(context);
        let flags = Overrides {
            listen: self.listen,
            mcp_json: self.mcp_json,
            ..context.global.overrides()
        };
        let loaded = context.load_with(flags.clone())?;
        let telemetry = Telemetry::start(&loaded, &context, "info")?;
        let metrics = Metrics::install()?;
        let config = &loaded.config;
        let limits = server_limits();
        let listener = bind(config.listen).await?;
        let address = listener.local_addr()?;
        let url = format!("http://{address}");

        let folder = handover::inherit(&config.data_dir).await?;
        let handover_listener = HandoverListener::open(folder.path());
        let process = context.process();
        let foundation = Foundation::open(&process, &loaded, folder).await?;
        // Before anything is started: without a secret of `auth`, the gateway must serve no caller.
        let access = foundation.access(&loaded).await?;
        let gateway = Gateway::open(&process, &loaded, foundation, Freshness::Followed).await?;
        let gateway = Arc::new(gateway);
        gateway.listeners().register(address);
        gateway.keyring().set_base_url(&url);
        let logins = Some(Arc::clone(gateway.keyring()));
        let admin = Arc::new(gateway.admin()?);
        let shutdown = signals::shutdown()?;
        let public = match (&loaded.config.public_url, &access) {
            (Some(_), Some(access)) => access.public_url.clone(),
            _ => url.clone(),
        };
        gateway.strip().files().set_public_url(
            loaded.config.public_url.as_deref().unwrap_or(&url).parse().context("public_url")?,
        );
        let webhook = gateway.approval_webhook(&loaded, &public)?;
        let servers = gateway.server_registration(access.is_some())?;
        let access = gateway.access(access, &public);
        gateway.resume_workflows(access.clone());
        let draining = tokio::spawn(gateway.drain_workflows(shutdown.clone(), DRAIN));
        let local_calls = tokio::spawn(gateway.drain_local_calls(shutdown.clone(), DRAIN));
        let limited = limited(&loaded.config.limits);
        let codes = Arc::new(SignInCodes::new(gateway.strip().clock().clone()));
        let pages = dashboard::pages(dashboard::Parts {
            strip: Arc::clone(gateway.strip()),
            access: access.clone(),
            admin: Some(Arc::clone(&admin)),
            sign_in_codes: Some(Arc::clone(&codes)),
            servers: Some(Arc::clone(&servers)),
            service: Some(gateway.dashboard(&process, flags.clone())),
            installer: Some(gateway.installer(&process, flags.clone())),
            console: Arc::clone(gateway.console()) as Arc<dyn operations::Console>,
            workflows: Some(gateway.workflows()),
            operations: Arc::clone(gateway.operations()),
            shutdown: shutdown.clone(),
            max_body_bytes: limited.max_body_bytes,
            bodies: Arc::clone(&limited.bodies),
        });
        let options = Options {
            shutdown: shutdown.clone(),
            metrics: Some(metrics),
            logins,
            admin: Some(Arc::clone(&admin)),
            approval_links: webhook.as_ref().map(|webhook| Arc::clone(&webhook.links)),
            operations: Arc::clone(gateway.operations()),
            workflows: Some(gateway.workflows()),
            servers: Some(servers),
            pages: Some(pages),
            ..limited
        };
        let dashboard = Some(format!("{public}/dashboard"));
        gateway.approvals().set_terms(approvals::terms(&loaded.config, dashboard));
        if let Some(webhook) = webhook {
            tokio::spawn(webhook.serve(Arc::clone(gateway.approvals()), shutdown.clone()));
        }
        // Calls that wait for people would delay the shutdown; their approvals and questions stay pending.
        tokio::spawn({
            let (approvals, shutdown) = (Arc::clone(gateway.approvals()), shutdown.clone());
            let strip = Arc::downgrade(gateway.strip());
            async move {
                shutdown.cancelled().await;
                approvals.end();
                if let Some(strip) = strip.upgrade() {
                    strip.runs().end_waiting();
                }
            }
        });
        let door = HttpDoor::new(Arc::clone(gateway.strip()), access, options);
        let reload = Reload::new(Arc::clone(&gateway), process, flags, &loaded);
        let following = tokio::spawn(reload.follow(loaded, shutdown.clone()));
        let sign_in = SignIn { admin: &admin, codes: &codes, public: &public };
        announce(&context, &gateway, &sign_in, &url)?;
        if io::stderr().is_terminal() && !context.global.json {
            let style = Style::stderr(&context.environment);
            tokio::spawn(startup::report_servers(Arc::clone(&gateway), style, shutdown.clone()));
        }

        let serving =
            http_server::serve_with(listener, Arc::new(door), shutdown.clone(), DRAIN, limits);
        let refusing = async {
            match &handover_listener {
                Ok(handover_listener) => handover_listener.refuse(&url).await,
                Err(_) => std::future::pending().await,
            }
        };
        let served = tokio::select! {
            served = serving => served,
            () = refusing => Ok(()),
        };
        shutdown.cancel();
        let _ = draining.await;
        let _ = local_calls.await;
        let _ = following.await;
        drop(handover_listener);
        Gateway::close_shared(gateway).await;
        telemetry.flush().await;
        served.context("the server ended")?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The door's limits on what callers may take from each other.
fn limited(limits: &Limits) -> Options {
    let sessions = &limits.sessions;
    let memory = limits.body_memory.map_or_else(body_memory, |size| size.0);
    let count = |number: NonZeroU32| usize::try_from(number.get()).unwrap_or(usize::MAX);
    Options {
        bodies: Arc::new(BodyReader::default().with_memory(memory)),
        max_sessions: count(sessions.max),
        sessions_per_caller: count(sessions.per_caller),
        session_idle: sessions.idle.0,
        ..Options::default()
    }
}

/// The memory for bodies if the config does not set it. A parsed body takes several times as much as its text.
fn body_memory() -> usize {
    let part = memory::available().map(|bytes| bytes / 16);
    part.unwrap_or(MOST_BODY_MEMORY).clamp(LEAST_BODY_MEMORY, MOST_BODY_MEMORY)
}

async fn bind(listen: Listen) -> anyhow::Result<TcpListener> {
    let deadline = Instant::now() + BIND_TIME;
    let bound = loop {
        match TcpListener::bind(listen.0).await {
            Err(error) if is_in_use(&error) && Instant::now() < deadline => {
                tokio::time::sleep(BIND_PAUSE).await;
            }
            bound => break bound,
        }
    };
    bound.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            let holder = find_holder(listen.0);
            let by = holder.as_ref().map(|holder| format!(" by {holder}")).unwrap_or_default();
            let other = if holder.is_none_or(|holder| holder.program == "powerstrip") {
                format!(
                    " If another gateway runs there, `powerstrip tools --url http://{listen}` shows what it \
                     offers."
                )
            } else {
                String::new()
            };
            anyhow!(
                "{listen} is already in use{by}; tried for {} s.{other} Choose another address with --listen, such as --listen {}:0 \
                 for a free port",
                BIND_TIME.as_secs(),
                listen.0.ip()
            )
        }
        io::ErrorKind::PermissionDenied => {
            anyhow!("{listen} may not be used: ports below 1024 need special rights; choose another with --listen")
        }
        _ => anyhow!("cannot listen on {listen}: {error}"),
    })
}

fn is_in_use(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AddrInUse
}

/// How the operator signs in to the dashboard.
struct SignIn<'a> {
    admin: &'a AdminToken,
    codes: &'a SignInCodes,
    /// The address of the gateway for browsers.
    public: &'a str,
}

fn announce(
    context: &Context,
    gateway: &Gateway,
    sign_in: &SignIn<'_>,
    url: &str,
) -> io::Result<()> {
    let admin = sign_in.admin;
    let discovery = gateway.strip().discovery(&auth::LocalAccess::default().user());
    let (tools, prompts, tier) = (discovery.tools.len(), discovery.prompts.len(), gateway.tier());
    if context.global.json {
        return terminal::json(&json!({
            "url": url, "dashboard": format!("{url}/dashboard"), "adminToken": admin.path(), "mcp": format!("{url}/mcp"), "tools": tools, "prompts": prompts, "sandbox": tier,
        }));
    }
    let style = Style::stderr(&context.environment);
    terminal::note(format_args!(
        "{} {} on {}",
        style.bold("powerstrip"),
        env!("CARGO_PKG_VERSION"),
        style.good(url)
    ));
    terminal::note(format_args!(
        "  {tools} tools, {prompts} prompts, sandbox {tier} ({})",
        describe_tier(tier)
    ));
    terminal::note(format_args!(
        "  Claude Code  claude mcp add --transport http powerstrip {url}/mcp"
    ));
    terminal::note(format_args!(
        "  Cursor       {{\"mcpServers\": {{\"powerstrip\": {{\"url\": \"{url}/mcp\"}}}}}}  in ~/.cursor/mcp.json"
    ));
    terminal::note(format_args!(
        "  Inspector    npx @modelcontextprotocol/inspector --transport http --server-url {url}/mcp"
    ));
    terminal::note(format_args!(
        "  Dashboard    {url}/dashboard  (admin token in {})",
        admin.path().display()
    ));
    // A file or a pipe keeps what it is given; a terminal shows it to the person who started this.
    if io::stderr().is_terminal() {
        if let Ok(code) = sign_in.codes.issue() {
            terminal::note(format_args!(
                "  Sign in      {}/dashboard/sign-in?code={}  (once, within {} minutes)",
                sign_in.public,
                code.expose(),
                SignInCodes::LIFETIME.as_secs() / 60
            ));
        }
        terminal::note(format_args!("  Admin token  {}", admin.text().expose()));
    }
    terminal::note(format_args!(
        "  curl         curl {url}/mcp/tool/demo.echo --json '{{\"message\":\"hi\"}}'"
    ));
    Ok(())
}
