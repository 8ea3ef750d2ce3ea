//! Log lines on standard error, and traces for a collector if one is configured.

mod export;

use std::io::{self, Write};
use std::sync::Arc;

use anyhow::Context as _;
use config::{BadConfig, Fault, Loaded, LogFormat};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::trace::SdkTracerProvider;
use proto::{Scrubber, secrets_of};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

use crate::context::Context;
use terminal::Style;

/// Levels of libraries that log much at `info`; a filter set by the user replaces them.
const LIBRARY_LEVELS: &str =
    "rmcp=warn,hyper=warn,h2=warn,sqlx=warn,opentelemetry=warn,opentelemetry_sdk=warn";

/// The spans for a collector, whatever the log level is. Spans of requests are at `debug`, so that they cost nothing
/// when neither a collector nor the log uses them.
const TRACED: &str = "info,doors=debug,rmcp=warn,hyper=warn,h2=warn,sqlx=warn,opentelemetry=off";

/// The running telemetry; end it with [`Telemetry::flush`].
pub(crate) struct Telemetry(Option<SdkTracerProvider>);

impl Telemetry {
    /// For commands that print the result of a call: the strip's log line would repeat it.
    pub(crate) const QUIET: &str = "warn,strip=error";

    /// Starts logging, at this level unless a flag or the environment sets another.
    pub(crate) fn start(loaded: &Loaded, context: &Context, level: &str) -> anyhow::Result<Self> {
        let requested =
            context.global.log.clone().or_else(|| context.environment.text("POWERSTRIP_LOG"));
        let filter = match &requested {
            Some(filter) => {
                EnvFilter::try_new(filter).map_err(|error| bad_filter(filter, &error))?
            }
            None => EnvFilter::try_new(format!("{level},{LIBRARY_LEVELS}"))
                .context("the default log filter")?,
        };
        // The process that owns the data folder says what is missing.
        let headers = loaded.otlp_headers().ok();
        let known = headers.iter().flatten();
        let known = known.flat_map(|(name, value)| secrets_of(name, value.expose()));
        context.secrets.store(Arc::new(Scrubber::new(known)));
        let secrets = Arc::clone(&context.secrets);
        let lines = tracing_subscriber::fmt::layer().with_writer(move || Line(secrets.load_full()));
        let lines = match loaded.config.telemetry.logs {
            LogFormat::Text => {
                let coloured = Style::stderr(&context.environment).is_coloured();
                lines.with_ansi(coloured).with_target(false).boxed()
            }
            LogFormat::Json => lines.json().boxed(),
        };
        let provider = match (&loaded.config.telemetry.otlp, &headers) {
            (Some(otlp), Some(headers)) => {
                Some(export::provider(&otlp.endpoint, headers, &context.secrets)?)
            }
            _ => None,
        };
        let traces = match &provider {
            Some(provider) => {
                let layer =
                    tracing_opentelemetry::layer().with_tracer(provider.tracer("powerstrip"));
                Some(layer.with_filter(EnvFilter::try_new(TRACED).context("the traces' filter")?))
            }
            None => None,
        };
        tracing_subscriber::registry().with(traces).with(lines.with_filter(filter)).try_init()?;
        for name in config::unknown_variables(&context.environment) {
            tracing::warn!("unknown environment variable {name}; is it misspelt?");
        }
        Ok(Self(provider))
    }

    /// Sends the remaining traces.
    pub(crate) async fn flush(self) {
        let Some(provider) = self.0 else { return };
        // Shutdown blocks until the collector has answered, which needs the other threads of this runtime.
        let ended = tokio::task::spawn_blocking(move || provider.shutdown()).await;
        if let Ok(Err(error)) = ended {
            tracing::warn!(%error, "the last traces could not be sent");
        }
    }
}

/// Writes a log line to standard error, without secrets and in one call.
struct Line(Arc<Scrubber>);

impl Write for Line {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.0.is_empty() {
            io::stderr().write_all(line)?;
        } else {
            let mut clean = line.to_vec();
            self.0.bytes(&mut clean);
            io::stderr().write_all(&clean)?;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

fn bad_filter(filter: &str, error: &dyn std::fmt::Display) -> BadConfig {
    BadConfig(vec![Fault {
        file: None,
        line: None,
        key: "--log".to_owned(),
        message: format!("`{filter}` is not a log filter: {error}"),
    }])
}
