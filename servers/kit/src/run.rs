//! Runs a server as a program.

use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Command, FromArgMatches as _};
use environment::Environment;
use rmcp::ServerHandler;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use tracing_subscriber::EnvFilter;

use crate::announce::{Announcer, Identity, InvalidRegistration};
use crate::http::Door;
use crate::jobs::Jobs;
use crate::programs::Programs;
use crate::start::NoFlags;
use crate::{Capability, Options, Server, http, stdio};

/// Exit code for an invalid description or flag.
const MISUSE: u8 = 2;

/// Runs a server as a program: reads the flags, serves until a signal, and returns the exit code.
pub fn main(server: Server) -> ExitCode {
    main_with(server, |capability| capability)
}

/// Like [`main`], with a handler of the server's own around the capability.
pub fn main_with<H: ServerHandler + Clone>(
    server: Server,
    wrap: impl FnOnce(Capability) -> H,
) -> ExitCode {
    let identity = (server.name, server.version);
    run(identity, |NoFlags {}| server, wrap, Keeping::InMemory)
}

/// Where references are kept without `--keep`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keeping {
    InMemory,
    /// `powerstrip/NAME` in the user's cache folder.
    InCacheFolder,
}

/// Reads the flags, of which some may be the server's own, and serves.
pub(crate) fn run<F: Args, H: ServerHandler + Clone>(
    (name, version): (&'static str, &'static str),
    describe: impl FnOnce(F) -> Server,
    wrap: impl FnOnce(Capability) -> H,
    keeping: Keeping,
) -> ExitCode {
    let command = Options::augment_args(Command::new(name).version(version));
    // The flags' own descriptions are for readers of the code.
    let about = format!(
        "The MCP server {name}: speaks over stdin and stdout, over HTTP with --listen, or as a server of a gateway with --gateway"
    );
    let command = F::augment_args(command).about(about).long_about(None);
    let matches = command.get_matches();
    let parsed = Options::from_arg_matches(&matches)
        .and_then(|options| Ok((options, F::from_arg_matches(&matches)?)));
    let (options, flags) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => error.exit(),
    };
    if let Err(reason) = log_to_stderr(&options.log) {
        return fail(MISUSE, &reason);
    }
    let server = describe(flags);
    let limits = options.limits(server.current_limits());
    let folder = match (&options.keep, keeping) {
        (Some(folder), _) if folder.as_os_str() == "off" => None,
        (Some(folder), _) => Some(folder.clone()),
        (None, Keeping::InCacheFolder) => cache_folder(name),
        (None, Keeping::InMemory) => None,
    };
    let programs = server.programs();
    let gateway = options.gateway.url.clone();
    let capability = match server.limits(limits).keep_in(folder).gateway_at(gateway).build() {
        Ok(capability) => capability,
        Err(error) => return fail(MISUSE, &error.to_string()),
    };
    let jobs = capability.jobs();
    let handler = wrap(capability);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return fail(1, &error.to_string()),
    };
    let outcome = runtime.block_on(async {
        if let Some(jobs) = &jobs {
            jobs.start();
        }
        let body_bytes = limits.body_bytes;
        let identity = (name, version);
        let served = serve(handler, options, identity, body_bytes, programs, jobs.clone()).await;
        if let Some(jobs) = &jobs {
            jobs.stop().await;
        }
        served
    });
    // A thread may still wait in a read of stdin, which nothing can interrupt.
    runtime.shutdown_background();
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(error.code(), &error.to_string()),
    }
}

/// `powerstrip/NAME` in the user's cache folder.
fn cache_folder(name: &str) -> Option<PathBuf> {
    let environment = Environment::of_process();
    let cache = environment
        .path("XDG_CACHE_HOME")
        .or_else(|| environment.path("HOME").map(|home| home.join(".cache")))
        .filter(|path| path.is_absolute());
    if cache.is_none() {
        tracing::warn!("no cache folder is known, so references end with this process; see --keep");
    }
    Some(cache?.join("powerstrip").join(name))
}

async fn serve<H: ServerHandler + Clone>(
    handler: H,
    options: Options,
    (name, version): (&str, &'static str),
    body_bytes: usize,
    programs: Programs,
    jobs: Option<Jobs>,
) -> Result<(), Failed> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let signalled = async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping");
        if let Some(jobs) = jobs {
            jobs.drain();
        }
    };
    let Some(address) = options.address() else {
        tracing::info!("speaking MCP over stdin and stdout; --listen serves HTTP instead");
        return Ok(stdio::serve(handler, body_bytes, signalled).await?);
    };
    let listener = TcpListener::bind(address).await.map_err(|error| {
        io::Error::new(error.kind(), format!("cannot listen on {address}: {error}"))
    })?;
    let mut door = Door {
        drain: options.drain(),
        request_times: Default::default(),
        allow_hosts: options.allow_hosts,
        allow_origins: options.allow_origins,
        body_bytes,
        programs,
    };
    let membership = &options.gateway;
    let Some(gateway) = &membership.url else {
        print_url(&listener)?;
        return Ok(http::serve(handler, listener, door, signalled).await?);
    };
    let identity = Identity {
        name: membership.name.clone().unwrap_or_else(|| name.to_owned()),
        version,
        url: public_url(membership.public_url.clone(), listener.local_addr()?)?,
        replica: membership.replica,
    };
    door.allow_hosts.extend(Identity::host(&identity.url));
    let announcer = Announcer::new(gateway, membership, identity)?;
    print_url(&listener)?;
    let unregister = CancellationToken::new();
    let announcing = tokio::spawn(announcer.run(unregister.clone()));
    // Unregistering comes first, so that the gateway sends no more calls; then calls in flight are finished.
    let stop = async move {
        signalled.await;
        unregister.cancel();
        let _ = announcing.await;
    };
    Ok(http::serve(handler, listener, door, stop).await?)
}

/// The URL at which the gateway reaches this server.
fn public_url(given: Option<String>, address: SocketAddr) -> Result<String, Failed> {
    match given {
        Some(url) => Ok(url),
        None if address.ip().is_unspecified() => Err(Failed::Misuse(
            "--public-url is needed: the server listens on all addresses, and the gateway needs one of them"
                .to_owned(),
        )),
        None => Ok(format!("http://{address}/mcp")),
    }
}

/// Why a server ended early.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error("{0}")]
    Misuse(String),
}

impl From<InvalidRegistration> for Failed {
    fn from(why: InvalidRegistration) -> Self {
        Self::Misuse(why.to_string())
    }
}

impl Failed {
    fn code(&self) -> u8 {
        match self {
            Self::Io(_) => 1,
            Self::Misuse(_) => MISUSE,
        }
    }
}

/// Prints the URL as the first line of stdout, for callers that chose port 0.
fn print_url(listener: &TcpListener) -> io::Result<()> {
    let url = format!("http://{}/mcp", listener.local_addr()?);
    tracing::info!(%url, "listening");
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{url}")?;
    stdout.flush()
}

fn log_to_stderr(filter: &str) -> Result<(), String> {
    let filter = EnvFilter::try_new(filter).map_err(|error| format!("--log {filter}: {error}"))?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(io::stderr().is_terminal())
        .with_writer(io::stderr)
        .try_init()
        .map_err(|error| error.to_string())
}

fn fail(code: u8, reason: &str) -> ExitCode {
    // Ignored: if stderr is closed, only the exit code is left.
    let _ = writeln!(io::stderr(), "error: {reason}");
    ExitCode::from(code)
}
