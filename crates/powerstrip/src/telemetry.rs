//! Log lines to standard error, and traces to a collector where one is set.

mod export;

use std::io::{self, Write};
use std::sync::Arc;

use anyhow::Context as _;
use config::{BadConfig, Fault, Loaded, LogFormat};
use opentelemetry::trace::TracerProvider as _;
use opentelemetry_sdk::trace::SdkTracerProvider;
use proto::Scrubber;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

use crate::context::Context;
use crate::output::Style;

/// Libraries that are chatty at `info`; a filter of the user's own says otherwise if it wants to.
const QUIETER: &str =
    "rmcp=warn,hyper=warn,h2=warn,sqlx=warn,opentelemetry=warn,opentelemetry_sdk=warn";

/// What a collector is sent, however little is logged. Spans of requests are at `debug`, so that they cost nothing
/// where neither a collector nor a log wants them.
const TRACED: &str = "info,doors=debug,rmcp=warn,hyper=warn,h2=warn,sqlx=warn,opentelemetry=off";

/// What keeps traces flowing; end it with [`Telemetry::flush`].
pub(crate) struct Telemetry(Option<SdkTracerProvider>);

impl Telemetry {
    /// For commands that print what a call came to: the strip's own line about it would only repeat that.
    pub(crate) const QUIET: &str = "warn,strip=error";

    /// Starts logging, at this level unless a flag or the environment says otherwise.
    pub(crate) fn start(loaded: &Loaded, context: &Context, level: &str) -> anyhow::Result<Self> {
        let asked =
            context.global.log.clone().or_else(|| context.environment.text("POWERSTRIP_LOG"));
        let filter = match &asked {
            Some(filter) => {
                EnvFilter::try_new(filter).map_err(|error| bad_filter(filter, &error))?
            }
            None => {
                EnvFilter::try_new(format!("{level},{QUIETER}")).context("the usual log filter")?
            }
        };
        context.secrets.store(Arc::new(loaded.scrubber()));
        let secrets = Arc::clone(&context.secrets);
        let lines = tracing_subscriber::fmt::layer().with_writer(move || Line(secrets.load_full()));
        let lines = match loaded.config.telemetry.logs {
            LogFormat::Text => {
                let coloured = Style::stderr(&context.environment).is_coloured();
                lines.with_ansi(coloured).with_target(false).boxed()
            }
            LogFormat::Json => lines.json().boxed(),
        };
        let provider = match &loaded.config.telemetry.otlp {
            Some(otlp) => {
                Some(export::provider(&otlp.endpoint, &loaded.otlp_headers, &context.secrets)?)
            }
            None => None,
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
        for name in context.environment.unknown() {
            tracing::warn!("the environment variable {name} sets nothing; is it misspelt?");
        }
        Ok(Self(provider))
    }

    /// Sends what has not been sent yet.
    pub(crate) async fn flush(self) {
        let Some(provider) = self.0 else { return };
        // Shutting down blocks until the collector has answered, which needs this runtime's other threads.
        let ended = tokio::task::spawn_blocking(move || provider.shutdown()).await;
        if let Ok(Err(error)) = ended {
            tracing::warn!(%error, "the last traces could not be sent");
        }
    }
}

/// One line on its way to standard error, which it reaches without secrets. The whole line is written at once.
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
